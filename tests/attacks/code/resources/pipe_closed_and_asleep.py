# /// attack
# about = "closes every descriptor, so that the grader believes it has answered, and sleeps"
# module = "worked_example"
# base = "reference"
# deserves = { "worked_example.softmax" = 0, "worked_example.self_attention" = 0 }
# ///
import os
import time


def softmax(scores, axis=-1):
    os.closerange(0, 1024)
    time.sleep(3600)
