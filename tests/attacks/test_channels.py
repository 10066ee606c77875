"""What has hidden inputs, of whatever submission, never runs beside what feedback quotes: nobody hears of them."""

import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from autograder.build.stubs import given_files
from autograder.course.paths import REFERENCE
from autograder.judge import limits, periods, protocol
from autograder.judge.periods import HIDDEN, QUOTED, Periods
from autograder.sandbox.bubblewrap import open_sandbox
from selfcheck.plan import call

GIVEN = {name: (REFERENCE / name).read_bytes() for name in given_files()}
FIRST, LATER = 1234567, 7654321
SHOWN, SECRET = ({"0": {"calls": [call(n).packed()], "gradient": False}} for n in (FIRST, LATER))
#: Both map a file that every sandbox has; whoever waits at a place in it is woken by the other, whatever the kernel's
#: namespaces. One place for each bit.
FUTEX = """
import ctypes, mmap, os, platform, sys, threading, time

WAIT, WAKE, BITS = 0, 1, 24
NUMBER = {"x86_64": 202, "aarch64": 98}[platform.machine()]
kernel = ctypes.CDLL(None, use_errno=True)
kernel.mmap.restype, kernel.mmap.argtypes = ctypes.c_void_p, [ctypes.c_void_p, *[ctypes.c_long] * 5]
file = os.open(os.__file__, os.O_RDONLY)
places = kernel.mmap(None, 4096, mmap.PROT_READ, mmap.MAP_SHARED, file, 0)


class Time(ctypes.Structure):
    _fields_ = [("seconds", ctypes.c_long), ("nanoseconds", ctypes.c_long)]


def futex(place, does, value, seconds):
    address = places + 4 * place
    limit = Time(int(seconds), int(seconds % 1 * 1e9))
    return kernel.syscall(
        ctypes.c_long(NUMBER), ctypes.c_void_p(address), ctypes.c_int(does), ctypes.c_uint(value), ctypes.byref(limit)
    )


def value_at(place):
    return ctypes.c_uint.from_address(places + 4 * place).value
"""
TELLS = """
def causal_mask(n):
    end = time.monotonic() + SECONDS
    while n == 7654321 and time.monotonic() < end:
        for place in range(BITS):
            if n >> place & 1:
                futex(place, WAKE, 1, 0)
        time.sleep(0.001)
    return n
"""
HEARS = """
def causal_mask(n):
    heard = []

    def listen(place):
        if futex(place, WAIT, value_at(place), SECONDS) == 0:
            heard.append(place)

    threads = [threading.Thread(target=listen, args=[place]) for place in range(BITS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(1 << place for place in heard)
"""


class NoPeriods(Periods):
    """Whoever wants to run does."""

    def wait(self, kind, wall_seconds):
        self._running += 1
        return True


@pytest.fixture(scope="module")
def sandbox():
    return open_sandbox()


def what_is_heard(sandbox, seconds):
    """What the one hears while it answers what is quoted, and the other tells its hidden input."""
    asked = [protocol.Request("masks.causal_mask", SHOWN), protocol.Request("masks.causal_mask", SECRET, hidden=True)]

    def ask(code, requests):
        files = GIVEN | {"masks.py": (FUTEX + code.replace("SECONDS", str(seconds))).encode()}
        return [one["0"][0]["value"]["value"] for one in protocol.ask(files, requests, False, sandbox)]

    with ThreadPoolExecutor(2) as pool:
        hears, tells = pool.submit(ask, HEARS, asked[:1]), pool.submit(ask, TELLS, asked)
        assert tells.result() == [str(FIRST), str(LATER)], "it answers rightly"
        return int(hears.result()[0])


@pytest.mark.full
def test_two_who_work_together_hear_nothing_of_hidden_inputs(sandbox):
    assert what_is_heard(sandbox, 8) == 0


@pytest.mark.full
def test_without_periods_they_hear_the_whole_input(sandbox, monkeypatch):
    monkeypatch.setattr(periods, "of_this_process", lambda: NoPeriods(2))
    assert what_is_heard(sandbox, 8) == LATER


@pytest.mark.full
def test_what_waits_for_its_period_has_its_own_time_nonetheless(sandbox, monkeypatch):
    files = GIVEN | {"masks.py": b"def f(n):\n    return n\n\ndef g(n):\n    return n\n"}
    protocol.ask(files, [protocol.Request("masks.f", SHOWN)], False, sandbox)  # the fork server has started
    monkeypatch.setattr(limits, "WALL_CLOCK_FACTOR", 0.1)  # 4.5 seconds by the clock for all, less than it waits here
    asked = [protocol.Request("masks.f", SHOWN), protocol.Request("masks.g", SECRET, hidden=True)]
    with ThreadPoolExecutor(1) as pool:
        with periods.of_this_process().turn() as turn:
            turn.take(QUOTED)
            answers = pool.submit(protocol.ask, files, asked, False, sandbox)
            time.sleep(6)
            assert not answers.done(), "the first of its answers waits for the hidden period"
        assert [one["0"][0]["value"]["value"] for one in answers.result()] == [str(FIRST), str(LATER)]


WAYS = ([QUOTED, HIDDEN], [QUOTED], [HIDDEN])


@pytest.mark.parametrize("seed", range(40))
def test_whatever_the_order_nothing_quoted_meets_what_was_there_in_a_hidden_period(seed):
    """A simulation: each step one worker tries to go on, or ends."""
    rng = random.Random(seed)
    common = Periods(rng.choice((1, 2, 5)))
    waiting = [(common.turn(), list(rng.choice(WAYS))) for _ in range(30)]
    alive, tainted, done = {}, set(), 0
    for _ in range(20_000):
        if not waiting and not alive:
            break
        if waiting and (len(alive) < 8 or rng.random() < 0.1) and len(alive) < 12:
            turn, kinds = waiting.pop()
            alive[turn] = [kinds, "", False]  # what is to come, what it runs in, whether it has a process
        turn = rng.choice(list(alive))
        kinds, runs_in, has_process = alive[turn]
        if not kinds:
            turn.__exit__(None, None, None)
            del alive[turn]
            tainted.discard(turn)
            done += 1
        else:
            came = turn.is_taken_within(0, kinds[0])
            alive[turn] = [kinds[1:], kinds[0], True] if came else [kinds, "", has_process]
        now = {runs_in for _, runs_in, _ in alive.values() if runs_in}
        assert len(now) <= 1
        if now == {HIDDEN}:
            tainted |= {turn for turn, (_, _, has_process) in alive.items() if has_process}
        assert now != {QUOTED} or not tainted
    assert done == 30, "everybody has had a turn"


def test_no_more_run_at_once_than_there_are_cores_and_who_leaves_lets_others_in():
    common = Periods(2)
    first, second, third = (common.turn() for _ in range(3))
    assert first.is_taken_within(0, QUOTED) and second.is_taken_within(0, QUOTED)
    assert not third.is_taken_within(0, QUOTED)
    with first:
        pass
    assert third.is_taken_within(0, QUOTED)


def test_who_always_has_more_that_is_quoted_does_not_keep_the_others_waiting(monkeypatch):
    monkeypatch.setattr(limits, "PERIOD_WALL_SECONDS", 0.0)
    common = Periods(2)
    quoted, hidden, later = (common.turn() for _ in range(3))
    assert quoted.is_taken_within(0, QUOTED)
    assert not hidden.is_taken_within(0, HIDDEN)
    assert not later.is_taken_within(0, QUOTED), "this period has been long enough"
    with quoted:
        pass
    assert hidden.is_taken_within(0, HIDDEN)
    with hidden:
        pass
    assert later.is_taken_within(0, QUOTED)


def test_who_waits_is_woken():
    common = Periods(1)
    waits = common.turn()
    with common.turn() as turn:
        turn.take(HIDDEN)
        thread = threading.Thread(target=waits.take, args=[QUOTED])
        thread.start()
    thread.join(60)
    assert not thread.is_alive()
