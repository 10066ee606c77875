# /// attack
# about = "an object whose finaliser writes answers to other exercises into every open descriptor"
# module = "worked_example"
# base = "reference"
# deserves = { "worked_example.softmax" = 0, "worked_example.self_attention" = 0 }
# log = "__del__"
# ///
import contextlib
import os


class _Last:
    def __del__(self):
        for descriptor in range(3, 64):
            with contextlib.suppress(OSError):
                os.write(descriptor, b'\n{"place": 3, "said": "e30="}\n')


def softmax(scores, axis=-1):
    _Last()
    return scores
