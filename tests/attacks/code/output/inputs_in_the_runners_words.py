# /// attack
# about = "tells the hidden inputs in the words of the runner: a stub, a refusal, a mismatch, a limit"
# module = "worked_example"
# base = "reference"
# deserves = { "worked_example.softmax" = 0, "worked_example.self_attention" = 0 }
# ///

import itertools

_turn = itertools.count()


class Stopped(Exception):
    pass


class NotRefused(Exception):
    pass


class StateMismatch(Exception):
    pass


def softmax(scores, axis=-1):
    kinds = (Stopped, NotRefused, StateMismatch, NotImplementedError)
    raise kinds[next(_turn) % 4](f"exercise 1.2: {scores!r}")
