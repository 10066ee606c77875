"""Forks a process for each function that is to run within limits; a program, started by `limited`.

It has nothing but our own modules in it and no thread, so that a fork is cheap and safe. It reads no stranger's bytes.

The protocol, over a socket whose descriptor stands on the command line: for each call the grader sends NAME_BYTES with
the name of the function's module, and with them one end of a socket pair; without one, the module is imported for
later calls. Over the pair the grader then sends the
pickled call (see `Call`) and shuts down its side. Back come pickled pairs, (True, an item) or (False, what was raised),
and at the end, as STATUS, how the process has ended, as os.wait says it. Where that is missing, the fault is not the
call's. When the socket hangs up, the server ends.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import pickle
import resource
import signal
import socket
import struct
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

NAME_BYTES = 256
ENDED = b"\0ended:\0"
STATUS = struct.Struct(f"<{len(ENDED)}si")
NO_ROOM = 3  # exit status: out of memory, or nested too deep


@dataclass(frozen=True)
class Call:
    """A function, what it is called with, and what its process may use.

    wall_seconds: after which the machine is too busy: nothing that runs here waits for anything
    """

    function: Callable[..., Iterable[Any]]
    arguments: tuple[Any, ...]
    cpu_seconds: int
    memory_bytes: int
    wall_seconds: float


def main(descriptor: str) -> None:
    """Fork until the grader hangs up."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the processes that wait for the others
    with socket.socket(fileno=int(descriptor)) as control:
        while True:
            message, descriptors, _, _ = socket.recv_fds(control, NAME_BYTES, 1)
            if not message:
                return
            with contextlib.suppress(Exception):  # too many processes, a module that is not there: see the protocol
                _prepare(message.rstrip(b"\0").decode())
                if descriptors and os.fork() == 0:
                    control.close()
                    _watch(descriptors[0])
            for number in descriptors:
                os.close(number)


def _prepare(module: str) -> None:
    """Import a function's module, and have it make what all calls share, once."""
    if module not in sys.modules:
        prepare = getattr(importlib.import_module(module), "prepare", None)
        if prepare is not None:
            prepare()
        gc.collect()
        gc.freeze()  # a collection in a forked process would copy the pages of all that is here


def _watch(channel: int) -> None:
    """Run the call in a process below this one, and say how that has ended."""
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        child = os.fork()
        if child == 0:
            _work(channel)
        _, status = os.waitpid(child, 0)
        os.write(channel, STATUS.pack(ENDED, status))
    finally:
        os._exit(0)


def _work(channel: int) -> None:
    """Read the call, run it within its limits, and write what it gives."""
    status = 1
    gc.disable()  # it ends soon, and a limit holds its memory
    try:
        with os.fdopen(os.dup(channel), "rb") as incoming:
            data = incoming.read()
        call: Call = pickle.loads(data)
        del data
        with os.fdopen(channel, "wb") as outgoing:
            _limit(call)
            try:
                for item in call.function(*call.arguments):
                    _write(outgoing, True, item)
            except (MemoryError, RecursionError):
                status = NO_ROOM
                return
            except Exception as error:
                _write(outgoing, False, error)
        status = 0
    except MemoryError:
        status = NO_ROOM
    finally:
        os._exit(status)


def _write(outgoing: Any, is_item: bool, value: object) -> None:
    outgoing.write(pickle.dumps((is_item, value)))
    outgoing.flush()


def _limit(call: Call) -> None:
    """Have the kernel end this process at its limits: no code here need be asked."""
    signal.setitimer(signal.ITIMER_REAL, call.wall_seconds)
    for kind, most in (
        (resource.RLIMIT_CPU, call.cpu_seconds),
        (resource.RLIMIT_AS, call.memory_bytes),
        (resource.RLIMIT_CORE, 0),
    ):
        _, hard = resource.getrlimit(kind)
        resource.setrlimit(kind, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


if __name__ == "__main__":
    # As the module of its name, for `Call` is pickled under that.
    importlib.import_module("autograder.sandbox.limited_server").main(sys.argv[1])
