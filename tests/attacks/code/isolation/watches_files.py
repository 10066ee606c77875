# /// attack
# about = "watches which shared files others open, by which two submissions could talk, and what of them is in memory"
# module = "worked_example"
# base = "reference"
# deserves = {}
# log = "ctypes"
# ///
import ctypes
import fcntl
import os


def _reached():
    library = ctypes.CDLL(None)
    if library.inotify_init() >= 0 or library.inotify_init1(0) >= 0:
        return True
    page = ctypes.create_string_buffer(8192)
    start = ctypes.c_void_p((ctypes.addressof(page) + 4095) & ~4095)
    if library.mincore(start, ctypes.c_size_t(4096), ctypes.create_string_buffer(1)) == 0:
        return True
    folder = os.open("/usr", os.O_RDONLY)
    try:
        fcntl.fcntl(folder, fcntl.F_NOTIFY, fcntl.DN_ACCESS)
        return True
    except OSError:
        return False
