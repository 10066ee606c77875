"""What one worker of a fork server leaves to the next, and what it can take from whoever grades."""

import time

import pytest

from autograder.answer_key.keys import live_answer_key
from autograder.build.stubs import given_files
from autograder.course.paths import REFERENCE
from autograder.course.policy import GradingPolicy
from autograder.judge import exchange, judge, limits, protocol
from autograder.sandbox import bubblewrap
from autograder.sandbox.bubblewrap import open_sandbox
from autograder.sandbox.worker_pool import WorkerPool
from selfcheck.catalogue import in_problem_set
from selfcheck.plan import call

GIVEN = {name: (REFERENCE / name).read_bytes() for name in given_files()}
SHOWN, HIDDEN = ({"0": {"calls": [call(n).packed()], "gradient": False}} for n in (3, 77))
#: A socket with a name that no file has, held by nobody but messages that wait in it.
STAYS = """
import socket

def causal_mask(n):
    waits, asks, (one, other) = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX), socket.socketpair()
    waits.bind(chr(0) + "stays")
    waits.listen(5)
    asks.connect(chr(0) + "stays")
    asks.sendall(b"from the worker before")
    socket.send_fds(one, [b"."], [part.fileno() for part in (one, other, waits, asks)])
    return n
"""
LOOKS = """
def causal_mask(n):
    return open("/proc/net/unix").read()
"""
#: Finds notes in the folders that a worker may have, and leaves one in each that it can write to.
NOTES = """
import os

def causal_mask(n):
    found, left = [], []
    for folder in ("/tmp", "/dev/shm", "/dev/mqueue", "/var/tmp", "/run", "/sandbox", "/sandbox/work/attention"):
        try:
            found += [folder] * os.path.exists(folder + "/note")
            open(folder + "/note", "w").close()
            left.append(folder)
        except OSError:
            pass
    return f"found {found}, left {left}"
"""
#: Memory that could be shared, and so counted as nobody's own.
SHARED = """
import mmap, time

def causal_mask(n):
    kept = mmap.mmap(-1, 2**29)
    for start in range(0, 2**29, 2**24):
        kept[start : start + 2**24] = b"x" * 2**24
    time.sleep(1)
    return n
"""
KILLED = """
import os, signal

def causal_mask(n):
    if n == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return n
"""


@pytest.fixture(scope="module")
def sandbox():
    return open_sandbox()


@pytest.fixture
def workers(monkeypatch):
    """What every worker said, in the order of their start."""
    said = []

    def recorded(*given):
        exchanged = exchange.exchange(*given)
        said.append(exchanged.data)
        return exchanged

    monkeypatch.setattr(protocol, "exchange", recorded)
    return said


def ask(sandbox, body, *requests):
    return [one["0"][0] for one in protocol.ask(GIVEN | {"masks.py": body.encode()}, list(requests), False, sandbox)]


def test_no_socket_outlives_its_worker(sandbox):
    shown = protocol.Request("masks.causal_mask", SHOWN)
    assert "error" not in ask(sandbox, STAYS, shown)[0]
    assert "stays" not in ask(sandbox, LOOKS, shown)[0]["value"]["value"]


def test_no_file_outlives_its_worker(sandbox):
    shown = protocol.Request("masks.causal_mask", SHOWN)
    for said in (ask(sandbox, NOTES, shown)[0]["value"]["value"] for _ in range(2)):
        assert "found [], left ['/tmp', '/dev/shm'" in said


def test_what_is_hidden_below_usr_is_empty_and_stays_so(monkeypatch):
    hidden = {"EXCHANGE": "/usr/share", "OURS": ("/usr/include", "/usr/bin/none")}
    for name, places in hidden.items():
        monkeypatch.setattr(bubblewrap, name, places)
    look = """
import os

def causal_mask(n):
    found = []
    for place in ("/usr/share", "/usr/include", "/usr/lib"):
        found.append(bool(os.listdir(place)))
        try:
            os.mkdir(place + "/note")
            found.append("made")
        except OSError:
            pass
    return str(found)
"""
    with WorkerPool() as pool:
        said = ask(open_sandbox(pool=pool), look, protocol.Request("masks.causal_mask", SHOWN))[0]["value"]["value"]
    assert said == "[False, False, True]"


def test_memory_that_could_be_shared_is_counted(sandbox, monkeypatch):
    monkeypatch.setattr(limits, "MEMORY_BYTES", 2**29)  # of which the worker and its fork take half
    shown = protocol.Request("masks.causal_mask", SHOWN)
    assert "error" not in ask(sandbox, SHARED.replace("2**29", "2**24"), shown)[0]
    assert "too much memory" in ask(sandbox, SHARED, shown)[0]["error"]["text"]


def test_hidden_inputs_stay_outside_while_an_answer_that_is_quoted_is_tried_again(sandbox, workers):
    asked = [protocol.Request("masks.causal_mask", SHOWN), protocol.Request("masks.other", HIDDEN, hidden=True)]
    answers = ask(sandbox, KILLED + "def other(n):\n    return n\n", *asked)
    assert answers[0]["error"]["type"] == "Stopped" and answers[1]["value"]["value"] == "77"
    assert [b'"place": 1' in data for data in workers] == [False, True]


def test_a_submission_that_is_stopped_again_and_again_has_its_time_and_no_more(sandbox, monkeypatch):
    stopped = []

    def stops(*given):
        stopped.append(time.sleep(0.1))
        return exchange.Exchanged(b'{"started": true}\n', stopped=True)

    monkeypatch.setattr(protocol, "exchange", stops)
    monkeypatch.setattr(limits, "SUBMISSION_CPU_SECONDS", 0.2 / limits.WALL_CLOCK_FACTOR / limits.ATTEMPTS)
    answers = ask(sandbox, LOOKS, *(protocol.Request(f"masks.f{number}", SHOWN) for number in range(6)))
    assert len(stopped) < 4, "six exercises, twice each"
    assert {answer["error"]["type"] for answer in answers} == {"Stopped"}


@pytest.mark.parametrize("wrong", [True, False])
def test_hidden_inputs_stay_outside_until_no_answer_that_is_quoted_is_asked_again(sandbox, workers, wrong):
    files = {path.name: path.read_bytes() for path in REFERENCE.glob("*.py")}
    files["worked_example.py"] += f"\n\nif {wrong}:\n    softmax = len\n".encode()
    judge.judge_problem_set(files, live_answer_key("ps1", GradingPolicy(b"s" * 20)), sandbox)
    count = len(in_problem_set("ps1"))
    answered = [data.count(b'"answers"') for data in workers]
    # What is shown of all, the wrong ones by themselves to the end, then what is hidden of the others.
    assert (answered[0] == count and len(workers) == 3) if wrong else answered == [2 * count]
