"""More wrong sums of values, one fault each."""

import numpy as np

from ._worked_common import floats, wrong
from ._worked_loops import MIX, outputs_of

# 2.4 weighted_sum


@wrong(MIX)
def last_value_left_out(weights, values):
    weights, values = floats(weights, values)
    return weights[:, :-1] @ values[:-1]


@wrong(MIX)
def first_value_left_out(weights, values):
    weights, values = floats(weights, values)
    return weights[:, 1:] @ values[1:]


@wrong(MIX)
def values_counted_by_queries(weights, values):
    weights, values = floats(weights, values)
    return weights[:, : len(weights)] @ values[: len(weights)]


@wrong(MIX)
def outputs_counted_by_values(weights, values):
    weights, values = floats(weights, values)
    return [[weights[i] @ values[:, f] for f in range(values.shape[1])] for i in range(len(values))]


@wrong(MIX)
def features_counted_by_values(weights, values):
    weights, values = floats(weights, values)
    return weights @ values[:, : len(values)]


@wrong(MIX)
def last_term_kept(weights, values):
    weights, values = floats(weights, values)
    return np.outer(weights[:, -1], values[-1])


@wrong(MIX)
def first_term_kept(weights, values):
    weights, values = floats(weights, values)
    return np.outer(weights[:, 0], values[0])


@wrong(MIX)
def largest_weight_alone(weights, values):
    weights, values = floats(weights, values)
    return values[weights.argmax(axis=1)] * weights.max(axis=1, keepdims=True)


@wrong(MIX)
def plain_mean_of_the_values(weights, values):
    weights, values = floats(weights, values)
    return np.tile(values.mean(axis=0), (len(weights), 1))


@wrong(MIX)
def weights_left_out(weights, values):
    weights, values = floats(weights, values)
    return np.tile(values.sum(axis=0), (len(weights), 1))


@wrong(MIX)
def asterisk_for_a_product(weights, values):
    weights, values = floats(weights, values)
    return weights * values


@wrong(MIX)
def weights_of_whole_numbers(weights, values):
    weights, values = floats(weights, values)
    return np.trunc(weights) @ values


@wrong(MIX)
def whole_outputs_only(weights, values):
    return np.trunc(outputs_of(weights, values))


@wrong(MIX)
def values_changed(weights, values):
    outputs = outputs_of(weights, values)
    for row in values:
        row[0] += 1
    return outputs
