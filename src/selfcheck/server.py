"""Waits with torch and the recorded answers in memory, and forks a process for each command of a learner's.

It listens at the socket that `served` names, and ends when no command has come for a while. It never imports anything
of a learner's. For each command it forks a minder, which forks the process that carries the command out: with the
caller's terminal, folder, environment and path. The minder passes on the caller's signals, kills that process when the
caller is gone, and says how it ended.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import gc
import json
import os
import select
import signal
import socket
import struct
import sys
import time
import traceback
from pathlib import Path
from typing import Any, NoReturn

from .served import GO, STATUS, SWITCH, is_own

IDLE = 900.0  # seconds
PATIENCE = 10.0  # seconds for what a caller is to send
MOST_BYTES = 1 << 22  # of a request


def main(path: str) -> None:
    """Serve at a socket until nothing has come for a while; at once back where another process serves there."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.umask(0o077)
    with open(f"{path}.lock", "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return
        _prepare()
        if len(os.listdir("/proc/self/task")) > 1:  # a fork of a process with threads can hang
            return
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(path)
            listening.listen(16)
            with contextlib.suppress(KeyboardInterrupt):
                _serve(listening, lock.fileno(), Path(path))
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)


def _prepare() -> None:
    """Import and read all that commands need, so that no process that is forked does."""
    import numpy  # noqa: F401
    import torch
    import torch._dynamo  # noqa: F401 - what torch.optim imports when an optimizer is made
    import torch.library  # noqa: F401

    from . import commands, failures, hints, overrides, show, watch  # noqa: F401
    from .catalogue import exercises
    from .learner import available
    from .recorded import plans_of, visible_keys

    torch.set_num_threads(1)
    chosen = available(exercises())
    for exercise in chosen:
        plans_of(visible_keys(exercise))
        overrides.prepare(exercise.forbidden)
    gc.collect()
    gc.freeze()


def _serve(listening: socket.socket, lock: int, path: Path) -> None:
    minders: set[int] = set()
    idle = _seconds()
    last = time.monotonic()
    while minders or time.monotonic() - last < idle:
        if not path.exists():  # somebody has tidied up: nobody finds this server any more
            return
        ready, _, _ = select.select([listening], [], [], min(idle, 5.0))
        if ready:
            connection, _ = listening.accept()
            with connection:
                minder = os.fork()
                if minder == 0:
                    listening.close()
                    os.close(lock)
                    _mind(connection)
                minders.add(minder)
        ended = {minder for minder in minders if os.waitpid(minder, os.WNOHANG)[0]}
        minders -= ended
        if ready or ended:
            last = time.monotonic()


def _seconds() -> float:
    try:
        return float(os.environ.get(SWITCH, IDLE))
    except ValueError:
        return IDLE


def _mind(connection: socket.socket) -> NoReturn:
    """Have one command carried out, and end."""
    child = 0
    try:
        connection.settimeout(PATIENCE)
        if is_own(connection):
            request, descriptors = _received(connection)
            waiting, begin = os.pipe()
            child = os.fork()
            if child == 0:
                os.close(begin)
                if os.read(waiting, 1):
                    os.close(waiting)
                    connection.close()
                    _carry_out(request, descriptors)
                os._exit(0)
            for descriptor in (waiting, *descriptors):
                os.close(descriptor)
            _accompany(connection, child, begin)
    except Exception:
        pass  # the caller notices that the connection ends, and does it itself
    finally:
        if child:
            for number in (signal.SIGHUP, signal.SIGCONT, signal.SIGKILL):
                with contextlib.suppress(OSError):
                    os.kill(child, number)
        os._exit(0)


def _received(connection: socket.socket) -> tuple[dict[str, Any], list[int]]:
    size, descriptors, _, _ = socket.recv_fds(connection, 4, 3)
    length = struct.unpack("I", size)[0]
    if len(descriptors) != 3 or length > MOST_BYTES:
        raise ValueError("that is no request")
    message = b""
    while len(message) < length:
        part = connection.recv(length - len(message))
        if not part:
            raise ValueError("the caller is gone")
        message += part
    return json.loads(message), descriptors


def _accompany(connection: socket.socket, child: int, begin: int) -> None:
    """Let the child begin when the caller says so; pass signals on to it until it ends, or the caller does."""
    connection.sendall(GO)
    if connection.recv(1) != GO:
        return
    os.write(begin, GO)
    os.close(begin)
    connection.settimeout(None)
    end = os.pidfd_open(child)
    while True:
        ready, _, _ = select.select([end, connection.fileno()], [], [])
        if end in ready:
            status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            connection.sendall(STATUS.pack(status))
            return
        numbers = connection.recv(16)
        if not numbers:
            return
        for number in numbers:
            os.killpg(child, number)


def _carry_out(request: dict[str, Any], descriptors: list[int]) -> NoReturn:
    """Be what the caller would be, carry the command out, and end with its exit code."""
    code = 1
    try:
        os.setpgid(0, 0)
        _become(request, descriptors)
        from .commands import main as command

        command(args=request["arguments"], prog_name="python -m selfcheck")
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(BaseException):
            atexit._run_exitfuncs()
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):
                stream.flush()
        os._exit(code & 0xFF)


def _become(request: dict[str, Any], descriptors: list[int]) -> None:
    for number, descriptor in enumerate(descriptors):
        os.dup2(descriptor, number)
    for descriptor in descriptors:
        if descriptor > 2:
            os.close(descriptor)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.umask(request["mask"])
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    time.tzset()
    sys.argv = [request["program"], *request["arguments"]]
    sys.path[:] = request["path"]
    sys.path_importer_cache.clear()
    # Encodings are those that the caller has: its variables for them are part of the socket's name.
    for name, number, mode in (("stdin", 0, "r"), ("stdout", 1, "w"), ("stderr", 2, "w")):
        was = getattr(sys, f"__{name}__")
        buffering = 1 if mode == "w" and (number == 2 or os.isatty(number)) else -1
        stream = open(number, mode, buffering, was.encoding, was.errors, closefd=False)  # noqa: SIM115
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    sys.modules["numpy"].random.seed()  # torch's is set before each step, Python's own after each fork
