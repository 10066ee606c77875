"""Visible checks of the softmax under a mask."""

import math

from selfcheck.plan import call, check, tensor

from ._dtypes import DTYPES
from ._masks_inputs import mixed_rows
from ._numbers import LOWEST

# 4.7 masked_softmax


@check(
    "masks.masked_softmax",
    sees="the allowed entries of a row share a weight of 1, to nine digits; the others get 0",
    tolerance=1e-9,
)
def softmax_masked(rng):
    rows, columns = rng.sizes(2, 4, 8)
    scores, mask = rng.normal(rows, columns), mixed_rows(rng, rows, columns)
    scores[0][mask[0].index(True)] = 0.0  # a score like any other
    return call(tensor(scores), tensor(mask, "bool"))


@check("masks.masked_softmax", sees="large scores do no harm, and a forbidden one has no influence, however large")
def softmax_large(rng):
    scores, mask = rng.normal(5, 7), mixed_rows(rng, 5, 7)
    scores[0][mask[0].index(False)] += 10_000.0
    # Exact in float32 too. Below what people write for minus infinity an allowed score is a score still.
    for row, offset, step in ((1, 1_000.0, 0.25), (2, -12_000.0, 0.25), (3, -2e9, 256.0)):
        scores[row] = [offset + step * round(4 * score) for score in scores[row]]
    alone = [number == 2 for number in range(5)]
    lowest = [LOWEST if allowed else score for allowed, score in zip(alone, rng.normal(5), strict=True)]
    return [
        call(tensor(scores), tensor(mask, "bool")),
        call(tensor([lowest], "float32"), tensor([alone], "bool")),
    ]


@check(
    "masks.masked_softmax", sees="a fully masked row gets zeros, and so does a fully masked slice along another axis"
)
def softmax_empty_row(rng):
    rows, columns = rng.sizes(2, 4, 8)
    mask = mixed_rows(rng, rows, columns)
    mask[rng.integer(0, rows)] = [False] * columns
    across = [list(column) for column in zip(*mask, strict=True)]
    return [
        call(rng.tensor(rows, columns), tensor(mask, "bool")),
        call(rng.tensor(columns, rows), tensor(across, "bool"), dim=0),
    ]


@check("masks.masked_softmax", sees="a score of -inf counts as masked, and a NaN does not: it stays visible")
def softmax_minus_infinity(rng):
    scores, mask = rng.normal(4, 5), mixed_rows(rng, 4, 5)
    scores[0][mask[0].index(True)] = -math.inf  # one allowed entry goes, another is left
    scores[1] = [-math.inf] * 5
    scores[2] = [-math.inf if allowed else score for score, allowed in zip(scores[2], mask[2], strict=True)]
    wrong = rng.normal(3, 5)
    wrong[1][rng.integer(0, 5)] = math.nan  # all of its row are allowed: each weight there is NaN, however it is found
    seen = [[True] * 5 if row == 1 else allowed for row, allowed in enumerate(mixed_rows(rng, 3, 5))]
    return [
        call(tensor(scores), tensor(mask, "bool")),
        call(tensor(scores)),
        call(tensor(wrong), tensor(seen, "bool")),
        call(tensor([[math.nan] * 3, rng.normal(3)])),
    ]


@check("masks.masked_softmax", sees="the axis that sums to 1 is dim, with a mask and without")
def softmax_axis(rng):
    batch, rows, columns = rng.sizes(3, 3, 8)
    across = [list(row) for row in zip(*mixed_rows(rng, columns, rows), strict=True)]  # each column is mixed
    across[0] = [False] * columns  # an empty row, though no column is empty
    across[1] = [allowed or not any(row[column] for row in across[2:]) for column, allowed in enumerate(across[1])]
    scores = rng.tensor(batch, rows, columns)
    return [call(scores, tensor(across, "bool"), dim=-2), call(scores, None, 0)]


@check("masks.masked_softmax", sees="the mask broadcasts over batch and heads")
def softmax_broadcast(rng):
    heads, keys = 2, 6
    return [
        call(rng.tensor(3, heads, 5, 7), tensor(mixed_rows(rng, 5, 7), "bool")),
        call(rng.tensor(5, heads, 3, keys), tensor(mixed_rows(rng, 5, 1, 1, keys), "bool")),
    ]


@check(
    "masks.masked_softmax", sees="the weights have the dtype of the scores, half precision included", compares="dtype"
)
def softmax_dtype(rng):
    rows, columns = rng.sizes(2, 3, 8)
    mask = tensor(mixed_rows(rng, rows, columns), "bool")
    return [call(rng.tensor(rows, columns, dtype=name), mask) for name in DTYPES]


@check("masks.masked_softmax", sees="the gradient reaches the scores", compares="gradient")
def softmax_gradient(rng):
    rows, columns = rng.sizes(2, 4, 8)
    return call(rng.tensor(rows, columns), tensor(mixed_rows(rng, rows, columns), "bool"))


@check(
    "masks.masked_softmax",
    sees="a fully masked row has a gradient of zero, and harms no other row",
    compares="gradient",
)
def softmax_empty_gradient(rng):
    rows, columns = rng.sizes(2, 4, 8)
    mask, scores = mixed_rows(rng, rows, columns), rng.normal(rows, columns)
    mask[0] = [False] * columns
    by_mask = call(tensor(scores), tensor(mask, "bool"))
    scores[1] = [-math.inf] * columns
    return [by_mask, call(tensor(scores))]


@check("masks.masked_softmax", sees="the scores and the mask are not changed", compares="unchanged")
def softmax_unchanged(rng):
    rows, columns = rng.sizes(2, 4, 8)
    mask = mixed_rows(rng, rows, columns)
    mask[0] = [False] * columns
    return call(rng.tensor(rows, columns), tensor(mask, "bool"))


@check("masks.masked_softmax", sees="scores, masks and axes that do not fit are refused", compares="error")
def softmax_errors(rng):
    rows, columns = rng.sizes(2, 3, 8)
    scores, mask = rng.tensor(rows, columns), mixed_rows(rng, rows, columns)
    return [
        call(tensor(rng.integers(rows, columns)), tensor(mask, "bool")),
        call(scores, rng.tensor(rows, columns)),
        call(scores, tensor(mixed_rows(rng, columns, rows), "bool")),
        call(scores, tensor([mask, mask], "bool")),
        call(scores, dim=2),
        call(scores, dim=-3),
        call(rng.tensor(columns), dim=1),
    ]
