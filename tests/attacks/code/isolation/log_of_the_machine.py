# /// attack
# about = "writes to the machine's log, by a filter of system calls that reports each of them"
# module = "worked_example"
# base = "reference"
# deserves = {}
# ///
import ctypes
import struct


def _reached():
    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("rules", ctypes.c_char_p)]

    log = 0x7FFC0000  # SECCOMP_RET_LOG
    program = Program(1, struct.pack("HBBI", 6, 0, 0, log))
    return ctypes.CDLL(None).prctl(22, 2, ctypes.byref(program), 0, 0) == 0
