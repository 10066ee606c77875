"""Tells what the processes in sight do: compute, wait for a processor, or wait for something else."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

RUNS = "R"  # of a thread: it runs, or would if a processor were free
BUSY = RUNS + "D"  # likewise, or it waits for a disk, or for memory
STATE, TIMES = 0, slice(11, 15)  # in /proc/PID/stat behind the name: user and system time, and that of children
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


def seen() -> Activity:
    """What the processes in sight do."""
    states: set[str] = set()
    ticks = 0
    for pid in _numbers("/proc"):
        if pid != os.getpid():
            ticks += sum(int(field) for fields in _stat(f"/proc/{pid}") for field in fields[TIMES])
            states.update(
                fields[STATE]
                for thread in _numbers(f"/proc/{pid}/task")
                for fields in _stat(f"/proc/{pid}/task/{thread}")
            )
    return Activity(not states.isdisjoint(BUSY), RUNS in states, ticks / TICKS)


def _stat(folder: str) -> Iterator[list[str]]:
    """The fields behind the name, once; never where the process has ended."""
    with suppress(OSError), open(f"{folder}/stat", "rb") as file:
        yield file.read().rpartition(b") ")[2].decode().split()


def _numbers(folder: str) -> list[int]:
    try:
        return [int(name) for name in os.listdir(folder) if name.isdigit()]
    except OSError:  # it has ended
        return []
