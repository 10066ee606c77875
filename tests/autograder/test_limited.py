"""What reads a stranger's bytes runs in a process that the kernel ends at its limits, and whose end harms nobody."""

import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from autograder.judge import sources
from autograder.sandbox import limited

from . import limited_calls as calls


@pytest.fixture(autouse=True)
def short(monkeypatch):
    monkeypatch.setattr(limited, "CPU_SECONDS", 1)
    monkeypatch.setattr(limited, "MEMORY_BYTES", 2**28)


def test_each_call_has_a_process_of_its_own_forked_from_one_that_is_prepared_once():
    with ThreadPoolExecutor(4) as pool:
        found = [one.items[0] for one in pool.map(lambda word: limited.items_of(calls.who, word), "abcdef")]
    assert [word for word, _, _ in found] == list("abcdef")
    assert len({pid for _, _, pid in found} - {os.getpid()}) == 6
    assert {tuple(prepared) for _, prepared, _ in found} == {tuple(found[0][1])} and len(found[0][1]) == 1


def test_it_can_be_started_before_it_is_needed():
    limited._server().close()
    limited.start(calls.who)
    limited.start(calls.who)
    server = limited._server()
    (found,) = limited.items_of(calls.who, "first").items
    assert limited._server() is server and found[1] == [server._process.pid]


@pytest.mark.parametrize("end", [calls.takes_memory, calls.goes_round, calls.crashes])
def test_what_exceeds_a_limit_or_crashes_keeps_what_it_gave_before(end):
    assert limited.items_of(calls.hears, "before", end) == limited.Outcome(["before"], complete=False)


def test_others_do_not_wait_for_one_that_runs_to_its_limit():
    with ThreadPoolExecutor(1) as pool:
        slow = pool.submit(limited.items_of, calls.hears, "slow", calls.runs_on)
        limited.items_of(calls.who, "in between")
        assert not slow.done()
        assert slow.result() == limited.Outcome(["slow"], complete=False)


def test_what_a_function_raises_is_raised_here():
    with pytest.raises(ValueError, match="no zip"):
        limited.items_of(calls.hears, "", calls.objects)


def test_a_process_that_somebody_else_ends_is_nobodys_verdict():
    with pytest.raises(limited.LimitedFault):
        limited.items_of(calls.hears, "", calls.is_killed)


def test_a_server_that_has_died_is_started_again():
    limited.items_of(calls.who, "before")
    server = limited._server()
    server._process.kill()
    server._process.wait()
    assert limited.items_of(calls.who, "after").complete


def test_a_machine_that_is_too_busy_is_nobodys_verdict(monkeypatch):
    monkeypatch.setattr(limited, "WALL_CLOCK_FACTOR", 0.05)
    began = time.process_time()
    with pytest.raises(limited.LimitedFault):
        limited.items_of(calls.hears, "", calls.runs_on)
    assert time.process_time() - began < 5


def test_while_nothing_is_known_one_submission_is_read_alone_and_others_wait_no_longer_than_they_may(monkeypatch):
    monkeypatch.setattr(sources, "FIRST_WALL_SECONDS", 0.01)
    known, entered = sources._Known(), []

    def enter():
        with known.of_the_first():
            entered.append(known._first.locked())

    with known.of_the_first():
        threads = [threading.Thread(target=enter) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert entered == [True, True], "the first one has not come to its end, and nobody waits for it any more"
        known.keep("masks.py", b"", ())
    enter()
    assert entered[2:] == [False], "what is known is asked of nobody"
