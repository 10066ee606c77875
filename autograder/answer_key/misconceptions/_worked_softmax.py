"""Wrong softmaxes, each as somebody would really write it, with one fault only."""

import math

import numpy as np

from ._worked_common import right_softmax, wrong


@wrong("worked_example.softmax")
def over_the_queries(scores, axis=-1):
    return right_softmax(scores, axis=0)


@wrong("worked_example.softmax")
def axis_ignored(scores, axis=-1):
    return right_softmax(scores, axis=-1)


@wrong("worked_example.softmax")
def over_everything(scores, axis=-1):
    scores = np.array(scores, dtype=float)
    exponentials = np.exp(scores - scores.max())
    return exponentials / exponentials.sum()


@wrong("worked_example.softmax")
def sums_without_keepdims(scores, axis=-1):
    scores = np.array(scores, dtype=float)
    largest = scores.max(axis=axis, keepdims=True)
    exponentials = np.exp(scores - np.where(largest == -np.inf, 0.0, largest))
    total = exponentials.sum(axis=axis)
    return exponentials / np.where(total == 0.0, 1.0, total)


@wrong("worked_example.softmax")
def no_exponential(scores, axis=-1):
    scores = np.array(scores, dtype=float)
    return scores / scores.sum(axis=axis, keepdims=True)


@wrong("worked_example.softmax")
def overflow_to_nan(scores, axis=-1):
    scores = np.array(scores, dtype=float)
    exponentials = np.exp(scores)
    total = exponentials.sum(axis=axis, keepdims=True)
    empty = (scores == -np.inf).all(axis=axis, keepdims=True)
    return exponentials / np.where(empty, 1.0, total)


@wrong("worked_example.softmax")
def overflow_error(scores, axis=-1):
    def one(row):
        if all(score == -math.inf for score in row):
            return np.zeros(len(row))
        exponentials = [math.exp(score) for score in row]
        return np.array([exponential / sum(exponentials) for exponential in exponentials])

    return np.apply_along_axis(lambda row: one(row.tolist()), axis, np.array(scores, dtype=float))


@wrong("worked_example.softmax")
def clipped(scores, axis=-1):
    scores = np.array(scores, dtype=float)
    return right_softmax(np.where(scores == -np.inf, scores, np.clip(scores, -700.0, 700.0)), axis)


@wrong("worked_example.softmax")
def one_maximum_for_all(scores, axis=-1):
    scores = np.array(scores, dtype=float)
    exponentials = np.exp(scores - scores.max())
    total = exponentials.sum(axis=axis, keepdims=True)
    empty = (scores == -np.inf).all(axis=axis, keepdims=True)
    return exponentials / np.where(empty, 1.0, total)


@wrong("worked_example.softmax", like="one_maximum_for_all")
def zeros_where_nothing_is_left(scores, axis=-1):
    scores = np.array(scores, dtype=float)
    exponentials = np.exp(scores - max(scores.max(), np.finfo(float).min))
    total = exponentials.sum(axis=axis, keepdims=True)
    return exponentials / np.where(total == 0.0, 1.0, total)


@wrong("worked_example.softmax", like="one_maximum_for_all")
def zero_at_least(scores, axis=-1):
    scores = np.array(scores, dtype=float)
    exponentials = np.exp(scores - scores.max(initial=0.0))
    total = exponentials.sum(axis=axis, keepdims=True)
    empty = (scores == -np.inf).all(axis=axis, keepdims=True)
    return exponentials / np.where(empty, 1.0, total)


@wrong("worked_example.softmax")
def maximum_of_the_other_axis(scores, axis=-1):
    scores = np.array(scores, dtype=float)
    other = 0 if axis in (-1, scores.ndim - 1) else -1
    return right_softmax(scores, axis, axis_of_largest=other)


@wrong("worked_example.softmax")
def maximum_above_only(scores, axis=-1):
    scores = np.array(scores, dtype=float)
    largest = scores.max(axis=axis, keepdims=True)
    total = np.exp(scores).sum(axis=axis, keepdims=True)
    empty = largest == -np.inf
    return np.exp(scores - np.where(empty, 0.0, largest)) / np.where(empty, 1.0, total)


@wrong("worked_example.softmax")
def empty_row_nan(scores, axis=-1):
    scores = np.array(scores, dtype=float)
    exponentials = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return exponentials / exponentials.sum(axis=axis, keepdims=True)


@wrong("worked_example.softmax")
def empty_row_division(scores, axis=-1):
    def one(row):
        largest = max(row) if max(row) > -math.inf else 0.0
        exponentials = [math.exp(score - largest) for score in row]
        return np.array([exponential / sum(exponentials) for exponential in exponentials])

    return np.apply_along_axis(lambda row: one(row.tolist()), axis, np.array(scores, dtype=float))


@wrong("worked_example.softmax")
def empty_row_uniform(scores, axis=-1):
    scores = np.array(scores, dtype=float)
    return right_softmax(np.where(scores == -np.inf, -1e9, scores), axis)


@wrong("worked_example.softmax")
def minus_infinity_as_zero(scores, axis=-1):
    scores = np.array(scores, dtype=float)
    empty = (scores == -np.inf).all(axis=axis, keepdims=True)
    return np.where(empty, 0.0, right_softmax(np.where(np.isinf(scores), 0.0, scores), axis))


@wrong("worked_example.softmax")
def cut_to_whole_numbers(scores, axis=-1):
    scores = np.array(scores)
    weights = np.zeros_like(scores)
    weights[...] = right_softmax(scores, axis)
    return weights


@wrong("worked_example.softmax")
def rounded(scores, axis=-1):
    return np.round(right_softmax(scores, axis), 1)


@wrong("worked_example.softmax")
def changes_its_input(scores, axis=-1):
    weights = right_softmax(scores, axis)
    scores = np.asarray(scores)
    largest = scores.max(axis=axis, keepdims=True)
    scores -= np.where(largest == -np.inf, 0, largest).astype(scores.dtype)
    return weights
