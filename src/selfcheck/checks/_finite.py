"""Views that look at some facts about an answer, and see none where its numbers are NaN or infinite."""

import functools
import math

from selfcheck.arrays import Array


def of_numbers(view):
    """A view that gives an answer back as it is, which no view's result resembles, where a number of it is none."""

    @functools.wraps(view)
    def whole(one, answer):
        return view(one, answer) if is_finite(answer) else answer

    return whole


def is_finite(answer):
    """Whether all numbers of an answer are finite."""
    if isinstance(answer, (tuple, list)):
        return all(map(is_finite, answer))
    return not isinstance(answer, Array) or not answer.floating or all(map(math.isfinite, answer.values()))
