"""What the grader holds of a worker: the pipes to it, its limit of memory, and what it has used."""

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
        memory_bytes: int | None,
    ) -> None:
        """own_generations: of processes, from that with `pid` on, that are the grader's own programs
        memory_bytes: the most that all processes together may use; None where the kernel sees to that, or nobody
        """
        self.requests, self.answers, self.preamble = requests, answers, preamble
        self.used = Used(complete=False, watched=True)
        self.ran_out_of_memory = False
        self.watch = UsageWatch()
        self._own_generations, self._find_pid, self._memory_bytes = own_generations, find_pid, memory_bytes

    @property
    def pid(self) -> int | None:
        """Its process id out here; None while it has not begun."""
        return self._find_pid(0.0)

    def wait_for_pid(self, wall_seconds: float) -> int | None:
        """Its process id out here; None where it has not begun within so many seconds."""
        return self._find_pid(wall_seconds)

    def exceeds_memory(self) -> bool:
        """Whether its processes use more memory than they may, now; this is also how its peak is seen."""
        if self._memory_bytes is None or self.pid is None:
            return False
        return self.watch.look(self.pid, self._own_generations) > self._memory_bytes


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
