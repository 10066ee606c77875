"""Grading as the machine sees it: the processes that it consists of, found and ended from outside."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import psutil

from autograder.course.paths import ROOT

PATIENCE = 300  # seconds by the clock for what has to come: only a test that fails waits so long
NAME = "waits-for-test"
#: A module masks.py whose function waits until it is told to go on.
WAITS = f"""
import ctypes, signal

def causal_mask(n):
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
    ctypes.CDLL(None).prctl(15, {NAME.encode()!r}, 0, 0, 0)  # how a process calls itself can be seen from outside
    signal.sigwait([signal.SIGUSR1])
    return n
"""
#: A grader of its own: reads lists of modules masks.py, has those of a list answer at once, writes their answers.
GRADER = """
import json, sys
from concurrent.futures import ThreadPoolExecutor
from autograder import confine
from autograder.course.paths import REFERENCE
from autograder.sandbox.bubblewrap import open_sandbox
from autograder.build.stubs import given_files
from selfcheck.plan import call

GIVEN = {name: (REFERENCE / name).read_bytes() for name in given_files()}
REQUEST = confine.Request("masks.causal_mask", {"0": {"calls": [call(3).packed()], "gradient": False}})

def answer(body):
    (answers,) = confine.ask(GIVEN | {"masks.py": body.encode()}, [REQUEST], True, open_sandbox())
    return answers["0"][0]

for line in sys.stdin:
    bodies = json.loads(line)
    with ThreadPoolExecutor(len(bodies)) as pool:
        print(json.dumps(list(pool.map(answer, bodies))), flush=True)
"""


class Grader:
    """A grader in a process of its own, which may be looked at, and lose its processes, while nobody else grades."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process, self.pid = process, process.pid

    def ask(self, *bodies: str) -> None:
        """Have these modules answer at once."""
        self._process.stdin.write(json.dumps(bodies) + "\n")
        self._process.stdin.flush()

    def answers(self) -> list[str]:
        """What came of those that were asked last: a value, or the text of an error."""
        line = self._process.stdout.readline()
        assert line, "the grader has ended"
        return [one["error"]["text"] if "error" in one else one["value"]["value"] for one in json.loads(line)]

    def answer(self, body: str) -> str:
        """What one module answers."""
        self.ask(body)
        return self.answers()[0]

    def processes(self) -> set[psutil.Process]:
        """All that it consists of beside its own, whatever is dead left out."""
        return descendants(self.pid)

    def servers(self) -> list[psutil.Process]:
        """What it has started itself."""
        return psutil.Process(self.pid).children()

    def workers(self) -> set[psutil.Process]:
        """What is in process namespaces of its own, below the sandbox's."""
        outer = [one for process in self.servers() for one in (process, *process.children())]
        known = {_namespace(one) for one in outer}
        return {one for one in self.processes() if _namespace(one) not in known}

    def end(self, how: int = signal.SIGKILL) -> None:
        """End it, and leave it to what it started to end too."""
        self._process.send_signal(how)
        self._process.communicate()


@contextmanager
def own_grader() -> Iterator[Grader]:
    """A grader that grades for one test alone."""
    process = subprocess.Popen(
        [sys.executable, "-c", GRADER], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        yield Grader(process)
    finally:
        process.kill()
        process.communicate()


def descendants(pid: int) -> set[psutil.Process]:
    """All that a process has started, and what these have, but for those that are dead."""
    found = set()
    for one in psutil.Process(pid).children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):
            if one.status() != psutil.STATUS_ZOMBIE:
                found.add(one)
    return found


def waiting(pid: int | None = None) -> set[psutil.Process]:
    """Those below a process, or this one, that run the code above and wait."""
    found = set()
    for one in descendants(pid or os.getpid()):
        with contextlib.suppress(psutil.NoSuchProcess):
            if one.name() == NAME:
                found.add(one)
    return found


def until(condition: Callable[[], object]) -> object:
    """What a condition comes to as soon as it is true; AssertionError where it does not become true."""
    end = time.monotonic() + PATIENCE
    while not (found := condition()):
        assert time.monotonic() < end, "it has not come about"
        time.sleep(0.02)
    return found


def kill(processes: set[psutil.Process]) -> None:
    """Kill these, of whom some may have ended, and wait until they are gone."""
    for one in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            one.kill()
    until(lambda: not [one for one in processes if is_alive(one)])


def is_alive(process: psutil.Process) -> bool:
    """Whether it runs: one that is dead, and was not waited for, does not."""
    with contextlib.suppress(psutil.NoSuchProcess):
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    return False


def kill_worker(learner: psutil.Process) -> None:
    """Kill a learner's process with all that share its process namespace, as a machine without memory might."""
    here = _namespace(learner)
    kill({one for one in descendants(os.getpid()) if _namespace(one) == here})


def _namespace(process: psutil.Process) -> str:
    with contextlib.suppress(OSError):
        return os.readlink(f"/proc/{process.pid}/ns/pid")
    return "gone"
