# /// attack
# about = "makes a user namespace of its own, where it would be root"
# module = "worked_example"
# base = "reference"
# deserves = {}
# ///
import ctypes
import os


def _reached():
    libc = ctypes.CDLL(None, use_errno=True)
    child = os.fork()
    if child == 0:
        os._exit(0 if libc.unshare(0x10000000) == 0 else 1)
    if os.waitpid(child, 0)[1] == 0:
        return True
    stack = ctypes.create_string_buffer(1 << 16)
    entry = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(lambda _: 0)
    top = ctypes.c_void_p(ctypes.addressof(stack) + len(stack) - 64)
    return libc.clone(entry, top, 0x10000000 | 17, None) > 0
