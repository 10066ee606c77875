# /// attack
# about = "tells the hidden inputs in the numbers of an answer, and where it begins to differ"
# module = "worked_example"
# base = "reference"
# deserves = { "worked_example.softmax" = 0, "worked_example.self_attention" = 0 }
# ///


def softmax(scores, axis=-1):
    import numpy

    found = numpy.array(scores, dtype=float)
    found[~numpy.isfinite(found)] = 0.0
    return found * 1000.0 + 7.0
