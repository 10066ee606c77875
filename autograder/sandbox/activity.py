"""Tells what the processes in sight do: compute, wait for a processor, or wait for something else."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

RUNS = "R"  # of a thread: it runs, or would if a processor were free
WAITS = "D"  # of a thread: it waits for a disk, or for memory, or for a process that it has started by vfork
#: Where in the kernel the last of these waits, by the names of several versions; "0" is said of one that hides that.
FOR_ANOTHER = ("kernel_clone", "_do_fork", "do_fork", "wait_for_vfork_done", "0")
STATE, TIMES = 0, slice(11, 15)  # in /proc/PID/stat behind the name: user and system time, and that of children
LOOK_WALL_SECONDS = 1.0  # between two looks, on average
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Activity:
    """What all processes but this one do at a moment.

    is_busy: whether a thread is at work, on however busy a machine; is_runnable: whether one needs a processor for that
    seconds: of the processor that they, and those among their children who have ended, have used so far
    """

    is_busy: bool
    is_runnable: bool
    seconds: float


def until_next_look() -> float:
    """Seconds by the clock that nobody can foresee who computes at each look and sleeps in between."""
    return LOOK_WALL_SECONDS * (0.5 + os.urandom(1)[0] / 255)


def seen() -> Activity:
    """What the processes in sight do."""
    is_runnable = is_waiting = False
    ticks = 0
    for pid in _numbers("/proc"):
        if pid != os.getpid():
            ticks += sum(int(field) for fields in _stat(f"/proc/{pid}") for field in fields[TIMES])
            for folder in (f"/proc/{pid}/task/{thread}" for thread in _numbers(f"/proc/{pid}/task")):
                for fields in _stat(folder):
                    is_runnable |= fields[STATE] == RUNS
                    is_waiting |= fields[STATE] == WAITS and not _waits_for_another(folder)
    return Activity(is_runnable or is_waiting, is_runnable, ticks / TICKS)


def _waits_for_another(folder: str) -> bool:
    """Whether a thread that seems to wait for a disk waits for a process; False where the kernel does not say."""
    with suppress(OSError), open(f"{folder}/wchan", encoding="ascii") as file:
        return file.read().partition(".")[0] in FOR_ANOTHER
    return False


def _stat(folder: str) -> Iterator[list[str]]:
    """The fields behind the name, once; never where the process has ended."""
    with suppress(OSError), open(f"{folder}/stat", "rb") as file:
        yield file.read().rpartition(b") ")[2].decode().split()


def _numbers(folder: str) -> list[int]:
    try:
        return [int(name) for name in os.listdir(folder) if name.isdigit()]
    except OSError:  # it has ended
        return []
