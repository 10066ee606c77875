"""A pool of workers: one fork server for all threads, replaced when it dies, ended with the pool."""

import contextlib
import threading
from dataclasses import replace

import psutil
import pytest

from attention import _rows
from autograder.build.stubs import given_files
from autograder.course.paths import REFERENCE
from autograder.judge import protocol, schedule
from autograder.judge.arguments import argument_memory
from autograder.sandbox.bubblewrap import open_sandbox
from autograder.sandbox.worker_pool import WorkerPool, expect_compiler
from selfcheck.catalogue import forbidden_by, in_problem_set, problem_sets
from selfcheck.plan import call
from selfcheck.recorded import visible_keys

GIVEN = {name: (REFERENCE / name).read_bytes() for name in given_files()}
REQUEST = protocol.Request("masks.causal_mask", {"0": {"calls": [call(3).packed()], "gradient": False}})
BODY = "def causal_mask(n):\n    return n\n"
SLEEPS = "import time\n\n\ndef causal_mask(n):\n    time.sleep(2)\n    return n\n"
ENDED = 30  # seconds by the clock within which processes end, however busy the machine is


@pytest.fixture
def pool():
    """A fork server of this test alone."""
    with WorkerPool() as pool:
        if not pool.is_fork_server_available(open_sandbox()):
            pytest.skip("no namespaces within namespaces here: every worker has a bubblewrap of its own")
        yield pool


def answer(pool, body=BODY):
    answers = protocol.ask(GIVEN | {"masks.py": body.encode()}, [REQUEST], True, open_sandbox(pool=pool))
    return answers[0]["0"][0]["value"]["value"]


@contextlib.contextmanager
def open_worker(pool):
    files = GIVEN | {"masks.py": BODY.encode()}
    with argument_memory() as memory, pool.worker(files, open_sandbox(pool=pool), 2**32, memory.descriptor) as worker:
        yield worker


def processes(pool):
    """Those of the fork server and of its workers."""
    first = psutil.Process(pool.fork_server().pid)
    return [first, *first.children(recursive=True)]


def kill(victims):
    for process in victims:
        with contextlib.suppress(psutil.NoSuchProcess):  # it went with another
            process.kill()
    psutil.wait_procs(victims, timeout=ENDED)


def test_workers_of_several_threads_run_at_the_same_time_and_come_from_one_fork_server(pool):
    server, before = pool.fork_server(), set(processes(pool))
    with contextlib.ExitStack() as stack:
        workers = [stack.enter_context(open_worker(pool)) for _ in range(3)]
        pids = {worker.wait_for_pid(ENDED) for worker in workers}
        assert len(pids) == 3 and pids <= {process.pid for process in processes(pool)}
    assert pool.fork_server() is server and set(processes(pool)) == before


def test_threads_that_begin_together_start_one_fork_server():
    with WorkerPool() as pool:
        servers = []
        threads = [threading.Thread(target=lambda: servers.append(pool.fork_server())) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(servers) == 4 and len(set(servers)) == 1


def test_a_worker_that_dies_leaves_the_fork_server_to_the_others(pool):
    server = pool.fork_server()
    with open_worker(pool) as worker:
        kill([psutil.Process(worker.wait_for_pid(ENDED))])
    assert not worker.used.complete
    assert answer(pool) == "3" and pool.fork_server() is server


def test_a_fork_server_that_dies_during_a_submission_costs_it_nothing(pool):
    former, answers = pool.fork_server(), []
    thread = threading.Thread(target=lambda: answers.append(answer(pool, SLEEPS)))
    before = set(processes(pool))
    thread.start()
    while set(processes(pool)) == before:
        thread.join(0.05)
    kill(processes(pool))
    thread.join()
    assert answers == ["3"] and pool.fork_server() is not former


def test_a_fork_server_and_its_workers_end_with_the_pool(pool):
    with open_worker(pool) as worker:
        assert worker.wait_for_pid(ENDED)
        here = processes(pool)
        pool.close()
        _, alive = psutil.wait_procs(here, timeout=ENDED)
        assert not alive


COMPILER = (
    "import sys\n\nimport torch\n\n\ndef causal_mask(n):\n    {}\n    return int('torch._dynamo' in sys.modules)\n"
)
SEEDED, STEPPED = "torch.manual_seed(n)", "torch.optim.SGD([torch.ones(1, requires_grad=True)]).step()"


def test_a_worker_imports_torchs_compiler_for_an_optimizer_alone_and_finds_it_where_it_is_expected(pool):
    assert [answer(pool, COMPILER.format(does)) for does in ("", SEEDED, STEPPED)] == ["0", "0", "1"]
    expect_compiler(open_sandbox(pool=pool))
    assert answer(pool, COMPILER.format("")) == "1"


def test_the_compiler_is_expected_where_models_are_trained_and_rows_are_many():
    keys = {name: [visible_keys(exercise) for exercise in in_problem_set(name)] for name in problem_sets()}
    assert [name for name, all_keys in keys.items() if any(map(schedule._imports_compiler, all_keys))] == ["ps7", "ps9"]
    assert schedule.ROWS == _rows.ROWS, "as many as the reference takes at a time"


def test_the_compiler_is_expected_where_a_learners_module_names_what_imports_it():
    given = {path.name: path.read_bytes() for path in REFERENCE.glob("*.py")}
    given |= {f"__pycache__/{name}c": b"from torch.utils.checkpoint import checkpoint" for name in given_files()}
    assert not schedule._names_compiler(given), "bytecode of what is given names it too"
    for line in (b"from torch.utils.checkpoint import checkpoint", b"import torch._dynamo"):
        assert schedule._names_compiler(given | {"mine.py": line})
        assert schedule._names_compiler(given | {"_mine.py": line})


def test_an_expected_watch_stands_in_every_worker_and_notices_as_one_of_its_own_does(pool):
    code = "import torch\n\n\ndef causal_mask(n):\n    return torch.nn.functional.softmax(torch.ones(n), 0)\n"
    patterns = forbidden_by(in_problem_set("ps1"))
    watches = {
        "its own": {"forbidden": patterns, "importing": patterns},
        "of another exercise": {"forbidden": [], "importing": patterns},
        "bent": {"forbidden": patterns, "importing": patterns, "bend": 0.0},
    }

    def told():
        files = GIVEN | {"masks.py": code.encode()}
        requests = [replace(REQUEST, watch=watch) for watch in watches.values()]
        answers = protocol.ask(files, requests, True, open_sandbox(pool=pool))
        return [answered["0"][0].get("ran", []) for answered in answers]

    before = told()
    assert all("torch.nn.functional.softmax" in ran for ran in (before[0], before[2])) and before[1] == []
    for expected in (patterns, forbidden_by(in_problem_set("ps4")), patterns):
        pool.fork_server().expect_watch(expected)
        assert told() == before


def test_the_server_does_not_grow_with_each_problem_set(pool):
    """As a process does that grades one course after another."""
    watches = [forbidden_by(in_problem_set(name)) for name in ("ps1", "ps4", "ps2")]

    def grown(changes):
        for number in range(changes):
            pool.fork_server().expect_watch(watches[number % 3])
            assert answer(pool, "def causal_mask(n):\n    return n\n") == "3"
        servers = [one for one in psutil.Process().children(recursive=True) if "fork_server" in " ".join(one.cmdline())]
        return max(server.memory_info().rss for server in servers)

    first = grown(9)
    assert grown(24) - first < 4 * 2**20
