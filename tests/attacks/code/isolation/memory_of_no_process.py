# /// attack
# about = "takes memory that belongs to no process, so that nobody counts it"
# module = "worked_example"
# base = "reference"
# deserves = {}
# log = "ctypes"
# ///
import ctypes


def _reached():
    library = ctypes.CDLL(None)
    if library.shmget(0, ctypes.c_size_t(2**20), 0o1600) >= 0:
        return True
    return library.memfd_create(b"hoard", 0) >= 0 or library.syscall(447, 0) >= 0  # the last: memfd_secret
