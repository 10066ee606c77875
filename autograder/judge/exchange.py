"""Sends a worker its requests and reads what it says, within limits of time, size and memory."""

from __future__ import annotations

import os
import selectors
import time
from collections.abc import Callable
from dataclasses import dataclass

from ..sandbox.worker_handle import WorkerHandle
from . import limits
from .periods import Deadline

CHUNK_BYTES = 1 << 16


@dataclass(frozen=True)
class Exchanged:
    """What a worker said until it ended; stopped: whether it was ended at a limit."""

    data: bytes
    stopped: bool


@dataclass(frozen=True)
class TwoRequests:
    """A request, and one that follows when the worker has said so many lines; made then, from all that it has said.

    second: may take its time, which is not the worker's, and ask other workers of the submission
    may_send: whether the second one may be sent, known after so many seconds by the clock at most
    """

    first: bytes
    lines_before_second: int
    second: Callable[[bytes], bytes]
    may_send: Callable[[bytes, float], bool]


@dataclass(frozen=True)
class Bounds:
    """What a worker may use before it is ended.

    wall_seconds: by the clock, from its first line on; end: the latest time in any case
    While it waits for its second request it uses nothing of both.
    output_bytes: that it may say
    """

    wall_seconds: float
    end: Deadline
    output_bytes: int


def exchange(worker: WorkerHandle, requests: TwoRequests, bounds: Bounds) -> Exchanged:
    """Send both requests; what the worker says until it ends, or reaches a limit."""
    deadline = min(time.monotonic() + limits.START_WALL_SECONDS, bounds.end.at)
    data, lines, is_second_sent = bytearray(), 0, False
    second: bytes | None = None
    memory = bounds.end.memory
    with _Pipes(worker, worker.preamble + requests.first) as pipes, memory.including(worker):
        while (left := deadline - time.monotonic()) > 0 and len(data) <= bounds.output_bytes:
            if memory.is_exceeded():
                break
            if not is_second_sent and lines >= requests.lines_before_second:
                if second is None:
                    before = time.monotonic()
                    second = requests.second(bytes(data))
                    deadline = min(deadline + time.monotonic() - before, bounds.end.at)
                before = time.monotonic()
                is_second_sent = requests.may_send(second, limits.MEMORY_LOOK_WALL_SECONDS)
                waited = time.monotonic() - before
                deadline, bounds.end.at = deadline + waited, bounds.end.at + waited
                if not is_second_sent:
                    continue
                pipes.send(second)
            chunk = pipes.transfer(min(left, limits.MEMORY_LOOK_WALL_SECONDS))
            if chunk == b"":
                return Exchanged(bytes(data), stopped=False)
            if chunk:
                if lines == 0 and b"\n" in chunk:  # it has begun
                    deadline = min(time.monotonic() + bounds.wall_seconds, bounds.end.at)
                data += chunk
                lines += chunk.count(b"\n")
    return Exchanged(bytes(data), stopped=True)


class _Pipes:
    """Both pipes of a worker, without waiting for one while the other is full."""

    def __init__(self, worker: WorkerHandle, text: bytes) -> None:
        self._requests, self._answers = worker.requests, worker.answers
        self._unsent = b""
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._answers, selectors.EVENT_READ)
        os.set_blocking(self._requests, False)
        self.send(text)

    def __enter__(self) -> _Pipes:
        return self

    def __exit__(self, *_: object) -> None:
        self._selector.close()

    def send(self, text: bytes) -> None:
        """Have this written when the worker reads, after what is not written yet."""
        if not self._unsent and text:
            self._selector.register(self._requests, selectors.EVENT_WRITE)
        self._unsent += text

    def transfer(self, wall_seconds: float) -> bytes | None:
        """Write and read what goes at once: a piece of what the worker says, b"" at its end, None for nothing."""
        chunk = None
        for key, _ in self._selector.select(wall_seconds):
            if key.fd == self._answers:
                chunk = os.read(self._answers, CHUNK_BYTES)
            else:
                self._write()
        return chunk

    def _write(self) -> None:
        try:
            self._unsent = self._unsent[os.write(self._requests, self._unsent) :]
        except BlockingIOError:
            return
        except BrokenPipeError:  # it has ended, or reads no more
            self._unsent = b""
        if not self._unsent:
            self._selector.unregister(self._requests)
