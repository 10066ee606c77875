# /// attack
# about = "calls itself without end, after the limit has been raised beyond the stack"
# module = "worked_example"
# base = "reference"
# deserves = { "worked_example.softmax" = 0, "worked_example.self_attention" = 0 }
# ///
import sys


def softmax(scores, axis=-1):
    sys.setrecursionlimit(2**31 - 1)

    def deeper(*arguments):
        return deeper(deeper, *arguments)

    return deeper()
