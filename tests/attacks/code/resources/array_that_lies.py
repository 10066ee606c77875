# /// attack
# about = "hands back an array that claims a shape far beyond its memory"
# module = "worked_example"
# base = "reference"
# deserves = { "worked_example.softmax" = 0, "worked_example.self_attention" = 0 }
# ///
import numpy


def softmax(scores, axis=-1):
    return numpy.lib.stride_tricks.as_strided(numpy.zeros(1), shape=(2**40, 2**10), strides=(0, 0))
