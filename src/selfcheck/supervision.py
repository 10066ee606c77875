"""Runs a learner's code so that one can see where it is, end it, and step through it with a debugger."""

from __future__ import annotations

import bdb
import contextlib
import ctypes
import os
import pdb
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from .traces import place_of

__all__ = ["NOTICE", "TIME_LIMIT", "LeftDebugger", "OutOfTime", "supervised"]

NOTICE = 5.0  # seconds until a line says where the code is
TIME_LIMIT = 60.0  # seconds of its computing until it is ended; trainings take about ten on a slow machine
PATIENCE = 3.0  # so many times as long by the clock: a machine that is busy with something else slows nobody's marks
T = TypeVar("T")


class OutOfTime(BaseException):
    """Ends a learner's code at its time limit: no `except Exception` of theirs catches it."""


class LeftDebugger(KeyboardInterrupt):
    """The debugger was left with `quit`: the check ends as with Ctrl-C."""


def supervised(run: Callable[[], T], limit: float = TIME_LIMIT, notice: float = NOTICE, debugs: bool = True) -> T:
    """What `run` returns. `breakpoint()` and `pdb.set_trace()` within it reach the terminal or the notebook.

    limit: seconds that its thread computes, or PATIENCE times as many by the clock; notice: seconds by the clock
    debugs: False where both are to be passed by, for whoever debugs has been there before
    Where somebody debugs, neither holds.
    Raises OutOfTime, with the place where the code was, at the limit.
    """
    watch = _Watch(limit, notice)
    with _debugger_at(sys.stdout, watch) if debugs else _no_debugger(), watch:
        return run()


class _Watch:
    """A thread that looks at the thread which made it, says where that one is, and ends it at the limit."""

    def __init__(self, limit: float, notice: float) -> None:
        self._limit, self._notice = limit, notice
        self._watched = threading.get_ident()
        self._computed, self._begun = _clock_of(self._watched), time.monotonic()
        self._over = threading.Event()
        self._lock = threading.Lock()
        self._output = sys.stdout
        self._where = ""
        self.is_debugging = False

    def __enter__(self) -> None:
        threading.Thread(target=self._look, daemon=True).start()

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        with self._lock:
            self._over.set()
            self._raise_there(None)  # what has been sent and not yet arrived is taken back
        if isinstance(error, OutOfTime) and not error.args:
            raise OutOfTime(self._where) from None

    def _look(self) -> None:
        if self._over.wait(self._notice) or self.is_debugging:
            return
        where = self._place()
        if not re.search("`(import|from) ", where):  # torch takes its time
            print(f"still running{where}; Ctrl-C, or the stop button, ends it", file=self._output, flush=True)
        while not self._over.wait(max(self._left(), 0.0)):
            if self._left() > 0:
                continue
            with self._lock:
                if self._over.is_set() or self.is_debugging:
                    return
                self._where = self._place()
                self._raise_there(OutOfTime)
            self._over.wait(1.0)  # a bare `except:` may catch it: once more

    def _left(self) -> float:
        """The fewest seconds by the clock until the limit is reached; 0 or less where it is."""
        passed = time.monotonic() - self._begun
        return min(self._limit - self._computed(passed), PATIENCE * self._limit - passed)

    def _place(self) -> str:
        """ ", line 12 of masks.py: `while True:`", "" where no line of the learner's runs."""
        return place_of(sys._current_frames().get(self._watched))

    def _raise_there(self, kind: type[BaseException] | None) -> None:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(
            ctypes.c_ulong(self._watched), ctypes.py_object(kind) if kind else None
        )


def _clock_of(thread: int) -> Callable[[float], float]:
    """Tells how many of the seconds that have passed a thread has computed; all where the system does not count."""
    if not hasattr(time, "pthread_getcpuclockid"):
        return lambda passed: passed
    clock = time.pthread_getcpuclockid(thread)
    begun = time.clock_gettime(clock)

    def computed(passed: float) -> float:
        with contextlib.suppress(OSError):  # the thread has ended
            return time.clock_gettime(clock) - begun
        return passed

    return computed


@contextlib.contextmanager
def _debugger_at(output: Any, watch: _Watch) -> Iterator[None]:
    """Within it, a debugger that a learner's code starts reads and writes where the learner is."""
    hook, set_trace = sys.breakpointhook, pdb.set_trace

    def start(*_: Any, header: str | None = None, **__: Any) -> None:
        watch.is_debugging = True
        sys.stdout = output  # the check collects what is printed: not from here on
        if header:
            print(header)
        _Debugger().set_trace(sys._getframe(1))

    def chosen(*args: Any, **kwargs: Any) -> Any:
        """What `breakpoint()` calls where PYTHONBREAKPOINT names a debugger, or 0 for none."""
        watch.is_debugging, sys.stdout = True, output
        return hook(*args, **kwargs)

    sys.breakpointhook = chosen if os.environ.get("PYTHONBREAKPOINT") else start
    pdb.set_trace = start
    try:
        yield
    finally:
        sys.breakpointhook, pdb.set_trace = hook, set_trace
        sys.stdout = output


@contextlib.contextmanager
def _no_debugger() -> Iterator[None]:
    """Within it, nothing starts a debugger."""
    hook, set_trace = sys.breakpointhook, pdb.set_trace
    sys.breakpointhook = pdb.set_trace = lambda *_, **__: None
    try:
        yield
    finally:
        sys.breakpointhook, pdb.set_trace = hook, set_trace


class _Debugger(pdb.Pdb):
    """Python's own; leaving it ends the check, and the code does not go on to the next one."""

    def trace_dispatch(self, frame: Any, event: str, arg: Any) -> Any:
        try:
            return super().trace_dispatch(frame, event, arg)
        except bdb.BdbQuit:
            raise LeftDebugger from None
