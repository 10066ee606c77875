"""Runs a function of ours on a stranger's bytes in a process of its own, within limits of processor and memory.

Reading is not harmless: a parser may take minutes or gigabytes for a file of a megabyte, holds the interpreter's lock
all the while, and may crash. So whatever reads sources, archives or large notebooks runs where the kernel ends it at
its limits, and nothing else with it. A process is forked from one that has the modules imported (see limited_server):
that costs some milliseconds. The sandbox is not needed for it, for nothing of the stranger's is run.
"""

from __future__ import annotations

import contextlib
import functools
import io
import os
import pickle
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from . import limited_server
from .limited_server import ENDED, NAME_BYTES, NO_ROOM, STATUS, Call

CPU_SECONDS = 10  # a module of a megabyte needs two
MEMORY_BYTES = 2**30  # of address space
WALL_CLOCK_FACTOR = 12.0  # seconds by the clock for each of the processor's, before the machine counts as too busy
CHUNK_BYTES = 1 << 16
ATTEMPTS = 2
LIMITS_TEXT = f"{CPU_SECONDS} seconds of processor time and {MEMORY_BYTES // 2**30} GiB of memory"
CRASHES = (signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT, signal.SIGILL, signal.SIGFPE)
Item = TypeVar("Item")


class LimitedFault(RuntimeError):
    """The function could not be run, for no reason that lies in what it was to read."""


@dataclass(frozen=True)
class Outcome(Generic[Item]):
    """What a function gave before it ended; complete: whether it came to its end within the limits."""

    items: list[Item]
    complete: bool


def items_of(function: Callable[..., Iterable[Item]], *arguments: Any) -> Outcome[Item]:
    """What a function gives, item by item, as far as it comes within the limits; what it raises is raised here.

    function: of a module that can be imported; its arguments and items can be pickled. Where its module has a function
    `prepare`, that is called once, before the first fork, in the process that is forked.
    Raises LimitedFault where it could not be run.
    """
    call = Call(function, arguments, CPU_SECONDS, MEMORY_BYTES, WALL_CLOCK_FACTOR * CPU_SECONDS)
    for _ in range(ATTEMPTS):
        data, status = _server().run(call)
        if status is not None and _is_due_to_the_call(status):
            return Outcome(_items_in(data), status == 0)
    raise LimitedFault("the process that reads what was handed in was ended: is the machine out of memory?")


def start(function: Callable[..., Iterable[Any]]) -> None:
    """Start the process that is forked, and have it prepare for calls of a function, while others go on here."""
    _server().prepare(function)


def _is_due_to_the_call(status: int) -> bool:
    """Whether a process has come to its end, exceeded a limit or crashed, and was not ended by somebody else."""
    if os.WIFEXITED(status):
        return os.WEXITSTATUS(status) in (0, NO_ROOM)
    return os.WTERMSIG(status) in (signal.SIGXCPU, *CRASHES)


def _items_in(data: bytes) -> list[Any]:
    """The items among what a process has said; raises what its function raised."""
    items: list[Any] = []
    file = io.BytesIO(data)
    while True:
        try:
            is_item, value = pickle.load(file)
        except (EOFError, pickle.UnpicklingError):  # the end, or the process was ended while it wrote
            return items
        if not is_item:
            raise value
        items.append(value)


class _Server:
    """The program that forks, from its start until it is lost."""

    def __init__(self) -> None:
        self._control, inside = socket.socketpair()
        self._lock = threading.Lock()
        with inside:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", limited_server.__name__, str(inside.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=[inside.fileno()],
                start_new_session=True,  # Ctrl-C is for the grader
                env=os.environ | {"PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path))},
            )

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def prepare(self, function: Callable[..., Iterable[Any]]) -> None:
        """Have it import a function's module now; whether it can shows when the function is called."""
        with contextlib.suppress(OSError), self._lock:
            self._control.sendall(_name_of(function))

    def run(self, call: Call) -> tuple[bytes, int | None]:
        """What a call's process has said, and how it has ended; None where nobody tells."""
        ours, other_end = socket.socketpair()
        with ours:
            try:
                with other_end, self._lock:
                    socket.send_fds(self._control, [_name_of(call.function)], [other_end.fileno()])
                ours.settimeout(2 * call.wall_seconds)
                ours.sendall(pickle.dumps(call))
                ours.shutdown(socket.SHUT_WR)
                data = _read_to_end(ours, time.monotonic() + 2 * call.wall_seconds)
            except OSError:  # it is gone, or the machine is too busy
                return b"", None
        said, last = data[: -STATUS.size], data[-STATUS.size :]
        mark, status = STATUS.unpack(last) if len(last) == STATUS.size else (b"", 0)
        return (said, status) if mark == ENDED else (b"", None)

    def close(self) -> None:
        """End it; what it has forked ends by itself."""
        self._control.close()
        self._process.kill()
        self._process.wait()


def _name_of(function: Callable[..., Iterable[Any]]) -> bytes:
    return function.__module__.encode().ljust(NAME_BYTES, b"\0")


def _read_to_end(channel: socket.socket, deadline: float) -> bytes:
    """Raises OSError where the end does not come in time."""
    data = bytearray()
    while chunk := channel.recv(CHUNK_BYTES):
        data += chunk
        if time.monotonic() > deadline:
            raise TimeoutError
    return bytes(data)


@functools.cache
def _servers() -> tuple[threading.Lock, list[_Server]]:
    return threading.Lock(), []


def _server() -> _Server:
    """The server of this process; a new one where there is none that lives."""
    lock, servers = _servers()
    with lock:
        if servers and not servers[0].is_alive:
            servers.pop().close()
        if not servers:
            servers.append(_Server())
        return servers[0]
