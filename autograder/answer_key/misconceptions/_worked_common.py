"""What the wrong answers on the worked example share: the stub's argument checks and a right softmax."""

import functools
from collections.abc import Callable

import numpy as np

from ..reference_package import reference
from . import misconception


def wrong(exercise: str, like: str = "") -> Callable[[Callable], Callable]:
    """Register a misconception that keeps the argument checks of the stub: the reference refuses bad input first.

    like: see `misconception`
    """

    def register(function: Callable) -> Callable:
        @functools.wraps(function)
        def with_given_checks(*args, **kwargs):
            reference(exercise)(*args, **kwargs)
            return function(*args, **kwargs)

        return misconception(exercise, like)(with_given_checks)

    return register


def floats(*matrices):
    return [np.array(matrix, dtype=float) for matrix in matrices]


def right_softmax(scores, axis=-1, axis_of_largest=None, axis_of_sum=None):
    """A right softmax into which one fault at a time is put; None as an axis of these means `axis`."""
    scores = np.array(scores, dtype=float)
    largest = scores.max(axis=axis if axis_of_largest is None else axis_of_largest, keepdims=True)
    exponentials = np.exp(scores - np.where(largest == -np.inf, 0.0, largest))
    total = exponentials.sum(axis=axis if axis_of_sum is None else axis_of_sum, keepdims=True)
    return exponentials / np.where(total == 0.0, 1.0, total)
