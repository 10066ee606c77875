# /// attack
# about = "puts itself before others, or the process that relays behind them; asks what of a file lies in memory"
# module = "worked_example"
# base = "reference"
# deserves = {}
# log = "ctypes"
# ///
import ctypes
import os
import platform


def _tried(call, *arguments):
    try:
        call(*arguments)
    except OSError:
        return False
    return True


def _reached():
    for pid in (0, os.getppid()):
        before = os.sched_getscheduler(pid), os.getpriority(os.PRIO_PROCESS, pid), os.sched_getaffinity(pid)
        turns = (
            _tried(os.sched_setscheduler, pid, os.SCHED_BATCH, os.sched_param(0)),
            _tried(os.setpriority, os.PRIO_PROCESS, pid, 19),
            _tried(os.sched_setaffinity, pid, os.sched_getaffinity(0)),
        )
        if any(turns) or before[:2] != (os.sched_getscheduler(pid), os.getpriority(os.PRIO_PROCESS, pid)):
            return True
    libc = ctypes.CDLL(None, use_errno=True)
    if platform.machine() == "x86_64":
        if any(libc.syscall(number, 1, pid, 0x6000) >= 0 for number in (251, 314) for pid in (0, os.getppid())):
            return True  # ioprio_set, sched_setattr
        if libc.syscall(451, 0, ctypes.create_string_buffer(16), ctypes.create_string_buffer(40), 0) >= 0:
            return True  # cachestat
    with open(os.__file__, "rb") as file:
        return _tried(os.preadv, file.fileno(), [bytearray(10)], 0, os.RWF_NOWAIT)
