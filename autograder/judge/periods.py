"""Keeps processes with hidden inputs and processes that feedback quotes from running at the same time.

What runs at the same time can talk: through a file that both have mapped, or by how busy a processor is. So what
feedback quotes and what has hidden inputs run in periods that alternate, for all submissions that this process judges:
several in each, as many at once as there are cores. A worker that has answered what is quoted waits for the next hidden
period, and goes on in it; nothing that is quoted starts before all of these have ended.
"""

from __future__ import annotations

import functools
import threading
import time
from dataclasses import dataclass, field
from types import TracebackType

from ..cores import cores
from . import limits
from .memory_watch import MemoryWatch

QUOTED, HIDDEN = "quoted", "hidden"


@dataclass
class Deadline:
    """When a submission's time is over, by the monotonic clock; the time that it waits for others is not its own.

    idle_left: seconds by the clock that it may yet wait while nothing of it computes; memory: of all its workers
    cpu_left: seconds of the processor that its workers may yet use; after them no further exercise is tried
    """

    at: float
    idle_left: float = field(default_factory=limits.submission_idle_seconds)
    cpu_left: float = field(default_factory=limits.submission_cpu_seconds)
    memory: MemoryWatch = field(default_factory=MemoryWatch)

    @classmethod
    def of_submission(cls) -> Deadline:
        """That of a submission that begins now."""
        return cls(time.monotonic() + limits.submission_wall_seconds())

    @property
    def is_over(self) -> bool:
        return time.monotonic() >= self.at


class Periods:
    """The periods of those who share this object.

    most_at_once: of submissions that run in a period; more of them may wait
    """

    def __init__(self, most_at_once: int) -> None:
        self._most_at_once = most_at_once
        self._changed = threading.Condition()
        self._now, self._began = QUOTED, time.monotonic()
        self._running = 0  # all of them in the period that is now
        self._waiting = {QUOTED: 0, HIDDEN: 0}

    def turn(self) -> Turn:
        """One worker's turn: a context that is to be left when all its processes have ended."""
        return Turn(self)

    def wait(self, kind: str, wall_seconds: float) -> bool:
        """Run in a period of this kind as soon as that may be; whether it came to that within so many seconds.

        Whoever waits is to be counted before.
        """
        with self._changed:
            if not self._changed.wait_for(lambda: self._may_run(kind), wall_seconds):
                return False
            if kind != self._now:
                self._now, self._began = kind, time.monotonic()
            self._running += 1
            return True

    def leave(self) -> None:
        """Run no more."""
        with self._changed:
            self._running -= 1
            self._changed.notify_all()

    def count(self, kind: str, change: int) -> None:
        """One more waits for a period of this kind, or one less."""
        with self._changed:
            self._waiting[kind] += change
            self._changed.notify_all()

    def _may_run(self, kind: str) -> bool:
        is_long = time.monotonic() - self._began > limits.PERIOD_WALL_SECONDS
        if kind == self._now:
            is_over = kind == QUOTED and is_long and self._waiting[HIDDEN] > 0
            return self._running < self._most_at_once and not is_over
        if self._running:
            return False
        if kind == QUOTED:  # who waits for hidden inputs may have a process that was there in a hidden period
            return not self._waiting[HIDDEN]
        return is_long or not self._waiting[QUOTED]


class Turn:
    """One worker's way through the periods: a quoted one, a hidden one, or first the one and then the other."""

    def __init__(self, periods: Periods) -> None:
        self._periods = periods
        self._waits_for = self._runs_in = ""

    def __enter__(self) -> Turn:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._waits_for:
            self._periods.count(self._waits_for, -1)
        if self._runs_in:
            self._periods.leave()

    def take(self, kind: str) -> float:
        """Wait until this worker may run in a period of this kind: the seconds by the clock that this took."""
        before = time.monotonic()
        self.is_taken_within(threading.TIMEOUT_MAX, kind)
        return time.monotonic() - before

    def is_taken_within(self, wall_seconds: float, kind: str) -> bool:
        """Leave the period before, and wait for one of this kind: whether it has come within so many seconds."""
        if self._runs_in == kind:
            return True
        if not self._waits_for:
            self._waits_for = kind
            self._periods.count(kind, +1)  # before it leaves: what is quoted must not start between
            if self._runs_in:
                self._runs_in = ""
                self._periods.leave()
        if not self._periods.wait(kind, wall_seconds):
            return False
        self._waits_for, self._runs_in = "", kind
        self._periods.count(kind, -1)
        return True


@functools.cache
def of_this_process() -> Periods:
    """The periods of all that is judged by the threads of this process."""
    return Periods(cores())
