"""The system calls that Python's standard library lacks: namespaces, mounts, capabilities and the seccomp filter.

The only module with ctypes. It is staged into the sandbox and imports nothing of ours. A call that the kernel refuses
raises OSError with the kernel's reason.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import re
from collections.abc import Iterable, Iterator

#: Files and folders of /proc in which the kernel counts what all processes of the machine do: one could count something
#: up there, and another read it later.
COUNTERS = (
    *("stat", "vmstat", "zoneinfo", "buddyinfo", "loadavg", "uptime", "interrupts", "softirqs", "schedstat"),
    *("diskstats", "cgroups", "key-users", "meminfo", "swaps"),
)
COUNTING_FOLDERS = ("pressure", "irq", "fs", "sys/fs")

# Namespaces, of clone(2).
NEW_MOUNTS, NEW_HOST_NAME, NEW_IPC = 0x00020000, 0x04000000, 0x08000000
NEW_USER, NEW_PIDS, NEW_NETWORK = 0x10000000, 0x20000000, 0x40000000
# Flags of mount(2).
READ_ONLY, NO_SETUID, NO_DEVICES, NO_PROGRAMS, REMOUNT, BIND, RECURSIVE = 1, 2, 4, 8, 32, 0x1000, 0x4000
# Operations of prctl(2), and one of its arguments.
SET_DUMPABLE, SET_SECCOMP, SET_NO_NEW_PRIVILEGES = 4, 22, 38
FILTER = 2
MMAP_THRESHOLD, LARGE_BYTES = -3, 1 << 20  # of mallopt(3)
LARGE_PIECES, PIECES_AT_ONCE = (65536, 16384, 4096, 2048), 16  # bytes; of memory that is taken
CAPABILITY_VERSION = 0x20080522  # of the structures of capset(2)


class _Program(ctypes.Structure):
    """A seccomp filter as prctl(2) takes it: struct sock_fprog."""

    _fields_ = [("length", ctypes.c_ushort), ("rules", ctypes.c_char_p)]


class _Free(ctypes.Structure):
    """What malloc(3) holds, in bytes but for the counts: struct mallinfo2."""

    _names = ("arena", "pieces", "small", "maps", "mapped", "most", "small_bytes", "used", "free", "at_end")
    _fields_ = [(name, ctypes.c_size_t) for name in _names]

    def between_others(self) -> int:
        """Free bytes that do not lie at the end of the heap."""
        return int(self.free - self.at_end)


RULE_BYTES = 8  # of struct sock_filter


def unshare(namespaces: int) -> None:
    """Move this process into new namespaces; of NEW_PIDS, the children that it starts from now on."""
    _call("unshare", namespaces)


def enter_namespace(descriptor: int, kind: int) -> None:
    """Move this process into a namespace that is open as a file; of NEW_PIDS, the children that it starts from now."""
    _call("setns", descriptor, kind)


def unshare_user(more: int = 0, proc: str = "/proc") -> None:
    """Move this process into a new user namespace, where it has every capability and keeps its ids, and into more.

    proc: where a /proc is mounted that can be written
    """
    user, group = os.getuid(), os.getgid()
    set_dumpable(True)  # or its own files in /proc are root's
    unshare(NEW_USER | more)
    for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        with open(f"{proc}/self/{name}", "w", encoding="ascii") as file:
            file.write(text)
    set_dumpable(False)


def mount(kind: str, place: str, flags: int, options: str = "") -> None:
    """Mount a file system that has no device: "proc" or "tmpfs"."""
    _call("mount", kind.encode(), place.encode(), kind.encode(), ctypes.c_ulong(flags), options.encode())


def bind(source: str, place: str) -> None:
    """Show a folder, and what is mounted below it, at another place too."""
    _call("mount", source.encode(), place.encode(), None, ctypes.c_ulong(BIND | RECURSIVE), None)


def drop_capabilities() -> None:
    """Give up every capability, for good: no program that is executed brings any back."""
    head = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION, 0)
    _call("capset", head, (ctypes.c_uint32 * 6)())
    _call("prctl", SET_NO_NEW_PRIVILEGES, 1, 0, 0, 0)


def install_filter(rules: bytes) -> None:
    """Let this process make only system calls that a filter, and those installed before, let pass; b"" for no filter.

    rules: the program as libseccomp exports it
    """
    if rules:
        program = _Program(len(rules) // RULE_BYTES, rules)
        _call("prctl", SET_NO_NEW_PRIVILEGES, 1, 0, 0, 0)  # without it the kernel takes filters of root alone
        _call("prctl", SET_SECCOMP, FILTER, ctypes.byref(program), 0, 0)


def set_dumpable(dumpable: bool) -> None:
    """Whether processes of the same user may read this one's memory and take its descriptors."""
    with contextlib.suppress(AttributeError, OSError):  # not on Linux
        _call("prctl", SET_DUMPABLE, int(dumpable), 0, 0, 0)


def return_freed_memory() -> None:
    """Have this process give large pieces of memory back when they are freed, so that its peak is what it held at once.

    Without it the allocator keeps pieces of up to 32 MiB, between which there is no place for others.
    """
    with contextlib.suppress(AttributeError, OSError):  # another C library
        ctypes.CDLL(None).mallopt(MMAP_THRESHOLD, LARGE_BYTES)


def use_up_free_memory() -> None:
    """Take the pieces of memory that are free among others, for good, so that what forked processes allocate is dense.

    A small piece between others costs a forked process a page: what it writes to is copied.
    """
    with contextlib.suppress(AttributeError, OSError):  # another C library, or an old one
        library = ctypes.CDLL(None)
        library.malloc.restype, library.mallinfo2.restype = ctypes.c_void_p, _Free
        for size in (*LARGE_PIECES, *range(1008, 8, -16)):
            left = library.mallinfo2().between_others()
            while left > size:
                for _ in range(PIECES_AT_ONCE):
                    library.malloc(ctypes.c_size_t(size))
                before, left = left, library.mallinfo2().between_others()
                if before - left < PIECES_AT_ONCE * size // 2:  # the others come from the end of the heap
                    break


def mounted_places() -> list[str]:
    """Where something is mounted."""
    with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as lines:
        named = dict.fromkeys(line.split(maxsplit=5)[4] for line in lines)
    return [re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), name) for name in named]


@contextlib.contextmanager
def kept_mounts_below(place: str, mounted: Iterable[str]) -> Iterator[None]:
    """Have what is mounted below a folder stand there again after it is covered: the interpreter may lie there."""
    below = [path for path in mounted if path.startswith(f"{place}/")]
    outermost = [path for path in below if not any(path.startswith(f"{other}/") for other in below)]
    kept = {path: os.open(path, os.O_PATH) for path in outermost}
    yield
    for path, descriptor in kept.items():
        if os.path.isdir(f"/proc/self/fd/{descriptor}"):
            os.makedirs(path)
        else:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY))
        bind(f"/proc/self/fd/{descriptor}", path)
        os.close(descriptor)


def is_refused(namespaces: int) -> bool:
    """Whether the kernel refuses to unshare; if not, this process is in new namespaces now."""
    try:
        unshare(namespaces)
    except OSError:
        return True
    return False


def _call(name: str, *arguments: object) -> None:
    function = getattr(_library(), name)
    if function(*arguments) == -1:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")


@functools.cache
def _library() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
