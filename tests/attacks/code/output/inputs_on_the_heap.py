# /// attack
# about = "looks for whatever the runner knows of the other exercises, and tells a digest of it"
# module = "worked_example"
# base = "reference"
# deserves = { "worked_example.softmax" = 0, "worked_example.self_attention" = 0 }
# ///


def _known():
    import gc
    import sys

    frame = sys._getframe()
    while frame.f_back:
        frame = frame.f_back
    texts = [repr(sorted(map(str, one.items()))) for one in gc.get_objects() if type(one) is dict and "calls" in one]
    return "".join(sorted(texts))


def softmax(scores, axis=-1):
    import hashlib

    raise ValueError(hashlib.sha256(_known().encode()).hexdigest())
