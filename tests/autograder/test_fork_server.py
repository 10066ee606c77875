"""The processes in which submissions answer: how many there are, and what becomes of those that die."""

import signal

import pytest

from autograder.sandbox import worker_pool
from autograder.sandbox.bubblewrap import open_sandbox

from .outside_view import WAITS, is_alive, kill, own_grader, until, waiting

RETURNS = "def causal_mask(n):\n    return n\n"


@pytest.fixture
def grader():
    if not worker_pool.cost_little(open_sandbox()):
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


def test_workers_that_die_are_replaced_by_the_same_server(grader):
    grader.ask(RETURNS, RETURNS)
    assert grader.answers() == ["3", "3"]
    servers, workers = grader.servers(), grader.workers()
    kill(workers)
    grader.ask(RETURNS, RETURNS)
    assert grader.answers() == ["3", "3"]
    assert grader.servers() == servers and not grader.workers() & workers


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
