"""What submitted code used of the machine, as the kernel counted it."""

from __future__ import annotations

import functools
import math
import os
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import psutil

MIB = 2**20
SCRATCH = ("/tmp", "/dev/shm")  # inside a sandbox
INODE_BYTES = 1200  # of the kernel's memory for a file, folder or link, with its name
SOCKET_BYTES = 320 * 2**10  # where the kernel does not say how much may lie in one
#: Of the kernel's memory for each part of a process's map, and for each of its processes that it has forked it from.
MAP_BYTES, FORKED_MAP_BYTES = 400, 64
MOST_MAPS = 2**17  # parts of all maps together: 64 processes with torch have half of that; more exceeds the limit
NO_BOUND = 2**63  # bytes: more than any limit
ROUNDING = 0.1  # seconds that the times of several processes, each rounded, may come to more than their sum
#: Of /proc/PID/status: what a process's own resident memory does not hold.
NOT_IN_ITS_SUM = ("RssShmem:", "VmPTE:", "VmSwap:", "HugetlbPages:")
MAPS_PIECE_BYTES = 1 << 16  # that are read at once
LIST_WALL_SECONDS = 0.1  # that a list of the machine's processes serves all who look


@dataclass(frozen=True)
class Used:
    """What all processes of one submission used, those it left behind included.

    processor_seconds: of the processor, in the sandbox: what comparing took outside is not in it
    peak_mib: memory of its largest process at its largest, libraries that it shares with others included; or of all its
        processes together at one of the looks, five in a second, where that was more
    complete: whether no process could keep its times out of the sum; if not, they are the least that it used
    watched: whether its memory was looked at from outside, where no cgroup held it: of what the kernel keeps on its
        behalf page tables, maps, files and the most that can lie in its sockets are in it then, and no more
    """

    processor_seconds: float = 0.0
    peak_mib: float = 0.0
    complete: bool = True
    watched: bool = False

    def __add__(self, other: Used) -> Used:
        """What was used one after the other."""
        return Used(
            self.processor_seconds + other.processor_seconds,
            max(self.peak_mib, other.peak_mib),
            self.complete and other.complete,
            self.watched or other.watched,
        )

    def as_json(self) -> dict[str, Any]:
        """As a record holds it: seconds to the hundredth, MiB to the whole."""
        return {
            "processor_seconds": round(self.processor_seconds, 2),
            "peak_mib": round(self.peak_mib),
            "complete": self.complete,
            "memory": "watched" if self.watched else "cgroup",
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
        maps = _Maps()
        with suppress(psutil.Error):
            first = psutil.Process(pid)
            generation = {first.pid: 0}
            inside: list[int] = []
            for process in (first, *_below(first.pid)):
                with suppress(psutil.Error), process.oneshot():
                    parent = process.ppid()
                    if process != first and parent not in generation:  # another has its number by now
                        continue
                    bytes_, times = _memory_of(process), process.cpu_times()
                    in_all += bytes_
                    inside.append(process.pid)
                    level = generation.setdefault(process.pid, generation.get(parent, -1) + 1)
                    if level >= own_generations:
                        maps.add(process)
                        of_submission += bytes_
                        self._seconds[process] = times.user + times.system
            beside = _memory_of_sandbox(inside) + maps.memory()
            in_all, of_submission = in_all + beside, of_submission + beside
        self._peak = max(self._peak, of_submission)
        return NO_BOUND if maps.are_too_many() else in_all

    def at_least(self, used: Used) -> Used:
        """What was used, where more of it was seen than was counted."""
        return Used(
            max(used.processor_seconds, sum(self._seconds.values())),
            max(used.peak_mib, self._peak / MIB),
            used.complete,
            used.watched,
        )


class _Processes:
    """The machine's processes, listed once for all who look at about the same time: most are no submission's."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._listed = -math.inf
        self._children: dict[int, list[int]] = {}

    def children(self) -> dict[int, list[int]]:
        """The children of each process that has some, as they were LIST_WALL_SECONDS ago or later."""
        with self._lock:
            if time.monotonic() - self._listed > LIST_WALL_SECONDS:
                self._listed, self._children = time.monotonic(), {}
                for pid, parent in _parents():
                    self._children.setdefault(parent, []).append(pid)
            return self._children


_processes = _Processes()


def _below(pid: int) -> Iterator[psutil.Process]:
    """All processes below one, a parent before its children."""
    children = _processes.children()
    waiting = [*children.get(pid, ())]
    for process_id in waiting:  # which grows meanwhile
        waiting += children.get(process_id, ())
        with suppress(psutil.Error):
            yield psutil.Process(process_id)


def _parents() -> Iterator[tuple[int, int]]:
    """Every process of the machine, with its parent."""
    try:
        names = os.listdir("/proc")
    except OSError:  # not on Linux
        yield from ((process.pid, process.info["ppid"]) for process in psutil.process_iter(["ppid"]))
        return
    for name in names:
        if name.isdigit():
            with suppress(OSError), open(f"/proc/{name}/stat", "rb", buffering=0) as file:
                yield int(name), int(file.read().rpartition(b") ")[2].split(None, 2)[1])


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
    """Bytes of memory that a process could share with others and that is no file's, in swap or in the machine's large
    pages, and of its page tables.

    folder: in /proc, that of the process or of one of its threads; 0 where the kernel does not say
    """
    with suppress(OSError), open(f"{folder}/status", encoding="ascii", errors="replace") as lines:
        return sum(1024 * int(line.split()[1]) for line in lines if line.startswith(NOT_IN_ITS_SUM))
    return 0


class _Maps:
    """The parts of the maps of processes, one for each row of /proc/PID/maps, and the kernel's memory for them."""

    def __init__(self) -> None:
        self._processes = self._parts = 0

    def add(self, process: psutil.Process) -> None:
        """Count those of a process, as long as there are not too many already."""
        self._processes += 1
        if not self._count(f"/proc/{process.pid}"):  # its first thread has ended, as above
            any(self._count(f"/proc/{process.pid}/task/{thread.id}") for thread in process.threads())

    def memory(self) -> int:
        """Bytes that the kernel keeps for those that were counted, at the most."""
        return self._parts * (MAP_BYTES + FORKED_MAP_BYTES * self._processes)

    def are_too_many(self) -> bool:
        """Whether so many were seen that the others are not counted."""
        return self._parts > MOST_MAPS

    def _count(self, folder: str) -> bool:
        """Count those in a folder of /proc; whether there are any."""
        before = self._parts
        with suppress(OSError), open(f"{folder}/maps", "rb", buffering=0) as file:
            while not self.are_too_many() and (piece := file.read(MAPS_PIECE_BYTES)):
                self._parts += piece.count(b"\n")
        return self._parts > before


def _memory_of_sandbox(pids: list[int]) -> int:
    """Bytes that a sandbox's files in memory take, its folders and links included, and that may lie in its sockets,
    those that are in no process included; 0 where it has the machine's own.

    pids: of its processes; the kernel tells nothing by one that has ended, as nobody may have waited for the last ones
    """
    for pid in reversed(pids):
        with suppress(OSError):
            if os.path.samestat(os.stat(f"/proc/{pid}/root"), os.stat("/")):
                continue  # the program that starts it, or there is none
            return _memory_of_scratch_folders(f"/proc/{pid}/root") + _memory_of_sockets(f"/proc/{pid}/net/sockstat")
    return 0


def _memory_of_scratch_folders(root: str) -> int:
    total = 0
    for place in SCRATCH:
        status = os.statvfs(root + place)
        total += (status.f_blocks - status.f_bfree) * status.f_frsize
        total += (status.f_files - status.f_ffree) * INODE_BYTES
    return total


def _memory_of_sockets(counted: str) -> int:
    """By the file in which the kernel counts those of a network namespace."""
    with suppress(ValueError, IndexError), open(counted, encoding="ascii") as file:
        return int(file.readline().split()[2]) * _socket_bytes()  # sockets: used 12
    return 0


@functools.cache
def _socket_bytes() -> int:
    """The most that the kernel keeps for a socket: what may be written to it, and half as much for the last piece."""
    try:
        with open("/proc/sys/net/core/wmem_default", encoding="ascii") as file:
            return int(file.read()) * 3 // 2
    except (OSError, ValueError):
        return SOCKET_BYTES


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
