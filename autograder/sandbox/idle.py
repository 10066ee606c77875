"""Tells whether the processes in sight compute, or only wait."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress

#: States of a thread: it runs, or would if a processor were free; or it waits for a disk, or for memory.
BUSY = "RD"


def is_anything_busy() -> bool:
    """Whether a thread of another process than this one is at work, on however busy a machine."""
    return any(state in BUSY for pid in _numbers("/proc") if pid != os.getpid() for state in _states(pid))


def _states(pid: int) -> Iterator[str]:
    for thread in _numbers(f"/proc/{pid}/task"):
        with suppress(OSError, IndexError), open(f"/proc/{pid}/task/{thread}/stat", "rb") as file:
            yield chr(file.read().rpartition(b") ")[2][0])


def _numbers(folder: str) -> list[int]:
    try:
        return [int(name) for name in os.listdir(folder) if name.isdigit()]
    except OSError:  # it has ended
        return []
