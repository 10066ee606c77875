"""A cgroup for each worker, where the kernel's second version with its memory controller is delegated to the grader.

There the kernel itself holds all processes of a submission to one limit of memory, that of tmpfs and of the kernel on
their behalf included, and counts their processor time and memory whoever waits for them. Elsewhere `usage` does.
"""

from __future__ import annotations

import functools
import itertools
import os
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from .usage import MIB, Used

MEMBERSHIP = Path("/proc/self/cgroup")
MOUNTS = Path("/proc/self/mountinfo")
NAME = "attention-grader"
END_SECONDS = 2.0  # by the clock, for processes that were killed to leave their cgroup
_numbers = itertools.count()


class WorkerCgroup:
    """A cgroup made for one worker; removed when that has ended."""

    def __init__(self, parent: Path, memory_bytes: int) -> None:
        """Make it below `parent`, with a limit of memory and no swap; raises OSError where that is refused.

        At the limit the kernel kills all its processes: one that is left would wait for the others, and be taken for
        one that sleeps.
        """
        self._folder = parent / f"{NAME}-{os.getpid()}-{next(_numbers)}"
        self._folder.mkdir()
        for name, value in (("memory.max", memory_bytes), ("memory.swap.max", 0), ("memory.oom.group", 1)):
            if (self._folder / name).exists():
                (self._folder / name).write_text(str(value))

    def add(self, pid: int) -> None:
        """Move a process into it; whatever that starts from now on is in it too."""
        (self._folder / "cgroup.procs").write_text(str(pid))

    def used(self) -> Used:
        """What all processes that were ever in it have used: nothing can keep itself out of the sum."""
        cpu = dict(line.split() for line in (self._folder / "cpu.stat").read_text().splitlines())
        peak = 0
        with suppress(OSError):  # before Linux 5.19
            peak = int((self._folder / "memory.peak").read_text())
        return Used(int(cpu["usage_usec"]) / 1e6, peak / MIB, complete=True)

    def memory_bytes(self) -> int:
        """What its processes use now, without what the kernel would take back from them at the limit."""
        with suppress(OSError, ValueError, KeyError):
            kinds = dict(line.split() for line in (self._folder / "memory.stat").read_text().splitlines())
            returned = sum(int(kinds[name]) for name in ("active_file", "inactive_file", "slab_reclaimable"))
            return max(0, int((self._folder / "memory.current").read_text()) - returned)
        return 0

    def ran_out_of_memory(self) -> bool:
        """Whether the kernel killed one of its processes because they used all that the cgroup may.

        What is killed because the machine has no memory left, or a cgroup above, is in `oom_kill` and not in `oom`.
        """
        with suppress(OSError, ValueError):
            events = dict(line.split() for line in (self._folder / "memory.events").read_text().splitlines())
            return int(events.get("oom", 0)) > 0 and int(events.get("oom_kill", 0)) > 0
        return False

    def remove(self) -> None:
        """Kill what is left in it, and remove it."""
        end = time.monotonic() + END_SECONDS
        while True:
            try:
                self._folder.rmdir()
            except OSError:
                if time.monotonic() > end:
                    return
                with suppress(OSError):
                    (self._folder / "cgroup.kill").write_text("1")
                time.sleep(0.002)
            else:
                return


@functools.cache
def delegated_parent(membership: Path = MEMBERSHIP, mounts: Path = MOUNTS) -> Path | None:
    """The nearest cgroup above this process in which it may make others that have the memory controller; None: none.

    It is looked for above this process's own, which holds processes and so cannot give controllers to others.
    """
    for folder in _cgroups_above(membership, mounts):
        with suppress(OSError):
            if "memory" in (folder / "cgroup.subtree_control").read_text().split() and _is_writable(folder):
                return folder
    return None


def _cgroups_above(membership: Path, mounts: Path) -> Iterator[Path]:
    """This process's cgroup and those above it, by their folders, as far up as they are mounted."""
    with suppress(OSError, ValueError, StopIteration):
        path = next(line.split("::")[1] for line in membership.read_text().splitlines() if line.startswith("0::"))
        mount = next(line.split() for line in mounts.read_text().splitlines() if " - cgroup2 " in line)
        root, top = mount[3], Path(mount[4])
        folder = top / os.path.relpath(path, root)
        while folder.is_relative_to(top):
            yield folder
            folder = folder.parent


def _is_writable(folder: Path) -> bool:
    return os.access(folder, os.W_OK) and os.access(folder / "cgroup.procs", os.W_OK)
