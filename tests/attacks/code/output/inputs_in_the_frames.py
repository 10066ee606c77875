# /// attack
# about = "looks for the plans of later draws in the runner's frames, and tells them of a shown one"
# module = "worked_example"
# base = "reference"
# deserves = { "worked_example.softmax" = 0, "worked_example.self_attention" = 0 }
# ///


def _plans():
    import sys

    frame, found = sys._getframe(), []
    while frame:
        found += [
            repr(value) for name, value in sorted(frame.f_locals.items()) if name in ("plans", "request", "exercise")
        ]
        frame = frame.f_back
    return "".join(found)


def softmax(scores, axis=-1):
    import hashlib

    raise ValueError(hashlib.sha256(_plans().encode()).hexdigest())
