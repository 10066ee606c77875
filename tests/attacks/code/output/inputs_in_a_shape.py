# /// attack
# about = "tells the hidden inputs in the shape of an answer that holds nothing"
# module = "worked_example"
# base = "reference"
# deserves = { "worked_example.softmax" = 0, "worked_example.self_attention" = 0 }
# ///


def softmax(scores, axis=-1):
    import numpy

    flat = numpy.ravel(numpy.asarray(scores, dtype=float))
    return numpy.zeros((0, *(int(abs(x) * 10**6) + 1 if numpy.isfinite(x) else 1 for x in flat[:6])))
