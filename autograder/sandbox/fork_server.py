"""The program that waits inside the sandbox with torch imported, and opens a room for each submission.

It builds houses, which are copies of it in process namespaces of their own; each opens one room at a time. A room is a
process in namespaces of its own, with empty scratch folders, no rights and the filter of system calls. It begins as a
copy of its house, which never sees a submission: what is asked and answered goes through two pipes that a room gets and
the house gives away; the first line that a room reads is its package, {name: base64}, or null to be told which walls it
has. Whoever started this program sends, each as one message:
    first   the filter as the kernel takes it
    build   with the end of a socket that a house listens to, and answers with `ready`
and to a house:
    open    with the two ends of pipes that a room reads and writes
    close   whatever runs in the room is killed, answered by what ran there has used: {"processor_seconds", "peak_kib",
            "complete"}
Each of them ends with whoever holds the other end, and all houses with the program that built them.
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
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

MOST = 1 << 16  # bytes of a message
PACKAGE = "/room/work"  # where a room finds the learner's package
OF_A_HOUSE = 0x10000000 | 0x00020000 | 0x20000000  # namespaces: user, mount, process
OF_A_ROOM = OF_A_HOUSE | 0x08000000 | 0x04000000 | 0x40000000  # IPC, host name, network: a socket could outlive it
BIND = 0x1000 | 0x4000  # with what is mounted below it
READ_ONLY, NO_SETUID, NO_DEVICES, NO_PROGRAMS, AGAIN = 1, 2, 4, 8, 32  # of mount(2)
SCRATCH = 64 * 2**20
CAPABILITIES = 0x20080522  # the version of the form of capset(2)
LINGER = 2.0  # seconds that killed processes may take to end


def main(descriptor: int) -> None:
    """Build houses until the other side hangs up."""
    torch.set_num_threads(1)  # before any operation: a forked child must inherit no thread pool
    runner.set_dumpable(False)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # whoever inherits that it is ignored is told nothing of its children
    control = socket.socket(fileno=descriptor)
    filtered = control.recv(MOST)
    gc.freeze()  # a collection in a room would copy the pages of all that is here
    gc.set_threshold(20_000, 20, 20)  # reading a request alone would set off a hundred
    while True:
        message, descriptors, _, _ = socket.recv_fds(control, MOST, 1)
        if not message:
            break
        if os.fork() == 0:
            try:
                control.close()
                if _is_first(OF_A_HOUSE, descriptors):
                    _open_rooms(socket.socket(fileno=descriptors[0]), filtered)
            finally:
                os._exit(1)
        os.close(descriptors[0])
        with suppress(ChildProcessError):  # houses that have ended
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def _open_rooms(control: socket.socket, filtered: bytes) -> None:
    """Open rooms, one at a time, until the other side hangs up."""
    _mount("proc", "/proc", NO_SETUID | NO_DEVICES | NO_PROGRAMS)
    runner.set_dumpable(False)
    control.send(b"ready")
    keeper = 0
    while True:
        message, descriptors, _, _ = socket.recv_fds(control, MOST, 2)
        if not message:
            break
        if message == b"open":
            keeper = os.fork()
            if keeper == 0:
                try:
                    control.close()
                    if _is_first(OF_A_ROOM, descriptors):
                        _be_a_room(*descriptors, filtered)
                finally:
                    os._exit(1)
        for one in descriptors:
            os.close(one)
        if message == b"close":
            control.send(json.dumps(_end_all(keeper)).encode())
    _end_all(keeper)


def _is_first(namespaces: int, descriptors: list[int]) -> bool:
    """True in a new process, the first in new namespaces; in this one False, when that has ended. It has every right
    in them, and alone has the descriptors.
    """
    user, group = os.getuid(), os.getgid()
    runner.set_dumpable(True)  # or its own files in /proc are root's
    _sure(ctypes.CDLL(None, use_errno=True).unshare(namespaces))
    for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
            file.write(text)
    child = os.fork()
    if child == 0:
        return True
    for one in descriptors:
        os.close(one)
    os.waitpid(child, 0)
    return False


def _end_all(keeper: int) -> dict[str, float | bool]:
    """Kill whatever runs here but this process, the first of its namespace; what it has used.

    complete: whether the times of all are in the sum. What a room's first process takes with it when it ends counts
    nowhere, so that the others have to be dead before it.
    """
    complete = _end_followers(keeper)
    with suppress(ProcessLookupError):  # there was nobody
        os.kill(-1, signal.SIGKILL)
    seconds, peak = 0.0, 0
    with suppress(ChildProcessError):
        while True:
            _, _, usage = os.wait4(-1, 0)
            seconds += usage.ru_utime + usage.ru_stime
            peak = max(peak, usage.ru_maxrss)
    return {"processor_seconds": seconds, "peak_kib": peak, "complete": complete}


def _end_followers(keeper: int) -> bool:
    """Kill every process of a room but the first, which the keeper has started; whether all of them are dead."""
    end = time.monotonic() + LINGER
    while time.monotonic() < end:
        parents = dict(_living())
        followers = [pid for pid, parent in parents.items() if keeper not in (pid, parent)]
        if not followers:
            return True
        for pid, parent in parents.items():
            with suppress(ProcessLookupError):
                if parent == keeper:
                    os.kill(pid, signal.SIGSTOP)  # so that it starts nobody else
                elif pid != keeper:
                    os.kill(pid, signal.SIGKILL)
        time.sleep(0.001)
    return False


def _living() -> Iterator[tuple[int, int]]:
    """Each process here but this one, and its parent; not those that are dead and were not waited for."""
    for name in os.listdir("/proc"):
        if name.isdigit() and name != "1":
            with suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:
                state, parent, *more = file.read().rpartition(b")")[2].split()
                if state != b"Z" or int(more[15]) > 1:  # a process whose first thread alone has ended looks dead too
                    yield int(name), int(parent)


def _be_a_room(asked: int, answers: int, filtered: bytes) -> None:
    """Furnish the room, give up every right, and have the package answer."""
    os.setsid()
    os.dup2(asked, 0)
    os.dup2(answers, 3)
    os.closerange(4, 1 << 12)
    files = json.loads(sys.stdin.readline())
    _furnish(files or {})
    _drop_rights(filtered)
    if files is None:
        os.write(3, json.dumps(self_test.walls()).encode())
    else:
        runner.main(3, PACKAGE)


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
    runner.keep_to(filtered if filtered != b"none" else b"")


def _sure(outcome: int) -> None:
    if outcome:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    import runner
    import self_test
    import torch
    import torch.fx.experimental.symbolic_shapes  # what the first backward pass of a process imports

    import selfcheck.runner  # noqa: F401  (imported once, here, for every room)

    main(int(sys.argv[1]))
