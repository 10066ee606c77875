"""Watches the memory that all workers of a submission use together; a cgroup limits each of them alone.

One of them is asked; others may wait for it meanwhile, with all that they hold.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from ..sandbox.worker_handle import WorkerHandle
from . import limits


class MemoryWatch:
    """The workers of one submission that run now."""

    def __init__(self) -> None:
        self._workers: list[WorkerHandle] = []
        self._next_look = time.monotonic() + limits.MEMORY_LOOK_WALL_SECONDS

    @contextmanager
    def including(self, worker: WorkerHandle) -> Iterator[None]:
        """Within it, this worker is one of them."""
        self._workers.append(worker)
        try:
            yield
        finally:
            self._workers.remove(worker)

    def is_exceeded(self) -> bool:
        """Whether they use more than a submission may, where the time has come to look again."""
        if time.monotonic() < self._next_look:
            return False
        used = sum(worker.memory_bytes() for worker in self._workers)
        self._next_look = time.monotonic() + limits.MEMORY_LOOK_WALL_SECONDS
        return used > limits.MEMORY_BYTES
