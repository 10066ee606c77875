"""Further forms of wrong softmaxes, whose empty rows nobody has thought of yet, and of wrong layers."""

import numpy as np

from ._worked_common import floats, right_softmax, wrong
from ._worked_layer import attend, project, steps

SOFTMAX, LAYER = "worked_example.softmax", "worked_example.self_attention"


def softmax(like=""):
    def register(function):
        def quietly(scores, axis=-1):
            with np.errstate(all="ignore"):
                return function(floats(scores)[0], axis)

        quietly.__name__ = function.__name__
        wrong(SOFTMAX, like)(quietly)
        return function

    return register


def exponentials(scores, axis):
    return np.exp(scores - scores.max(axis=axis, keepdims=True))


def shares(some, axis):
    return some / some.sum(axis=axis, keepdims=True)


@softmax(like="over_everything")
def from_row_maxima(scores, axis):
    return exponentials(scores, axis) / exponentials(scores, axis).sum()


@softmax(like="overflow_to_nan")
def zero_totals_replaced(scores, axis):
    total = np.exp(scores).sum(axis=axis, keepdims=True)
    return np.exp(scores) / np.where(total == 0.0, 1.0, total)


@softmax(like="overflow_to_nan")
def as_the_formula_says(scores, axis):
    return shares(np.exp(scores), axis)


@softmax(like="overflow_to_nan")
def repaired(scores, axis):
    return np.nan_to_num(shares(np.exp(scores), axis))


@softmax(like="smallest_subtracted")
def everywhere(scores, axis):
    return shares(np.exp(scores - scores.min(axis=axis, keepdims=True)), axis)


@softmax(like="clipped")
def at_fifty(scores, axis):
    return shares(np.exp(np.clip(scores, -50.0, 50.0)), axis)


@softmax(like="not_divided")
def by_the_largest(scores, axis):
    largest = scores.max(axis=axis, keepdims=True)
    found = np.exp(scores - np.where(largest == -np.inf, 0.0, largest))
    return found / found.max(axis=axis, keepdims=True)


@softmax()
def one_added_to_the_total(scores, axis):
    largest = scores.max(axis=axis, keepdims=True)
    found = np.exp(scores - np.where(largest == -np.inf, 0.0, largest))
    return found / (found.sum(axis=axis, keepdims=True) + 1.0)


@softmax(like="scaled_too")
def by_the_last_axis(scores, axis):
    return right_softmax(scores / np.sqrt(scores.shape[-1]), axis)


@wrong(SOFTMAX, like="cut_to_whole_numbers")
def exponentials_cut_off(scores, axis=-1):
    scores = np.array(scores)
    found = np.zeros_like(scores)
    with np.errstate(all="ignore"):
        largest = scores.max(axis=axis, keepdims=True)
        found[...] = np.exp(scores - np.where(np.isneginf(largest), 0, largest))
        total = found.sum(axis=axis, keepdims=True)
        return found / np.where(total == 0, 1, total)


# 2.5 self_attention
@wrong(LAYER)
def rest_cut_off(inputs, w_query, w_key, w_value, scale=False):
    q, k, v = project(inputs, w_query, w_key, w_value)
    return attend(q @ k.T // np.sqrt(k.shape[1]) if scale else q @ k.T, v)


@wrong(LAYER)
def values_added(inputs, w_query, w_key, w_value, scale=False):
    scores, values = steps(inputs, w_query, w_key, w_value, scale)
    outputs, weights = attend(scores, values)
    return outputs + values, weights


@wrong(LAYER)
def outputs_scaled_alone(inputs, w_query, w_key, w_value, scale=False):
    scores, values = steps(inputs, w_query, w_key, w_value)
    outputs, weights = attend(scores, values)
    return outputs / (np.sqrt(len(w_key[0])) if scale else 1.0), weights


def _root_of(number, name, like=""):
    def wrongly(inputs, w_query, w_key, w_value, scale=False):
        q, k, v = project(inputs, w_query, w_key, w_value)
        return attend(q @ k.T / (np.sqrt(number) if scale else 1.0), v)

    wrongly.__name__ = name
    wrong(LAYER, like)(wrongly)


_root_of(4, "width_written_in")
_root_of(3, "three", like="width_written_in")


def _rounded(digits, name, like=""):
    def wrongly(inputs, w_query, w_key, w_value, scale=False):
        scores, values = steps(inputs, w_query, w_key, w_value, scale)
        weights = right_softmax(scores).round(digits)
        return weights @ values, weights

    wrongly.__name__ = name
    wrong(LAYER, like)(wrongly)


_rounded(2, "to_two_digits", like="weights_rounded")
_rounded(3, "to_three_digits", like="weights_rounded")


@softmax(like="negative_exponents")
def below_the_largest(scores, axis):
    return shares(np.exp(scores.max(axis=axis, keepdims=True) - scores), axis)


@softmax(like="negative_exponents")
def empty_rows_guarded(scores, axis):
    largest = scores.max(axis=axis, keepdims=True)
    found = np.exp(np.where(np.isfinite(largest), largest, 0.0) - scores)
    total = found.sum(axis=axis, keepdims=True)
    return found / np.where(total == 0.0, 1.0, total)


@softmax(like="negative_exponents")
def of_the_difference(scores, axis):
    largest = scores.max(axis=axis, keepdims=True)
    return shares(np.exp(-(scores - np.where(np.isfinite(largest), largest, 0.0))), axis)


@softmax()
def exponentials_squared(scores, axis):
    return right_softmax(2.0 * scores, axis)


@softmax()
def always_axis_one(scores, axis):
    return right_softmax(scores, 1)


@softmax()
def largest_absolute_subtracted(scores, axis):
    largest = abs(scores).max(axis=axis, keepdims=True)
    found = np.exp(scores - np.where(np.isfinite(largest), largest, 0.0))
    total = found.sum(axis=axis, keepdims=True)
    return found / np.where(total == 0.0, 1.0, total)


@softmax(like="maximum_above_only")
def empty_rows_not_guarded(scores, axis):
    return exponentials(scores, axis) / np.exp(scores).sum(axis=axis, keepdims=True)


@softmax(like="largest_absolute_subtracted")
def zero_at_least(scores, axis):
    found = np.exp(scores - np.maximum(0.0, scores.max(axis=axis, keepdims=True)))
    total = found.sum(axis=axis, keepdims=True)
    return found / np.where(total == 0.0, 1.0, total)


@softmax(like="largest_absolute_subtracted")
def nothing_left_to_divide(scores, axis):
    found = np.exp(scores - np.maximum(0.0, scores.max(axis=axis, keepdims=True)))
    empty = (scores == -np.inf).all(axis=axis, keepdims=True)
    return found / np.where(empty, 1.0, found.sum(axis=axis, keepdims=True))


@softmax()
def overflow_replaced(scores, axis):
    found = np.exp(scores)
    infinite = np.isinf(found)
    found = np.where(infinite.any(axis=axis, keepdims=True), infinite, found)
    total = found.sum(axis=axis, keepdims=True)
    return found / np.where(total == 0.0, 1.0, total)


@softmax(like="overflow_replaced")
def by_a_large_number(scores, axis):
    found = np.minimum(np.exp(scores), 1e300)
    total = found.sum(axis=axis, keepdims=True)
    return found / np.where(total == 0.0, 1.0, total)


@softmax(like="overflow_replaced")
def with_zero_totals(scores, axis):
    return shares(np.minimum(np.exp(scores), 1e300), axis)
