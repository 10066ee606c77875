# /// attack
# about = "tells the hidden inputs in the number of the line where it fails, and in that line's text"
# module = "worked_example"
# base = "reference"
# deserves = { "worked_example.softmax" = 0, "worked_example.self_attention" = 0 }
# ///


def softmax(scores, axis=-1):
    import linecache

    import numpy

    flat = numpy.ravel(numpy.asarray(scores, dtype=float))
    line = int(sum(abs(x) for x in flat if numpy.isfinite(x)) * 1000) % 60_000 + 1
    linecache.cache[__file__] = (1, None, [repr(scores) + "\n"] * (line + 1), __file__)
    exec(compile("\n" * line + "raise ValueError", __file__, "exec"), globals())
