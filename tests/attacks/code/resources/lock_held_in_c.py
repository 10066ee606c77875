# /// attack
# about = "loops inside C code, which no exception of Python's interrupts"
# module = "worked_example"
# base = "reference"
# deserves = { "worked_example.softmax" = 0, "worked_example.self_attention" = 0 }
# log = "longer than"
# ///
import re


def softmax(scores, axis=-1):
    return re.match(r"(a|aa)+$", "a" * 200 + "b")
