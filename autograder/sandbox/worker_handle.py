"""What the grader holds of a worker: the pipes to it, and what it uses."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable

from .usage import UsageWatch, Used


class WorkerHandle:
    """A worker, seen from the grader.

    requests: the descriptor to write requests to; answers: the one to read answers from
    preamble: what the worker reads before any request
    used: what its processes have used; complete when the worker has ended
    ran_out_of_memory: whether the kernel killed one of them at the limit of its cgroup; known when it has ended
    """

    def __init__(
        self,
        requests: int,
        answers: int,
        preamble: bytes,
        own_generations: int,
        find_pid: Callable[[float], int | None],
        memory_of: Callable[[WorkerHandle], int],
    ) -> None:
        """own_generations: of processes, from that with `pid` on, that are the grader's own programs
        memory_of: how the bytes that such a worker uses now become known
        """
        self.requests, self.answers, self.preamble = requests, answers, preamble
        self.used = Used(complete=False, watched=True)
        self.ran_out_of_memory = False
        self.watch = UsageWatch()
        self._own_generations, self._find_pid, self._memory_of = own_generations, find_pid, memory_of

    @property
    def pid(self) -> int | None:
        """Its process id out here; None while it has not begun."""
        return self._find_pid(0.0)

    def wait_for_pid(self, wall_seconds: float) -> int | None:
        """Its process id out here; None where it has not begun within so many seconds."""
        return self._find_pid(wall_seconds)

    def memory_bytes(self) -> int:
        """What its processes use now, 0 where nobody knows."""
        return self._memory_of(self)

    def watched_memory_bytes(self) -> int:
        """What its processes are seen to use now, 0 before it has begun; this is also how its peak is seen."""
        return 0 if self.pid is None else self.watch.look(self.pid, self._own_generations)


def start_program(command: list[str], descriptors: list[int], stdin: int) -> subprocess.Popen[bytes]:
    """Start a program of the sandbox, in a session of its own, with nothing of this process's environment."""
    return subprocess.Popen(
        command,
        stdin=stdin,
        bufsize=0,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=descriptors,
        start_new_session=True,
        env={"PATH": os.environ.get("PATH", os.defpath), "LANG": "C.UTF-8", "OMP_NUM_THREADS": "1"},
    )
