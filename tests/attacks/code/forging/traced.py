# /// attack
# about = "sets a trace and a profile function that return whenever the runner looks at an answer"
# module = "worked_example"
# deserves = 0
# ///
import sys
import threading


def _trace(frame, event, argument):
    if frame.f_code.co_name in ("carry_out", "pack", "answer"):
        frame.f_locals["value"] = 1.0
        if event == "return":
            frame.f_locals.clear()
    return _trace


sys.settrace(_trace)
sys.setprofile(_trace)
threading.settrace(_trace)


def _one(*arguments, **others):
    return 1.0


project = dot_scores = softmax = weighted_sum = self_attention = _one
