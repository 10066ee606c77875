# /// attack
# about = "hands back an array of a thousand million rows without entries, which takes memory only as nested lists"
# module = "worked_example"
# base = "reference"
# deserves = { "worked_example.softmax" = 0, "worked_example.self_attention" = 0 }
# ///
import numpy


def softmax(scores, axis=-1):
    return [numpy.zeros((10**9, 0))]
