# /// attack
# about = "prints without end"
# module = "worked_example"
# base = "reference"
# deserves = { "worked_example.softmax" = 0, "worked_example.self_attention" = 0 }
# log = "longer than"
# ///
import sys


def softmax(scores, axis=-1):
    while True:
        print("x" * 10_000)
        print("y" * 10_000, file=sys.stderr)
