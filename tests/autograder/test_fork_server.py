"""The processes in which submissions answer: how many there are, and what becomes of those that die."""

import py_compile
import signal
import subprocess
import sys

import pytest

from autograder.course.paths import SELFCHECK
from autograder.sandbox import staging
from autograder.sandbox.bubblewrap import open_sandbox
from autograder.sandbox.worker_pool import default_pool

from .outside_view import WAITS, is_alive, kill, kill_worker, own_grader, until, waiting

RETURNS = "def causal_mask(n):\n    return n\n"


@pytest.fixture
def grader():
    if not default_pool().is_fork_server_available(open_sandbox()):
        pytest.skip("no namespaces within namespaces here: every submission has a sandbox of its own")
    with own_grader() as grader:
        yield grader


def test_two_submissions_at_once_are_below_one_server_and_leave_no_process_behind(grader):
    grader.ask(WAITS, WAITS)
    both = until(lambda: len(found := waiting(grader.pid)) == 2 and found)
    assert len(grader.servers()) == 1, "torch is imported once"
    for one in both:
        one.send_signal(signal.SIGUSR1)
    assert grader.answers() == ["3", "3"]
    until(lambda: not any(map(is_alive, both)))
    before = grader.processes()
    for _ in range(3):
        assert grader.answer(RETURNS) == "3"
    until(lambda: grader.processes() == before)


def test_a_worker_that_dies_is_replaced_by_the_same_server(grader):
    grader.ask(WAITS)
    (former,) = until(lambda: waiting(grader.pid))
    servers = grader.servers()
    kill_worker(former)
    (latter,) = until(lambda: waiting(grader.pid) - {former})
    latter.send_signal(signal.SIGUSR1)
    assert grader.answers() == ["3"] and grader.servers() == servers


def test_a_server_that_dies_is_replaced(grader):
    grader.ask(RETURNS, RETURNS)
    assert grader.answers() == ["3", "3"]
    everything = grader.processes()
    kill(everything)
    assert grader.answer(RETURNS) == "3"
    assert grader.processes() and not grader.processes() & everything


def test_everything_ends_with_a_grader_that_is_killed(grader):
    grader.ask(WAITS)
    until(lambda: waiting(grader.pid))
    everything = grader.processes()
    assert len(everything) > 2
    grader.end()
    until(lambda: not any(map(is_alive, everything)))


def test_the_programs_inside_are_not_compiled_again(tmp_path):
    py_compile.compile(str(SELFCHECK / "steps.py"), doraise=True)
    staging.stage_programs(tmp_path)
    code = tmp_path / "code"
    program = f"import sys; sys.path.insert(0, {str(code)!r}); import selfcheck.steps"
    done = subprocess.run([sys.executable, "-I", "-B", "-v", "-c", program], capture_output=True, text=True, check=True)
    assert f"steps.{sys.implementation.cache_tag}.pyc matches {code}/selfcheck/steps.py" in done.stderr
