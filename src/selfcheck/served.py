"""Has a command carried out by a process that waits with torch imported, and starts one for the next command.

Such a process (see server.py) belongs to one user, one copy of the course and one version of all that it has imported;
each of these has its own socket, in a folder that only its user can read. Wherever something is not as expected, on
macOS and Windows always, `selfcheck` runs as if there were none. SELFCHECK_SERVER=no turns it off; a number there is
how many seconds such a process waits before it ends.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import stat
import struct
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from .version import version

__all__ = ["SWITCH", "exit_code", "is_own", "send", "socket_file", "start"]

SWITCH = "SELFCHECK_SERVER"
NOT_SERVED = {"edit"}  # an editor wants the terminal as its own
CONNECTED, READY = 1.0, 10.0  # seconds after which the server counts as absent
GO, STATUS = b"g", struct.Struct("i")
FORWARDED = ("SIGINT", "SIGQUIT", "SIGTERM", "SIGHUP", "SIGWINCH", "SIGCONT")
#: Starts a server; its path is the caller's, so that it finds the same modules.
START = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from selfcheck.server import main; main(sys.argv[2])"


def exit_code(arguments: Sequence[str]) -> int | None:
    """The exit code of a command that a waiting server has carried out; None where this process is to do it."""
    path = socket_file()
    if path is None or not path.exists() or set(arguments[:1]) & NOT_SERVED:
        return None
    with socket.socket(socket.AF_UNIX) as server:
        try:
            server.settimeout(CONNECTED)
            server.connect(str(path))
            if not is_own(server):
                return None
            send(server, _request(arguments), (0, 1, 2))
            server.settimeout(READY)
            if server.recv(1) != GO:
                return None
            with _forwarding(server):
                server.sendall(GO)  # from here on the command runs there
                return _outcome(server)
        except OSError:
            return None


def start() -> None:
    """Start a server for the next command, where this one had to import torch and a person waits for it."""
    path = socket_file()
    if path is None or "torch" not in sys.modules or not sys.stdout.isatty():
        return
    command = [sys.executable, "-c", START, json.dumps(sys.path), str(path)]
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    # OpenBLAS starts its threads when it is imported; a process that is to fork must have none.
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    with contextlib.suppress(OSError):
        subprocess.Popen(command, cwd="/", env=environment, start_new_session=True, **quiet)  # type: ignore[call-overload]


def socket_file() -> Path | None:
    """Where the server listens that would answer as this process would; None where there is to be none."""
    is_wanted = os.environ.get(SWITCH) not in ("no", "0")
    if sys.platform != "linux" or not hasattr(os, "pidfd_open") or not is_wanted or _has_options():
        return None
    folder = Path(os.environ.get("XDG_RUNTIME_DIR") or os.environ.get("TMPDIR") or "/tmp", f"selfcheck-{os.getuid()}")
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        status = folder.lstat()
        path = folder / version()
    except OSError:
        return None
    is_private = stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and not status.st_mode & 0o077
    return path if is_private and len(os.fsencode(path)) < 100 else None


def is_own(connection: socket.socket) -> bool:
    """Whether the process at the other end is this user's."""
    peer = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    return bool(struct.unpack("3i", peer)[1] == os.getuid())


def send(connection: socket.socket, message: bytes, descriptors: Sequence[int]) -> None:
    """Send a message with its length before it, and open files along with that."""
    socket.send_fds(connection, [struct.pack("I", len(message))], list(descriptors))
    connection.sendall(message)


def _has_options() -> bool:
    """Whether Python itself was given options, or is one that was not started as a program."""
    first = (sys.orig_argv[1:] or ["-"])[0]
    return first.startswith("-") and first != "-m"


def _request(arguments: Sequence[str]) -> bytes:
    """What the server needs to know of this process; OSError where it cannot stand in for it."""
    if os.isatty(0) and os.tcgetpgrp(0) != os.getpgrp():
        raise OSError("in the background, a process that reads from the terminal is to be stopped by it")
    for descriptor in (0, 1, 2):
        os.fstat(descriptor)
    mask = os.umask(0)
    os.umask(mask)
    known = {"arguments": list(arguments), "folder": os.getcwd(), "environment": dict(os.environ)}
    return json.dumps(known | {"path": sys.path, "mask": mask, "program": sys.argv[0]}).encode()


@contextlib.contextmanager
def _forwarding(server: socket.socket) -> Iterator[None]:
    """Within it, signals to this process reach the one that carries out the command; those ignored stay ignored."""

    def forward(number: int, _: Any) -> None:
        with contextlib.suppress(OSError):
            server.send(bytes([number]))

    def stop(*_: Any) -> None:  # Ctrl-Z
        forward(signal.SIGSTOP, None)
        os.kill(os.getpid(), signal.SIGSTOP)

    before = {}
    for name in (*FORWARDED, "SIGTSTP"):
        number = getattr(signal, name)
        if signal.getsignal(number) != signal.SIG_IGN:
            before[number] = signal.signal(number, stop if name == "SIGTSTP" else forward)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _outcome(server: socket.socket) -> int:
    """The exit code that the server sends when the command has ended; that of a signal is as a shell says it."""
    server.settimeout(None)
    try:
        select.select([server], [], [])
        answer = server.recv(STATUS.size, socket.MSG_WAITALL)
    except ConnectionError:
        answer = b""
    if len(answer) < STATUS.size:
        print("selfcheck was ended from outside; run it again", file=sys.stderr)
        return 1
    code: int = STATUS.unpack(answer)[0]
    return code if code >= 0 else 128 - code
