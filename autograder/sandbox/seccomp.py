"""The filters of system calls, made by libseccomp: what a submission may ask of the kernel, by system_calls.py.

Of many arguments the kernel reads the lower half alone, and a filter sees the whole. So a value that is let pass is
named whole, and one that is named nowhere is refused.
"""

from __future__ import annotations

import errno
import fcntl
import functools
import os
import resource
import signal
import socket
import tempfile
import termios
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from . import system_calls

NEW_NAMESPACES = 0x7E020000  # CLONE_NEWNS and its like, of clone
THREAD = 0x00010000  # CLONE_THREAD
SET_SECCOMP = 22  # PR_SET_SECCOMP
MS_ASYNC = 1
SHARED, ANONYMOUS = 0x01, 0x20  # MAP_SHARED, MAP_ANONYMOUS; of the kinds of maps the shared ones are odd
LARGE_PAGES = 0x40000  # MAP_HUGETLB: pages of which the machine has a number
#: Advice about a process's own memory: MADV_NORMAL … WILLNEED, DONTNEED, FREE, REMOVE … DOFORK, UNMERGEABLE …
#: KEEPONFORK, POPULATE_READ … COLLAPSE, GUARD_INSTALL, GUARD_REMOVE.
ADVICE = (*range(5), 8, *range(9, 12), *range(13, 20), *range(22, 26), 102, 103)
#: Advice that is answered as done: to share equal pages with others, and to put pages out of memory, where the machine
#: has place for them and no process is charged: MADV_MERGEABLE, COLD, PAGEOUT.
ADVICE_NOT_TAKEN = (12, 20, 21)
F_OFD_GETLK, F_OFD_SETLK, F_OFD_SETLKW = 36, 37, 38
#: Commands of fcntl on a descriptor itself; those for locks are answered as done (see system_calls.DONE).
DESCRIPTOR_COMMANDS = (
    *(fcntl.F_DUPFD, fcntl.F_DUPFD_CLOEXEC, fcntl.F_GETFD, fcntl.F_SETFD, fcntl.F_GETFL, fcntl.F_SETFL),
    *(fcntl.F_GETLK, F_OFD_GETLK, fcntl.F_GETOWN, 1032),  # the last: F_GETPIPE_SZ
)
LOCK_COMMANDS = (fcntl.F_SETLK, fcntl.F_SETLKW, F_OFD_SETLK, F_OFD_SETLKW)
REFUSED_COMMANDS = (fcntl.F_SETLEASE, fcntl.F_GETLEASE, fcntl.F_NOTIFY, fcntl.F_SETOWN, fcntl.F_SETSIG, 1031)
#: Requests of ioctl: whether it is a terminal, how much there is to read, blocking or not, open after exec or not.
REQUESTS = (
    *(termios.TCGETS, 0x802C542A, termios.TIOCGWINSZ, termios.TIOCGPGRP),  # the second: TCGETS2
    *(termios.FIONREAD, termios.TIOCOUTQ, termios.FIONBIO, termios.FIOCLEX, termios.FIONCLEX),
)
#: Options of prctl: its name, its end, its parent's end, its own rights, what its memory is called.
OPTIONS = (
    *(1, 2, 3, 4, 15, 16, 21, 22, 23, 29, 30, 36, 37, 38, 39, 40, 41, 42),  # PR_SET_PDEATHSIG … PR_GET_THP_DISABLE
    *(0x53564D41, 0x59616D61),  # PR_SET_VMA, PR_SET_PTRACER
)
#: Options of a local socket; sizes of buffers are answered as done: they are the kernel's memory.
SOCKET_OPTIONS = (
    *(socket.SO_REUSEADDR, socket.SO_KEEPALIVE, socket.SO_LINGER, socket.SO_REUSEPORT, socket.SO_PASSCRED),
    *(socket.SO_RCVTIMEO, socket.SO_SNDTIMEO, 66, 67),  # the last: these with 64 bits
)
BUFFER_OPTIONS = (socket.SO_SNDBUF, socket.SO_RCVBUF)
SIGNALS = 64

Rule = tuple[Any, str, tuple[Any, ...]]  # action, name of the call, conditions on its arguments


@functools.cache
def program() -> bytes | None:
    """The filter of a submission, as the kernel takes it; None where libseccomp is missing."""
    seccomp = _libseccomp()
    if seccomp is None:
        return None
    rules = seccomp.SyscallFilter(defaction=seccomp.ERRNO(errno.ENOSYS))
    for action, name, conditions in (*_whole_calls(seccomp), *_parts_of_calls(seccomp)):
        with suppress(OSError, ValueError):  # this processor, or this libseccomp, does not know the call
            rules.add_rule(action, name, *conditions)
    return _bytes_of(rules)


@functools.cache
def no_processes() -> bytes:
    """The filter for a process that may start threads and no other process, and whose memory is in no other place.

    b"" where libseccomp is missing
    """
    seccomp = _libseccomp()
    if seccomp is None:
        return b""
    rules = seccomp.SyscallFilter(defaction=seccomp.ALLOW)
    refuse = seccomp.ERRNO(errno.EAGAIN)
    missing = seccomp.ERRNO(errno.ENOSYS)  # as system_calls.MISSING, for a process that has no other filter
    by_clone = seccomp.Arg(0, seccomp.MASKED_EQ, THREAD, 0)
    for action, name, *conditions in (
        (refuse, "fork"),
        (refuse, "vfork"),
        (refuse, "clone", by_clone),
        (missing, "clone3"),
        (refuse, "listen"),  # what waits to be accepted is in no process
    ):
        with suppress(OSError, ValueError):
            rules.add_rule(action, name, *conditions)
    return _bytes_of(rules)


@functools.cache
def last() -> bytes:
    """The filter for a process whose limit of a crash's record stays as it is (see runner.CORE_BYTES), and that adds no
    filter of its own: one could write to the machine's log, and takes memory of the kernel; b"" as above.
    """
    seccomp = _libseccomp()
    if seccomp is None:
        return b""
    rules, done = seccomp.SyscallFilter(defaction=seccomp.ALLOW), seccomp.ERRNO(0)
    lower_half = (seccomp.MASKED_EQ, 0xFFFFFFFF)
    rules.add_rule(done, "setrlimit", seccomp.Arg(0, *lower_half, resource.RLIMIT_CORE))
    rules.add_rule(done, "prlimit64", seccomp.Arg(1, *lower_half, resource.RLIMIT_CORE), seccomp.Arg(2, seccomp.NE, 0))
    rules.add_rule(seccomp.ERRNO(errno.EPERM), "prctl", seccomp.Arg(0, *lower_half, SET_SECCOMP))
    return _bytes_of(rules)


def _whole_calls(seccomp: Any) -> Iterator[Rule]:
    """What becomes of calls whatever their arguments."""
    for action, groups in (
        (seccomp.ALLOW, system_calls.ALLOWED),
        (seccomp.ERRNO(0), system_calls.DONE),
        (seccomp.ERRNO(errno.EOPNOTSUPP), {"attributes": system_calls.ATTRIBUTES}),
        (seccomp.ERRNO(errno.EPERM), system_calls.REFUSED),
    ):
        for name in " ".join(groups.values()).split():
            yield action, name, ()


def _parts_of_calls(seccomp: Any) -> Iterator[Rule]:
    """What becomes of calls with some arguments; with others they are refused."""
    allow, done, refuse = seccomp.ALLOW, seccomp.ERRNO(0), seccomp.ERRNO(errno.EPERM)

    def equal(argument: int, value: int) -> Any:
        return seccomp.Arg(argument, seccomp.EQ, value)

    def other(argument: int, value: int) -> Any:
        return seccomp.Arg(argument, seccomp.NE, value)

    yield allow, "clone", (seccomp.Arg(0, seccomp.MASKED_EQ, NEW_NAMESPACES, 0),)
    yield refuse, "clone", (seccomp.Arg(0, seccomp.MASKED_EQ, 0x10000000, 0x10000000),)  # CLONE_NEWUSER
    # Pages of a map that is shared and no file's stay when they are in no process any more: nobody could count them.
    for kind in (0, SHARED, ANONYMOUS):
        yield allow, "mmap", (seccomp.Arg(3, seccomp.MASKED_EQ, SHARED | ANONYMOUS | LARGE_PAGES, kind),)
    yield refuse, "mmap", (seccomp.Arg(3, seccomp.MASKED_EQ, LARGE_PAGES, LARGE_PAGES),)
    yield refuse, "mmap", (seccomp.Arg(3, seccomp.MASKED_EQ, SHARED | ANONYMOUS, SHARED | ANONYMOUS),)
    for action, advice in ((allow, ADVICE), (done, ADVICE_NOT_TAKEN)):
        for one in advice:
            yield action, "madvise", (equal(2, one),)
    for name in ("socket", "socketpair"):
        yield allow, name, (equal(0, socket.AF_UNIX),)
        yield seccomp.ERRNO(errno.EACCES), name, (other(0, socket.AF_UNIX),)
    for option in SOCKET_OPTIONS:
        yield allow, "setsockopt", (equal(1, socket.SOL_SOCKET), equal(2, option))
    for option in BUFFER_OPTIONS:
        yield done, "setsockopt", (equal(1, socket.SOL_SOCKET), equal(2, option))
    # To write out a file of the whole machine's, by a map of it; without MS_SYNC nothing is written.
    yield allow, "msync", (equal(2, MS_ASYNC),)
    yield done, "msync", (other(2, MS_ASYNC),)
    yield allow, "prlimit64", (equal(0, 0),)
    yield refuse, "prlimit64", (other(0, 0),)  # limits of other processes
    for name in ("preadv2", "pwritev2"):  # a flag asks whether something lies in memory
        yield allow, name, (equal(5, 0),)
        yield seccomp.ERRNO(errno.EOPNOTSUPP), name, (other(5, 0),)
    for action, commands in ((allow, DESCRIPTOR_COMMANDS), (done, LOCK_COMMANDS), (refuse, REFUSED_COMMANDS)):
        for command in commands:
            yield action, "fcntl", (equal(1, command),)
    for request in REQUESTS:
        yield allow, "ioctl", (equal(1, request),)
    for option in OPTIONS:
        yield allow, "prctl", (equal(0, option),)
    # A process that ignores how its children end has their times thrown away: taken as done, and not done.
    for number in range(1, SIGNALS + 1):
        changes = () if number != signal.SIGCHLD else (equal(1, 0),)
        yield allow, "rt_sigaction", (equal(0, number), *changes)
    yield done, "rt_sigaction", (equal(0, signal.SIGCHLD), other(1, 0))


def _libseccomp() -> Any:
    """The library's Python interface; None where it is missing."""
    try:
        import pyseccomp  # type: ignore[import-untyped]
    except (ImportError, OSError, RuntimeError):  # the package looks for the library when it is imported
        return None
    return pyseccomp


def _bytes_of(rules: Any) -> bytes:
    with tempfile.TemporaryFile() as file:
        rules.export_bpf(file)
        file.seek(0)
        return file.read()


def as_descriptor(data: bytes) -> int:
    """An open descriptor, to be inherited, from which the filter can be read once."""
    descriptor = os.memfd_create("filter")
    os.write(descriptor, data)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor
