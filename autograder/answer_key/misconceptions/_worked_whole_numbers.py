"""Steps of the worked example whose loops add into arrays of whole numbers: each sum on the way is cut off."""

import numpy as np

from ._worked_common import wrong
from ._worked_loops import DOT, MIX, PROJECT


def _product(left, right):
    found = np.zeros((len(left), len(right[0])), dtype=int)
    for i, row in enumerate(left):
        for entry, others in zip(row, right):  # noqa: B905
            for j, number in enumerate(others):
                found[i, j] += entry * number
    return found


@wrong(PROJECT, like="whole_numbers_only")
def added_in_whole_numbers(inputs, w_query, w_key, w_value):
    return tuple(_product(inputs, matrix) for matrix in (w_query, w_key, w_value))


@wrong(DOT, like="whole_scores_only")
def scores_added_in_whole_numbers(queries, keys):
    return _product(queries, [list(column) for column in zip(*keys)])  # noqa: B905


@wrong(MIX, like="whole_outputs_only")
def outputs_added_in_whole_numbers(weights, values):
    return _product(weights, values)
