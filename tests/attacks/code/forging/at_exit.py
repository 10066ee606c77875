# /// attack
# about = "registers what speaks when the process ends"
# module = "worked_example"
# base = "reference"
# deserves = {}
# log = "atexit"
# ///
import atexit
import contextlib
import os


def _speak():
    for number in range(3, 64):
        with contextlib.suppress(OSError):
            os.write(number, b'\n{"place": 0, "said": "e30="}\n')


atexit.register(_speak)
