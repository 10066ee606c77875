"""More wrong softmaxes: other functions, other axes, other numbers for minus infinity."""

import numpy as np

from ._worked_common import right_softmax, wrong
from ._worked_loops import first_row_left_out, last_row_left_out, spoil

SOFTMAX = "worked_example.softmax"


def as_floats(scores):
    return np.array(scores, dtype=float)


def rounded_to_two_digits(weights):
    return weights.round(2)


def rounded_to_three_digits(weights):
    return weights.round(3)


def logarithms_returned(weights):
    return np.log(weights)


for _change in (
    rounded_to_two_digits,
    rounded_to_three_digits,
    logarithms_returned,
    last_row_left_out,
    first_row_left_out,
):
    spoil(SOFTMAX, right_softmax, _change)


@wrong(SOFTMAX)
def negative_exponents(scores, axis=-1):
    scores = as_floats(scores)
    return right_softmax(np.where(scores == -np.inf, scores, -scores), axis)


@wrong(SOFTMAX)
def powers_of_two(scores, axis=-1):
    return right_softmax(as_floats(scores) * np.log(2.0), axis)


@wrong(SOFTMAX)
def sigmoid_for_softmax(scores, axis=-1):
    return 1.0 / (1.0 + np.exp(-as_floats(scores)))


@wrong(SOFTMAX)
def not_divided(scores, axis=-1):
    scores = as_floats(scores)
    largest = scores.max(axis=axis, keepdims=True)
    return np.exp(scores - np.where(largest == -np.inf, 0.0, largest))


@wrong(SOFTMAX)
def exponentials_alone(scores, axis=-1):
    return np.exp(as_floats(scores))


@wrong(SOFTMAX)
def mean_for_sum(scores, axis=-1):
    return right_softmax(scores, axis) * np.shape(scores)[axis]


@wrong(SOFTMAX)
def divided_by_the_number_too(scores, axis=-1):
    return right_softmax(scores, axis) / np.shape(scores)[axis]


@wrong(SOFTMAX)
def softmax_twice(scores, axis=-1):
    weights = right_softmax(scores, axis)
    return np.where(weights.sum(axis=axis, keepdims=True) == 0.0, 0.0, right_softmax(weights, axis))


@wrong(SOFTMAX)
def scaled_too(scores, axis=-1):
    return right_softmax(as_floats(scores) / np.sqrt(np.shape(scores)[axis]), axis)


@wrong(SOFTMAX)
def fractions_cut_off_first(scores, axis=-1):
    scores = as_floats(scores)
    return right_softmax(np.where(scores == -np.inf, scores, np.trunc(scores)), axis)


@wrong(SOFTMAX)
def absolute_scores(scores, axis=-1):
    scores = as_floats(scores)
    return right_softmax(np.where(scores == -np.inf, scores, np.abs(scores)), axis)


@wrong(SOFTMAX)
def nothing_kept_of_the_axis(scores, axis=-1):
    scores = as_floats(scores)
    largest = scores.max(axis=axis)
    exponentials = np.exp(scores - np.where(largest == -np.inf, 0.0, largest))
    total = exponentials.sum(axis=axis)
    return exponentials / np.where(total == 0.0, 1.0, total)


@wrong(SOFTMAX)
def maximum_without_keepdims(scores, axis=-1):
    scores = as_floats(scores)
    largest = scores.max(axis=axis)
    exponentials = np.exp(scores - np.where(largest == -np.inf, 0.0, largest))
    total = exponentials.sum(axis=axis, keepdims=True)
    return exponentials / np.where(total == 0.0, 1.0, total)


@wrong(SOFTMAX)
def only_axis_zero_told_apart(scores, axis=-1):
    return right_softmax(scores, 0 if axis == 0 else -1)


@wrong(SOFTMAX)
def turned_and_not_turned_back(scores, axis=-1):
    return right_softmax(np.moveaxis(as_floats(scores), axis, -1))


@wrong(SOFTMAX)
def maximum_along_the_last_axis(scores, axis=-1):
    return right_softmax(scores, axis, axis_of_largest=-1)


@wrong(SOFTMAX)
def sum_along_the_last_axis(scores, axis=-1):
    return right_softmax(scores, axis, axis_of_sum=-1)


@wrong(SOFTMAX)
def mean_subtracted(scores, axis=-1):
    scores = as_floats(scores)
    finite = np.where(scores == -np.inf, 0.0, scores)
    exponentials = np.exp(scores - finite.mean(axis=axis, keepdims=True))
    total = exponentials.sum(axis=axis, keepdims=True)
    return exponentials / np.where(total == 0.0, 1.0, total)


@wrong(SOFTMAX)
def smallest_subtracted(scores, axis=-1):
    scores = as_floats(scores)
    smallest = scores.min(axis=axis, keepdims=True)
    exponentials = np.exp(scores - np.where(smallest == -np.inf, 0.0, smallest))
    total = exponentials.sum(axis=axis, keepdims=True)
    return exponentials / np.where(total == 0.0, 1.0, total)


@wrong(SOFTMAX)
def rows_with_infinity_emptied(scores, axis=-1):
    gone = (as_floats(scores) == -np.inf).any(axis=axis, keepdims=True)
    return np.where(gone, 0.0, right_softmax(scores, axis))


def _with_number(name, number):
    def wrongly(scores, axis=-1):
        scores = as_floats(scores)
        empty = (scores == -np.inf).all(axis=axis, keepdims=True)
        return np.where(empty, 0.0, right_softmax(np.where(scores == -np.inf, number, scores), axis))

    wrongly.__name__ = name
    wrong(SOFTMAX)(wrongly)


_with_number("minus_1e9_for_infinity", -1e9)
_with_number("minus_1e4_for_infinity", -1e4)


def _with_a_number_in_the_total(number, like=""):
    def wrongly(scores, axis=-1):
        scores = as_floats(scores)
        largest = scores.max(axis=axis, keepdims=True)
        exponentials = np.exp(scores - np.where(largest == -np.inf, 0.0, largest))
        return exponentials / (exponentials.sum(axis=axis, keepdims=True) + number)

    wrongly.__name__ = f"of_{number:.0e}".replace("-", "minus_") if like else "number_added_to_the_total"
    wrong(SOFTMAX, like)(wrongly)


_with_a_number_in_the_total(1e-3)
for _number in (1e-1, 1e-2, 1e-4):
    _with_a_number_in_the_total(_number, "number_added_to_the_total")


@wrong(SOFTMAX)
def empty_row_uniform_from_minus_1e4(scores, axis=-1):
    scores = as_floats(scores)
    return right_softmax(np.where(scores == -np.inf, -1e4, scores), axis)


@wrong(SOFTMAX)
def empty_row_shared_out(scores, axis=-1):
    weights = right_softmax(scores, axis)
    empty = weights.sum(axis=axis, keepdims=True) == 0.0
    return np.where(empty, 1.0 / np.shape(scores)[axis], weights)
