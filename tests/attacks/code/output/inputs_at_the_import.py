# /// attack
# about = "looks for the hidden inputs while it is imported, and tells them in the error of the import"
# module = "worked_example"
# deserves = 0
# log = "cannot be imported"
# ///
import hashlib
import sys

_frame, _seen = sys._getframe(), []
while _frame:
    _seen += [repr(_frame.f_locals.get(name)) for name in ("exercise", "plans", "request")]
    _frame = _frame.f_back
raise ImportError(hashlib.sha256("".join(_seen).encode()).hexdigest())
