"""Visible checks of the worked example: plain nested lists, and NumPy arrays in one check of each exercise."""

from math import inf

from selfcheck.plan import call, check, ndarray

from . import _worked_example_attention  # noqa: F401
from ._worked_example_inputs import (
    INPUTS,
    KEYS,
    QUERIES,
    SCORES,
    VALUES,
    W_KEY,
    W_QUERY,
    W_VALUE,
    WEIGHTS,
    part,
    rotations,
    shares,
)

# 2.1 project


@check(
    "worked_example.project",
    sees="the running example's queries, keys and values come out, in this order",
    coinciding=True,
)
def project_running_example(rng):
    return call(INPUTS, W_QUERY, W_KEY, W_VALUE)


@check(
    "worked_example.project",
    sees="queries and keys: each token is a row that multiplies the matrix from the left",
    view=part(slice(0, 2), 3),
    coinciding=True,
)
def project_square(rng):
    length, width = rng.sizes(2, 3, 8)
    return call(rng.normal(length, width), *(rng.normal(width, width) for _ in range(3)))


@check("worked_example.project", sees="length, input width and output width may all differ")
def project_sizes(rng):
    length, d, d_v = rng.sample((3, 5, 7), 3)
    return call(rng.normal(length, 9), rng.normal(9, d), rng.normal(9, d), rng.normal(9, d_v))


@check("worked_example.project", sees="values have a width of their own", view=part(2, 3))
def project_value_width(rng):
    length, d, d_v = sorted(rng.sample((3, 5, 7, 11), 3))
    return call(rng.normal(length, 9), rng.normal(9, d), rng.normal(9, d), rng.normal(9, d_v))


@check(
    "worked_example.project",
    sees="NumPy arrays work and are left as they were, and fractions survive whole-number inputs",
    compares=("values", "unchanged"),
)
def project_numpy(rng):
    length, d, d_v = sorted(rng.sample((3, 5, 7), 3))
    return call(ndarray(rng.integers(length, 11)), *(ndarray(rng.normal(11, width)) for width in (d, d, d_v)))


@check("worked_example.project", sees="what is no matrix, or does not fit the inputs, is refused", compares="error")
def project_errors(rng):
    fits, turned = rng.normal(4, 3), rng.normal(3, 4)
    return [
        call(rng.normal(2, 4), turned, fits, fits),
        call(rng.normal(2, 4), fits, turned, fits),
        call(rng.normal(2, 4), fits, fits, turned),
        call(rng.normal(2, 4), fits, rng.normal(4, 2), fits),
        call(rng.normal(4), fits, fits, fits),
        call([], fits, fits, fits),
        call(None, fits, fits, fits),
        call("inputs", fits, fits, fits),
    ]


# 2.2 dot_scores


@check("worked_example.dot_scores", sees="the running example's scores come out", coinciding=True)
def dot_running_example(rng):
    return call(QUERIES, KEYS)


@check("worked_example.dot_scores", sees="row i belongs to query i, column j to key j", coinciding=True)
def dot_orientation(rng):
    size = rng.integer(3, 6)
    return call(rng.normal(size, size), rng.normal(size, size))


@check("worked_example.dot_scores", sees="queries, keys and features may differ in number")
def dot_sizes(rng):
    queries, keys, width = sorted(rng.sample((3, 5, 7, 9), 3))
    return [
        call(rng.normal(queries, width), rng.normal(keys, width)),
        call(rng.normal(queries, keys), rng.normal(width, keys)),
    ]


@check(
    "worked_example.dot_scores",
    sees="NumPy arrays work and are left as they were, of whole numbers and of fractions",
    compares=("values", "unchanged"),
)
def dot_numpy(rng):
    keys, queries, width = sorted(rng.sample((3, 5, 7, 9), 3))
    return [
        call(ndarray(rng.integers(queries, width)), ndarray(rng.normal(keys, width))),
        call(ndarray(rng.integers(queries, width)), ndarray(rng.integers(keys, width))),
    ]


@check(
    "worked_example.dot_scores",
    sees="queries and keys of different widths are refused, and so is a single row",
    compares="error",
)
def dot_errors(rng):
    return [
        call(rng.normal(3, 4), rng.normal(3, 5)),
        call(rng.normal(2, 3), rng.normal(3, 2)),
        call(rng.normal(3), rng.normal(2, 3)),
        call(rng.normal(2, 3), rng.normal(3)),
    ]


# 2.3 softmax


@check("worked_example.softmax", sees="the running example's scores give its weights", coinciding=True)
def softmax_running_example(rng):
    return call(SCORES)


@check("worked_example.softmax", sees="without an axis, each row sums to 1, to six digits", tolerance=1e-6)
def softmax_rows(rng):
    return call(rng.normal(*sorted(rng.sizes(2, 3, 8))))


@check("worked_example.softmax", sees="the axis asked for is the one whose weights sum to 1")
def softmax_axis(rng):
    rows, columns = rng.sizes(2, 3, 8)
    return [
        call(rng.normal(rows, columns), 0),
        call(rng.normal(rows, columns), axis=1),
        call(rng.normal(rows, columns), axis=-2),
    ]


@check("worked_example.softmax", sees="vectors and arrays of three axes work along every axis")
def softmax_any_axes(rng):
    sizes = rng.sample((3, 5, 7), 3)
    return [call(rng.normal(5)), *(call(rng.normal(*sizes), axis=axis) for axis in (1, 0, -1))]


@check("worked_example.softmax", sees="scores of 10 000 and of -10 000 give finite, exact weights", coinciding=True)
def softmax_large(rng):
    row = [number / 4 for number in rng.sample(range(12), 4)]
    return [
        call(rotations([10_000.0 + number for number in row])),
        call(rotations([-10_000.0 - number for number in row])),
        call(rotations([10_000.0, -10_000.0, *row[:2]])),
    ]


@check("worked_example.softmax", sees="rows of very different size do not disturb each other")
def softmax_far_apart(rng):
    offsets = rng.sample([10_000, 1_200, 0, -1_200, -10_000], 5)
    return call([[offset + number / 4 for number in rng.sample(range(12), 3)] for offset in offsets])


@check("worked_example.softmax", sees="a score of -inf gets weight 0 and the rest share the 1", coinciding=True)
def softmax_minus_infinity(rng):
    # Beside scores below what people write for minus infinity, too; all of them are exact in single precision.
    scales = ((-12_000.0, 0.25), (-2e9, 256.0))
    low = [[offset - step * number for number in rng.sample(range(12), 3)] for offset, step in scales]
    return [call(rotations([-inf, *rng.normal(3)])), *(call(rotations([-inf, *row])) for row in low)]


@check("worked_example.softmax", sees="a row of nothing but -inf gets zeros")
def softmax_empty_row(rng):
    row = rng.normal(4)
    return call([*rotations(row), [-inf] * 4, [-inf] * 4])


@check("worked_example.softmax", sees="NumPy arrays of whole numbers give fractions")
def softmax_numpy(rng):
    return call(ndarray(rng.integers(*sorted(rng.sizes(2, 3, 8)), low=-2, high=3)))


@check("worked_example.softmax", sees="the scores that came in are left as they were", compares="unchanged")
def softmax_unchanged(rng):
    return [call(ndarray(rng.normal(3, 4))), call(rng.normal(3, 4)), call(ndarray(rng.integers(3, 4)))]


@check("worked_example.softmax", sees="an axis that the scores do not have is refused", compares="error")
def softmax_errors(rng):
    return [call(rng.normal(3, 4), axis=2), call(rng.normal(3, 4), axis=-3), call(rng.normal(3), axis=1)]


# 2.4 weighted_sum


@check("worked_example.weighted_sum", sees="the running example's weights and values give its outputs", coinciding=True)
def mix_running_example(rng):
    return call(WEIGHTS, VALUES)


@check(
    "worked_example.weighted_sum",
    sees="row i of the weights makes output i, its column j weighs value j",
    coinciding=True,
)
def mix_orientation(rng):
    size = rng.integer(3, 6)
    return call(shares(rng, size, size), rng.normal(size, size))


@check("worked_example.weighted_sum", sees="queries, values and features may differ in number")
def mix_sizes(rng):
    queries, keys, width = sorted(rng.sample((3, 5, 7, 9), 3))
    return [
        call(shares(rng, queries, keys), rng.normal(keys, width)),
        call(shares(rng, width, queries), rng.normal(queries, keys)),
    ]


@check("worked_example.weighted_sum", sees="the weights are used as they are, whatever a row sums to")
def mix_row_sums(rng):
    first, second = shares(rng, 2, 5)
    return call([first, [2 * weight for weight in second], [0.25, 0.0, 0.5, 0.0, 0.0]], rng.normal(5, 7))


@check(
    "worked_example.weighted_sum",
    sees="NumPy arrays work and are left as they were, and whole-number values give fractional outputs",
    compares=("values", "unchanged"),
    coinciding=True,
)
def mix_numpy(rng):
    length, width = rng.sizes(2, 3, 8)
    return call(ndarray(shares(rng, length, length)), ndarray(rng.integers(length, width)))


@check("worked_example.weighted_sum", sees="weights that do not fit the values are refused", compares="error")
def mix_errors(rng):
    return [
        call(shares(rng, 3, 4), rng.normal(3, 4)),
        call(shares(rng, 2, 5), rng.normal(6, 2)),
        call(shares(rng, 2, 4), rng.normal(4)),
    ]
