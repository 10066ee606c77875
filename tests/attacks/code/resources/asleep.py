# /// attack
# about = "sleeps"
# module = "worked_example"
# base = "reference"
# deserves = { "worked_example.softmax" = 0, "worked_example.self_attention" = 0 }
# log = "longer than"
# ///
import time


def softmax(scores, axis=-1):
    time.sleep(3600)
