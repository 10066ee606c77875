"""Numbers that checks of several modules share: the smallest of float32, tensors of one number, rows of an array."""

import math

from selfcheck.arrays import nest
from selfcheck.plan import tensor

LOWEST = -3.4028234663852886e38  # the smallest number of float32


def filled(like, value):
    """A tensor of the shape and dtype of another, of one value throughout."""
    return tensor(nest([float(value)] * math.prod(like.shape), like.shape), like.dtype)


def rows_of(answer):
    """The last axis of an array, as lists."""
    values, width = answer.values(), answer.shape[-1]
    return [values[start : start + width] for start in range(0, len(values), width)]
