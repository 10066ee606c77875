# /// attack
# about = "walks up the frames to the runner and takes an expected value from its locals"
# module = "worked_example"
# deserves = 0
# ///
import sys


def _steal(*arguments, **others):
    frame, seen = sys._getframe(), []
    while frame:
        for name, value in {**frame.f_globals, **frame.f_locals}.items():
            if name in ("expected", "want", "wanted", "answer", "key", "check", "reference", "solution"):
                seen.append(value)
        frame = frame.f_back
    return seen[0] if seen else None


project = dot_scores = softmax = weighted_sum = self_attention = _steal
