"""The most memory that a call needs above what is there before it."""

from __future__ import annotations

import ctypes
import gc
import sys
from collections.abc import Callable
from pathlib import Path

STATUS, CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def peak_above(function: Callable[[], object]) -> int:
    """Bytes by which the process grows at most while function runs: peak resident memory minus that before.

    Meant for a process of its own, whose first large call this is.
    """
    gc.collect()
    library = ctypes.CDLL(None) if sys.platform == "linux" else None
    if hasattr(library, "malloc_trim"):
        library.malloc_trim(0)  # what was freed goes back to the system, and counts when it is taken again
    before = _resident()
    kept = function()
    peak = _peak()
    del kept
    return max(peak - before, 0)


def _resident() -> int:
    if STATUS.exists():
        CLEAR.write_text("5")  # the peak begins anew
        return _status("VmRSS")
    return _peak()


def _peak() -> int:
    if STATUS.exists():
        return _status("VmHWM")
    import resource  # not on Windows

    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _status(name: str) -> int:
    line = next(one for one in STATUS.read_text(encoding="utf-8").splitlines() if one.startswith(name))
    return int(line.split()[1]) * 1024
