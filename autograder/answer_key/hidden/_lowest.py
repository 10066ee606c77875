"""Scores that are the smallest number there is: whatever finite number stands for minus infinity is no lower."""

import sys

from selfcheck.checks._encoder_inputs import filled
from selfcheck.plan import tensor

LOWEST = -sys.float_info.max  # of float64; and below the smallest number of every narrower dtype


def with_lowest_scores(state, *attentions):
    """The state of a layer in which every score of these attentions is the smallest number.

    attentions: prefixes of the names of a MultiHeadAttention's parameters
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
    return tensor([[value if (i, j) == (0, place) else 0.0 for j in range(columns)] for i in range(rows)])
