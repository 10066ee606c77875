# /// attack
# about = "asks the kernel for keys, rings, probes and mounts"
# module = "worked_example"
# base = "reference"
# deserves = {}
# ///
import ctypes
import platform


def _reached():
    if platform.machine() != "x86_64":
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    text = ctypes.create_string_buffer(b"user")
    numbers = {
        "add_key": (248, text, text, text, 4, -1),
        "keyctl": (250, 0, -3, 1),
        "io_uring_setup": (425, 4, ctypes.create_string_buffer(120)),
        "bpf": (321, 0, ctypes.create_string_buffer(64), 64),
        "perf_event_open": (298, ctypes.create_string_buffer(128), 0, -1, -1, 0),
        "userfaultfd": (323, 1),
        "mount": (165, text, ctypes.create_string_buffer(b"/tmp"), ctypes.create_string_buffer(b"tmpfs"), 0, None),
    }
    return any(libc.syscall(*arguments) >= 0 for arguments in numbers.values())
