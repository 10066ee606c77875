"""What submitted code used of the machine, as the kernel counted it."""

from __future__ import annotations

import math
import os
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import psutil

MIB = 2**20
ROUNDING = 0.1  # seconds that the times of several processes, each rounded, may come to more than their sum


@dataclass(frozen=True)
class Used:
    """What all processes of one submission used, those it left behind included.

    processor_seconds: of the processor, in the sandbox: what comparing took outside is not in it
    peak_mib: memory of its largest process at its largest, libraries that it shares with others included; or of all its
        processes together at one of the looks, five in a second, where that was more
    complete: whether no process could keep its times out of the sum; if not, they are the least that it used
    """

    processor_seconds: float = 0.0
    peak_mib: float = 0.0
    complete: bool = True

    def __add__(self, other: Used) -> Used:
        """What was used one after the other."""
        return Used(
            self.processor_seconds + other.processor_seconds,
            max(self.peak_mib, other.peak_mib),
            self.complete and other.complete,
        )

    def as_json(self) -> dict[str, Any]:
        """As a record holds it: seconds to the hundredth, MiB to the whole."""
        return {
            "processor_seconds": round(self.processor_seconds, 2),
            "peak_mib": round(self.peak_mib),
            "complete": self.complete,
        }


class UsageWatch:
    """What the processes of a worker are seen to use while they run, where no cgroup counts them."""

    def __init__(self) -> None:
        self._peak = 0
        self._seconds: dict[psutil.Process, float] = {}

    def look(self, pid: int, own_generations: int) -> int:
        """Bytes that a process and all below it use now, without those of files.

        own_generations: so many generations, from `pid` on, are the grader's own programs; they are in this sum, and
            not in the peak or the seconds of the submission
        """
        in_all = of_submission = 0
        with suppress(psutil.Error):
            first = psutil.Process(pid)
            generation = {first.pid: 0}
            for process in [first, *first.children(recursive=True)]:  # parents stand before their children
                with suppress(psutil.Error), process.oneshot():
                    bytes_, times = _memory_of(process), process.cpu_times()
                    in_all += bytes_
                    level = generation.setdefault(process.pid, generation.get(process.ppid(), own_generations - 1) + 1)
                    if level >= own_generations:
                        of_submission += bytes_
                        self._seconds[process] = times.user + times.system
        self._peak = max(self._peak, of_submission)
        return in_all

    def at_least(self, used: Used) -> Used:
        """What was used, where more of it was seen than was counted."""
        return Used(
            max(used.processor_seconds, sum(self._seconds.values())),
            max(used.peak_mib, self._peak / MIB),
            used.complete,
        )


def _memory_of(process: psutil.Process) -> int:
    """Bytes of memory that a process uses, without those of files.

    The kernel shows none of a process whose first thread has ended, and all of it for any thread that is left.
    """
    memory = process.memory_info()
    if memory.rss:
        return int(memory.rss - getattr(memory, "shared", 0) + _shared_by(f"/proc/{process.pid}"))
    return max((_memory_of_thread(f"/proc/{process.pid}/task/{thread.id}") for thread in process.threads()), default=0)


def _memory_of_thread(folder: str) -> int:
    with suppress(OSError), open(f"{folder}/statm", encoding="ascii") as file:
        resident, shared = (int(pages) * os.sysconf("SC_PAGE_SIZE") for pages in file.read().split()[1:3])
        return resident - shared + _shared_by(folder)
    return 0


def _shared_by(folder: str) -> int:
    """Bytes of memory that a process could share with others and that is no file's; 0 where the kernel does not say.

    folder: in /proc, that of the process or of one of its threads
    """
    with suppress(OSError), open(f"{folder}/status", encoding="ascii", errors="replace") as lines:
        return next((1024 * int(line.split()[1]) for line in lines if line.startswith("RssShmem:")), 0)
    return 0


@dataclass
class Tally:
    """What a submission used so far, worker after worker.

    seconds: of the processor, by the id of each exercise that had a process of its own
    """

    used: Used = field(default_factory=Used)
    seconds: dict[str, float] = field(default_factory=dict)

    def of(self, exercise: str) -> dict[str, float]:
        """As a record holds it: seconds to the hundredth; nothing where the exercise had no process of its own."""
        return {"seconds": round(self.seconds[exercise], 2)} if exercise in self.seconds else {}

    def add(self, used: Used, seconds: list[tuple[str, Any]]) -> None:
        """Count a worker; seconds: what it says of each exercise.

        That is left out where it is more than the kernel counted for the worker.
        """
        self.used += used
        valid = [(name, number) for name, number in seconds if type(number) is float and 0 <= number < math.inf]
        if sum(number for _, number in valid) <= used.processor_seconds + ROUNDING:
            for name, number in valid:
                self.seconds[name] = self.seconds.get(name, 0.0) + number
