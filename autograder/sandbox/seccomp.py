"""Which system calls a submission may not make: seccomp filters, made by libseccomp.

What attention needs of a kernel is memory, files and time. What is refused here is what reaches other processes, other
namespaces or the kernel itself: the calls behind most ways out of a container.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import functools
import os
import signal
import tempfile
from typing import Any

#: Refused with EPERM, by what they reach.
REFUSED = {
    "other processes": "ptrace process_vm_readv process_vm_writev process_madvise kcmp pidfd_open pidfd_getfd",
    "namespaces and mounts": "unshare setns mount umount umount2 pivot_root move_mount mount_setattr open_tree fsopen "
    "fsconfig fsmount fspick chroot",
    "keys": "add_key keyctl request_key",
    "the kernel's own machines": "io_uring_setup io_uring_enter io_uring_register bpf perf_event_open userfaultfd "
    "fanotify_init seccomp",
    "files beside their paths": "name_to_handle_at open_by_handle_at",
    "locks that other sandboxes see": "flock",
    "memory's place": "mbind migrate_pages move_pages set_mempolicy",
    "who opens which file": "inotify_init inotify_init1 inotify_add_watch mincore",
    "memory that is nobody's": "memfd_create memfd_secret shmget",
    "the machine": "syslog personality init_module finit_module delete_module kexec_load kexec_file_load reboot swapon "
    "swapoff quotactl quotactl_fd acct settimeofday clock_settime adjtimex clock_adjtime lookup_dcookie",
}
NEW_USER_NAMESPACE, THREAD = 0x10000000, 0x00010000  # CLONE_NEWUSER, CLONE_THREAD
UNIX_SOCKETS = 1  # AF_UNIX
#: Locks and notices that other sandboxes see; of the numbers, F_OFD_SETLK and F_OFD_SETLKW.
LOCKS = (fcntl.F_SETLK, fcntl.F_SETLKW, fcntl.F_SETLEASE, fcntl.F_NOTIFY, 37, 38)


@functools.cache
def program() -> bytes | None:
    """The filter of a submission, as the kernel takes it; None where libseccomp is missing."""
    seccomp = _libseccomp()
    if seccomp is None:
        return None
    rules = seccomp.SyscallFilter(defaction=seccomp.ALLOW)
    refuse = seccomp.ERRNO(errno.EPERM)
    for name in " ".join(REFUSED.values()).split():
        _add(rules, refuse, name)
    # The flags of clone3 lie in memory, where a filter cannot look: C libraries then fall back to clone.
    _add(rules, seccomp.ERRNO(errno.ENOSYS), "clone3")
    new_user = seccomp.Arg(0, seccomp.MASKED_EQ, NEW_USER_NAMESPACE, NEW_USER_NAMESPACE)
    _add(rules, refuse, "clone", new_user)
    _add(rules, seccomp.ERRNO(errno.EACCES), "socket", seccomp.Arg(0, seccomp.NE, UNIX_SOCKETS))
    _add(rules, refuse, "prlimit64", seccomp.Arg(0, seccomp.NE, 0))  # limits of other processes
    # Taken as done, and not done: a process that ignores how its children end has their times thrown away.
    for name in ("rt_sigaction", "sigaction", "signal"):
        ends = seccomp.Arg(0, seccomp.EQ, signal.SIGCHLD)
        _add(rules, seccomp.ERRNO(0), name, ends, seccomp.Arg(1, seccomp.NE, 0))
    for command in LOCKS:
        _add(rules, refuse, "fcntl", seccomp.Arg(1, seccomp.EQ, command))
    return _bytes_of(rules)


@functools.cache
def no_processes() -> bytes:
    """The filter for a process that may start threads and no other process; b"" where libseccomp is missing."""
    seccomp = _libseccomp()
    if seccomp is None:
        return b""
    rules = seccomp.SyscallFilter(defaction=seccomp.ALLOW)
    refuse = seccomp.ERRNO(errno.EAGAIN)
    for name in ("fork", "vfork"):
        _add(rules, refuse, name)
    _add(rules, refuse, "clone", seccomp.Arg(0, seccomp.MASKED_EQ, THREAD, 0))
    return _bytes_of(rules)


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


def _add(rules: Any, action: Any, name: str, *conditions: Any) -> None:
    with contextlib.suppress(OSError, ValueError):  # this processor, or this libseccomp, does not know the call
        rules.add_rule(action, name, *conditions)


def as_descriptor(data: bytes) -> int:
    """An open descriptor, to be inherited, from which the filter can be read once."""
    descriptor = os.memfd_create("filter")
    os.write(descriptor, data)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor
