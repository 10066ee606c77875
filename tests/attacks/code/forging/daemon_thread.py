# /// attack
# about = "a daemon thread that goes on after the answer and writes to every descriptor, again and again"
# module = "worked_example"
# base = "reference"
# deserves = { "worked_example.softmax" = 0, "worked_example.self_attention" = 0 }
# log = "threading"
# ///
import os
import threading


def _write():
    for descriptor in range(3, 64):
        try:
            os.write(descriptor, b'\n{"place": 1, "died": "time"}\n')
        except OSError:
            pass


def _for_ever():
    while True:
        _write()


def softmax(scores, axis=-1):
    threading.Thread(target=_for_ever, daemon=True).start()
    return scores
