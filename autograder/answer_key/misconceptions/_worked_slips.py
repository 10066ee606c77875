"""Wrong steps of the worked example that another function or another argument leads to."""

import numpy as np

from ._worked_common import floats, right_softmax, wrong
from ._worked_layer import attend, steps
from ._worked_loops import DOT, MIX, PROJECT, projections

SOFTMAX, LAYER = "worked_example.softmax", "worked_example.self_attention"


def _inputs_cut_off(name, cut):
    def wrongly(inputs, w_query, w_key, w_value):
        return projections(cut(floats(inputs)[0]), w_query, w_key, w_value)

    wrongly.__name__ = name
    wrong(PROJECT, "fractions_cut_off_first")(wrongly)


_inputs_cut_off("of_the_inputs", np.trunc)


def _compared(name, compare, like=""):
    def wrongly(queries, keys):
        queries, keys = floats(queries, keys)
        return compare(queries[:, None, :], keys[None, :, :])

    wrongly.__name__ = name
    wrong(DOT, like)(wrongly)


_compared("features_added", lambda q, k: (q + k).sum(axis=-1))
_compared("sums_multiplied", lambda q, k: q.sum(axis=-1) * k.sum(axis=-1))
_compared("absolute_differences", lambda q, k: abs(q - k).sum(axis=-1), like="distances")
_compared("squared", lambda q, k: ((q - k) ** 2).sum(axis=-1), like="distances")
_compared("differences", lambda q, k: (q - k).sum(axis=-1))


@wrong(SOFTMAX)
def powers_of_ten(scores, axis=-1):
    return right_softmax(floats(scores)[0] * np.log(10.0), axis)


@wrong(SOFTMAX)
def divided_by_the_maximum(scores, axis=-1):
    scores = floats(scores)[0]
    with np.errstate(all="ignore"):
        exponentials = np.exp(scores / scores.max(axis=axis, keepdims=True))
        return exponentials / exponentials.sum(axis=axis, keepdims=True)


@wrong(SOFTMAX, like="divided_by_the_maximum")
def of_all(scores, axis=-1):
    scores = floats(scores)[0]
    with np.errstate(all="ignore"):
        exponentials = np.exp(scores / abs(scores).max(initial=0.0))
        return exponentials / exponentials.sum(axis=axis, keepdims=True)


@wrong(MIX)
def added_to_the_values(weights, values):
    weights, values = floats(weights, values)
    return (weights[:, :, None] + values[None]).sum(axis=1)


@wrong(LAYER)
def scores_for_weights(inputs, w_query, w_key, w_value, scale=False):
    scores, values = steps(inputs, w_query, w_key, w_value, scale)
    return scores @ values, attend(scores, values)[1]
