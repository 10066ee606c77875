# /// attack
# about = "attaches to the process above it, reads and writes its memory"
# module = "worked_example"
# base = "reference"
# deserves = {}
# ///
import ctypes
import os


def _reached():
    libc = ctypes.CDLL(None, use_errno=True)
    attach, seize = 16, 0x4206
    for request in (attach, seize):
        if libc.ptrace(request, os.getppid(), None, None) == 0:
            return True
    buffer = ctypes.create_string_buffer(8)

    class Part(ctypes.Structure):
        _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]

    here, there = Part(ctypes.addressof(buffer), 8), Part(id(None), 8)
    arguments = os.getppid(), ctypes.byref(here), 1, ctypes.byref(there), 1, 0
    return libc.process_vm_readv(*arguments) > 0
