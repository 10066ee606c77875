# /// attack
# about = "speaks after the end: atexit, __del__, a daemon thread"
# module = "worked_example"
# deserves = 0
# ///
import atexit
import os
import threading
import time

_FRAME = b'{"place": 0, "answers": {"0": [{"value": {"kind": "number", "type": "int", "value": "1"}}]}}\n'


def _speak():
    for number in range(3, 64):
        try:
            os.write(number, _FRAME)
        except OSError:
            pass


class Last:
    def __del__(self):
        _speak()


def _every_moment():
    while True:
        _speak()
        time.sleep(0.001)


atexit.register(_speak)
_kept = Last()
threading.Thread(target=_every_moment, daemon=True).start()
