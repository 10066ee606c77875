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


class Looks:
    """What the processes of a room are seen to take while they run."""

    def __init__(self) -> None:
        self._peak = 0
        self._seconds: dict[psutil.Process, float] = {}

    def look(self, pid: int, ours: int) -> int:
        """Bytes that all processes below `pid` take now, those of files left out.

        ours: so many generations below `pid` are the grader's own programs; they count here, and not as used
        """
        taken = used = 0
        generation = {pid: 0}
        with suppress(psutil.Error):
            for one in psutil.Process(pid).children(recursive=True):  # parents stand before their children
                with suppress(psutil.Error), one.oneshot():
                    bytes_, times = _memory_of(one), one.cpu_times()
                    taken += bytes_
                    generation[one.pid] = generation.get(one.ppid(), ours) + 1
                    if generation[one.pid] > ours:
                        used += bytes_
                        self._seconds[one] = times.user + times.system
        self._peak = max(self._peak, used)
        return taken

    def at_least(self, used: Used) -> Used:
        """What was used, where more of it was seen than was counted."""
        return Used(
            max(used.processor_seconds, sum(self._seconds.values())),
            max(used.peak_mib, self._peak / MIB),
            used.complete,
        )


def _memory_of(process: psutil.Process) -> int:
    """Bytes of memory that a process takes, those of files left out.

    The kernel tells none of a process whose first thread has ended, and all of it of any thread that is left.
    """
    memory = process.memory_info()
    if memory.rss:
        return memory.rss - getattr(memory, "shared", 0) + _shared_by(f"/proc/{process.pid}")
    return max((_memory_of_thread(f"/proc/{process.pid}/task/{one.id}") for one in process.threads()), default=0)


def _memory_of_thread(place: str) -> int:
    with suppress(OSError), open(f"{place}/statm", encoding="ascii") as file:
        resident, shared = (int(pages) * os.sysconf("SC_PAGE_SIZE") for pages in file.read().split()[1:3])
        return resident - shared + _shared_by(place)
    return 0


def _shared_by(place: str) -> int:
    """Bytes of memory that a process could share with others and that is no file's; 0 where that is not told.

    place: its folder in /proc, or that of one of its threads
    """
    with suppress(OSError), open(f"{place}/status", encoding="ascii", errors="replace") as lines:
        return next((1024 * int(line.split()[1]) for line in lines if line.startswith("RssShmem:")), 0)
    return 0


@dataclass
class Tally:
    """What a submission used so far, room after room.

    seconds: of the processor, by the id of each exercise that had a process of its own
    """

    used: Used = field(default_factory=Used)
    seconds: dict[str, float] = field(default_factory=dict)

    def of(self, exercise: str) -> dict[str, float]:
        """As a record holds it: seconds to the hundredth; nothing where the exercise had no process of its own."""
        return {"seconds": round(self.seconds[exercise], 2)} if exercise in self.seconds else {}

    def add(self, used: Used, seconds: list[tuple[str, Any]]) -> None:
        """Count a room; seconds: what its first process, which is ours, says of each exercise.

        What it says is left out where it is more than the kernel counted for the room.
        """
        self.used += used
        sound = [(name, said) for name, said in seconds if type(said) is float and 0 <= said < math.inf]
        if sum(said for _, said in sound) <= used.processor_seconds + ROUNDING:
            for name, said in sound:
                self.seconds[name] = self.seconds.get(name, 0.0) + said
