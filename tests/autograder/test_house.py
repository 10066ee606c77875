"""The houses in which rooms are opened: what they cost, and what becomes of one that dies."""

import threading

import psutil
import pytest

from autograder.build.stubs import given_files
from autograder.course.paths import REFERENCE
from autograder.judge import protocol
from autograder.sandbox import worker_pool
from autograder.sandbox.bubblewrap import open_sandbox
from selfcheck.plan import call

GIVEN = {name: (REFERENCE / name).read_bytes() for name in given_files()}
REQUEST = protocol.Request("masks.causal_mask", {"0": {"calls": [call(3).packed()], "gradient": False}})
BODY = "def causal_mask(n):\n    return n\n"
SLEEPS = "import time\n\n\ndef causal_mask(n):\n    time.sleep(1.5)\n    return n\n"


@pytest.fixture(autouse=True)
def own_houses(monkeypatch):
    """A builder and houses of this test alone."""
    if not worker_pool.cost_little(open_sandbox()):
        pytest.skip("no namespaces within namespaces here: every room is a sandbox of its own")
    for name, empty in (("_builder", None), ("_idle", []), ("_built", 0)):
        monkeypatch.setattr(worker_pool, name, empty)
    yield
    for house in worker_pool._idle:
        house.end()
    worker_pool._builder.end()


def answer(body=BODY):
    answers = protocol.ask(GIVEN | {"masks.py": body.encode()}, [REQUEST], True, open_sandbox())
    return answers[0]["0"][0]["value"]["value"]


def processes():
    """Those that the builder and its houses consist of, by pid."""
    return {one.pid for one in psutil.Process(worker_pool._builder._process.pid).children(recursive=True)}


def test_two_rooms_at_once_are_of_one_program(monkeypatch):
    built = []
    monkeypatch.setattr(worker_pool, "Builder", lambda real=worker_pool.Builder: built.append(real()) or built[-1])
    threads = [threading.Thread(target=answer, args=[SLEEPS]) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(built) == 1 and len(worker_pool._idle) == worker_pool._built == 2
    assert len({house._process.pid for house in worker_pool._idle}) == 2


def test_a_room_leaves_no_process_behind():
    assert answer() == "3"
    before = processes()
    for _ in range(3):
        answer()
    assert processes() == before


def test_a_house_is_one_of_its_builders_processes_by_the_number_that_this_machine_gives_it():
    answer()
    assert worker_pool._idle[0]._process.pid in processes()


def test_a_house_that_dies_is_replaced_by_the_same_builder():
    answer()
    builder, former = worker_pool._builder, worker_pool._idle[0]
    former._process.kill()
    assert answer() == "3"
    assert worker_pool._builder is builder and former not in worker_pool._idle


def test_a_builder_that_dies_is_replaced():
    answer()
    former = worker_pool._builder
    here = [psutil.Process(pid) for pid in processes()]
    for one in (*here, former._process):
        one.kill()
    former._process.wait()
    assert answer() == "3"
    assert worker_pool._builder is not former and worker_pool._builder.works


def test_a_builder_ends_with_whoever_started_it():
    answer()
    here = processes()
    worker_pool._builder._control.close()
    _, alive = psutil.wait_procs([psutil.Process(pid) for pid in here], timeout=10)
    assert not alive
