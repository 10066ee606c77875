# /// attack
# about = "has the kernel keep semaphores, queues, events, keys, pinned pages and inodes that no process is charged for"
# module = "worked_example"
# base = "reference"
# deserves = {}
# log = "ctypes"
# ///
import ctypes
import os
import platform


def _reached():
    libc = ctypes.CDLL(None, use_errno=True)
    text, room = ctypes.create_string_buffer(b"user"), ctypes.create_string_buffer(256)
    if libc.semget(0, 250, 0o1600) >= 0 or libc.msgget(0, 0o1600) >= 0 or libc.shmget(0, 4096, 0o1600) >= 0:
        return True
    if platform.machine() == "x86_64":
        numbers = (
            (206, 1000, room),  # io_setup
            (240, text, os.O_CREAT | os.O_RDWR, 0o600, None),  # mq_open
            (250, 0, -3, 1),  # keyctl: the session's keyring
            (154, 0, room, 256),  # modify_ldt
            (188, text, text, text, 4, 0),  # setxattr
        )
        for number, *arguments in numbers:
            ctypes.set_errno(0)
            if libc.syscall(number, *arguments) >= 0 or ctypes.get_errno() not in (1, 95):
                return True
    reading, writing = os.pipe()
    before = libc.fcntl(writing, 1032)  # F_GETPIPE_SZ
    libc.fcntl(writing, 1031, 2**20)  # F_SETPIPE_SZ
    return libc.fcntl(writing, 1032) > before or os.path.exists("/dev/ptmx")
