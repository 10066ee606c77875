# /// attack
# about = "looks for the hidden inputs while it is imported, and tells them in the error of the import"
# module = "worked_example"
# deserves = 0
# log = "cannot be imported"
# ///


def _known():
    import hashlib
    import sys

    frame, found = sys._getframe(), []
    while frame:
        found += [
            repr(value) for name, value in sorted(frame.f_locals.items()) if name in ("plans", "request", "exercise")
        ]
        frame = frame.f_back
    return hashlib.sha256("".join(found).encode()).hexdigest()


raise ImportError(_known())
