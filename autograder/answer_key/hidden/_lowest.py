"""Scores that are the smallest number of float32: whatever finite number stands for minus infinity is no lower.

They are in float32: a right answer may compute a softmax in it whatever the dtype of its arguments. Where they stand
a query sees just one key: beside so large a number the logarithm of a sum of exponentials is lost, which a right answer
may take, and what is hidden may become -inf by adding, which must not be all there is.
"""

import functools
import math

from selfcheck.arrays import Array, array
from selfcheck.checks._numbers import LOWEST, filled
from selfcheck.plan import tensor

DTYPE = "float32"

#: Deviation of what is added to a model's parameters so that its scores are billions, of either sign.
STIRRED_MUCH = 1000.0

ONE_OF_FIVE = [[False, False, True, False, False], [True, False, False, False, False]]  # keys that are not padding
FIRST_OF_FIVE = [[True, False, False, False, False]] * 2


def with_lowest_scores(state, *attentions):
    """The state of a layer in which every score of these attentions is the smallest number.

    state: in DTYPE; attentions: prefixes of the names of a MultiHeadAttention's parameters
    A head must be one feature wide: then the score is the product of two biases, exactly.
    """
    changed = {}
    for prefix in attentions:
        for name, value in (("q_proj", LOWEST), ("k_proj", 1.0)):
            weight, bias = f"{prefix}{name}.weight", f"{prefix}{name}.bias"
            changed |= {weight: filled(state[weight], 0), bias: filled(state[bias], value)}
    return state | changed


def of_zeros_and(rows, columns, place, value):
    """A matrix of zeros but for one entry of its first row."""
    return tensor([[value if (i, j) == (0, place) else 0.0 for j in range(columns)] for i in range(rows)], DTYPE)


def by_largest(view):
    """The view of answers all of whose numbers are divided by the largest: rounding errors go with that.

    At parameters as large as STIRRED_MUCH a right model may overflow, for instance one of several layers without a
    norm between them: there, what is no finite number counts as 0 in all uses.
    """

    @functools.wraps(view)
    def scaled(step, answer):
        largest = max(map(abs, _numbers(answer)), default=0.0) or 1.0
        return view(step, _divided(answer, largest, may_overflow(step)))

    scaled.may_overflow = may_overflow
    return scaled


def may_overflow(step):
    """Whether a right model may have no finite numbers, for its parameters are too large."""
    return step.get("stirred") == STIRRED_MUCH


def _numbers(answer):
    """The finite numbers of an answer, of each use of a module."""
    if isinstance(answer, (tuple, list)):
        return [number for part in answer for number in _numbers(part)]
    return filter(math.isfinite, answer.values()) if isinstance(answer, Array) and answer.floating else []


def _divided(answer, by, overflows):
    if isinstance(answer, (tuple, list)):
        return type(answer)(_divided(part, by, overflows) for part in answer)
    if not isinstance(answer, Array) or not answer.floating:
        return answer
    numbers = (0.0 if overflows and not math.isfinite(number) else number / by for number in answer.values())
    divided = array(list(numbers), dtype=answer.dtype)
    return Array(answer.kind, answer.dtype, answer.shape, divided.data)
