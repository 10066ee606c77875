"""The program that waits inside the sandbox with torch imported, and opens a room for each submission.

A room is a process in namespaces of its own, with empty scratch folders, no rights and the filter of system calls. It
begins as a copy of this process, which never sees a submission: what is asked and answered goes through two pipes that
a room gets and the house gives away; the first line that a room reads is its package, {name: base64},
or null to be told which walls it has. Whoever started the house sends, each as one message:
    first   the filter as the kernel takes it, answered by `ready`
    open    with the two ends of pipes that a room reads and writes
    close   whatever runs in the room is killed, answered by `closed`
The house ends with whoever holds the other end.
"""

from __future__ import annotations

import base64
import ctypes
import gc
import json
import os
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

MOST = 1 << 16  # bytes of a message
PACKAGE = "/room/work"  # where a room finds the learner's package
#: User, mount, process, IPC, host name, network: sockets of no path could outlive their room.
NAMESPACES = 0x10000000 | 0x00020000 | 0x20000000 | 0x08000000 | 0x04000000 | 0x40000000
BIND = 0x1000 | 0x4000  # with what is mounted below it
READ_ONLY, NO_SETUID, NO_DEVICES, NO_PROGRAMS, AGAIN = 1, 2, 4, 8, 32  # of mount(2)
SCRATCH = 64 * 2**20
CAPABILITIES = 0x20080522  # the version of the form of capset(2)


def main(descriptor: int) -> None:
    """Open rooms, one at a time, until the other side hangs up."""
    torch.set_num_threads(1)  # before any operation: a forked child must inherit no thread pool
    room.set_dumpable(False)
    control = socket.socket(fileno=descriptor)
    filtered = control.recv(MOST)
    gc.freeze()  # a collection in a room would copy the pages of all that is here
    control.send(b"ready")
    while True:
        message, descriptors, _, _ = socket.recv_fds(control, MOST, 2)
        if not message:
            break
        if message == b"open" and os.fork() == 0:
            try:
                control.close()
                _keep_room(*descriptors, filtered)
            finally:
                os._exit(1)
        for one in descriptors:
            os.close(one)
        if message == b"close":
            _end_all()
            control.send(b"closed")
    _end_all()


def _end_all() -> None:
    """Kill whatever runs here but this process, the first of its namespace; rooms within it end with their first."""
    with suppress(ProcessLookupError):  # there was nobody
        os.kill(-1, signal.SIGKILL)
    with suppress(ChildProcessError):
        while True:
            os.waitpid(-1, 0)


def _keep_room(asked: int, answers: int, filtered: bytes) -> None:
    """Make the namespaces, begin the room in them, and wait for it."""
    user, group = os.getuid(), os.getgid()
    room.set_dumpable(True)  # or its own files in /proc are root's
    _sure(ctypes.CDLL(None, use_errno=True).unshare(NAMESPACES))
    for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
            file.write(text)
    child = os.fork()
    if child:
        os.close(asked)
        os.close(answers)
        os.waitpid(child, 0)
        return
    os.setsid()
    os.dup2(asked, 0)
    os.dup2(answers, 3)
    os.closerange(4, 1 << 12)
    files = json.loads(sys.stdin.readline())
    _furnish(files or {})
    _drop_rights(filtered)
    if files is None:
        os.write(3, json.dumps(probe.walls()).encode())
    else:
        room.main(3, PACKAGE)


def _furnish(files: dict[str, str]) -> None:
    """This room's processes alone in /proc, empty folders in the place of the house's, the package where it is read."""
    _mount("proc", "/proc", READ_ONLY | NO_SETUID | NO_DEVICES | NO_PROGRAMS)
    for place in ("/tmp", "/dev/shm", PACKAGE):
        with kept_below(place):
            _mount("tmpfs", place, NO_SETUID | NO_DEVICES, f"size={SCRATCH},mode=1777")
    os.chdir("/tmp")  # the one that is there now
    os.mkdir(f"{PACKAGE}/attention")
    for name, data in files.items():
        with open(f"{PACKAGE}/attention/{name}", "wb") as file:
            file.write(base64.b64decode(data))
    _mount("tmpfs", PACKAGE, AGAIN | READ_ONLY | NO_SETUID | NO_DEVICES)


@contextmanager
def kept_below(place: str) -> Iterator[None]:
    """Have what is mounted below a folder stand there again after it is covered: the interpreter may lie there."""
    with open("/proc/self/mountinfo", encoding="utf-8") as lines:
        mounted = [line.split()[4].replace("\\040", " ") for line in lines]
    kept = {path: os.open(path, os.O_PATH) for path in mounted if path.startswith(f"{place}/")}
    yield
    library = ctypes.CDLL(None, use_errno=True)
    for path, descriptor in kept.items():
        os.makedirs(path)
        _sure(library.mount(b"/proc/self/fd/%d" % descriptor, path.encode(), None, BIND, None))
        os.close(descriptor)


def _mount(kind: str, place: str, flags: int, options: str = "") -> None:
    library = ctypes.CDLL(None, use_errno=True)
    _sure(library.mount(kind.encode(), place.encode(), kind.encode(), ctypes.c_ulong(flags), options.encode()))


def _drop_rights(filtered: bytes) -> None:
    """Give up every right in the namespaces just made, and the system calls that the filter refuses."""
    library = ctypes.CDLL(None, use_errno=True)
    head = (ctypes.c_uint32 * 2)(CAPABILITIES, 0)
    _sure(library.capset(head, (ctypes.c_uint32 * 6)()))
    _sure(library.prctl(38, 1, 0, 0, 0))  # PR_SET_NO_NEW_PRIVS
    if filtered == b"none":
        return

    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("rules", ctypes.c_char_p)]

    program = Program(len(filtered) // 8, filtered)
    _sure(library.prctl(22, 2, ctypes.byref(program), 0, 0))  # PR_SET_SECCOMP, SECCOMP_MODE_FILTER


def _sure(outcome: int) -> None:
    if outcome:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    import probe
    import room
    import torch
    import torch.fx.experimental.symbolic_shapes  # what the first backward pass of a process imports

    from selfcheck import runner  # noqa: F401  (imported once, here, for every room)

    main(int(sys.argv[1]))
