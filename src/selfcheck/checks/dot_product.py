"""Visible checks of scaled dot-product attention: without a mask (3.5), with one (4.8).

Where the scale is not what a check is about, keys have width 1, whose root is 1: a wrong scale then costs the check
of the scale and no other.
"""

import math
from dataclasses import replace

from selfcheck.arrays import Array, array
from selfcheck.plan import call, check, tensor

from . import _dot_product_masks  # noqa: F401
from ._dot_product_inputs import (
    ATTENTION,
    IN_BATCHES,
    attend,
    attended,
    mask_of,
    of_both,
    row_sums,
    some_of,
    sums_of_shares,
    weights,
)
from ._dtypes import DTYPES

__all__ = [
    "attended",
    "mask_of",
    "returned_facts",
    "row_sums",
    "some_of",
    "sums_of_shares",
    "weights",
]  # other modules' checks use these

LONG = (11, 13, 15)  # lengths whose square roots are far from those of the widths
WIDE = (5, 7)  # the roots are rounded down and to the nearest number in different ways


@check(ATTENTION, sees="scores are divided by the square root of the keys' width", view=weights)
def attention_scale(rng):
    queries, keys = rng.sample(LONG, 2)
    narrow, wide = WIDE
    return [
        attend(rng, (queries, narrow), (keys, narrow), wide),
        attend(rng, (1, queries, wide), (1, keys, wide), 1),
    ]


@check(ATTENTION, sees="the weights of each query sum to 1, in a batch too", view=sums_of_shares)
def attention_axis(rng):
    queries, keys = rng.sample((5, 7, 9), 2)
    apart = [[0.5], [2000.0], [4000.0]]  # one query's scores lie far below another's
    return [
        attend(rng, (queries, 3), (keys, 3), 11),
        *(attend(rng, (*lead, queries, 1), (*lead, keys, 1), 1) for lead in ((3,), (1, 3))),
        call(tensor(apart), tensor([[1.5], [2.0], [1.0], [3.0], [2.5]]), rng.tensor(5, 7)),
    ]


@check(ATTENTION, sees="the output is the values mixed by the weights, and both are returned")
def attention_output(rng):
    queries, keys, d_v = rng.sizes(3, 3, 9)
    return attend(rng, (queries, 1), (keys, 1), d_v)


@check(ATTENTION, sees="leading batch dimensions are kept, and broadcast")
def attention_batch(rng):
    queries, keys, d_v = rng.sample((5, 7, 9), 3)
    return [
        attend(rng, (3, queries, 1), (3, keys, 1), d_v),
        *(attend(rng, (b, h, length, 1), (1, h, s, 1), 1) for b, h, length, s in IN_BATCHES),
        attend(rng, (1, queries, 1), (1, keys, 1), d_v),
    ]


@check(
    ATTENTION, sees="gradients reach query, key and value, from the output and from the weights", compares="gradient"
)
def attention_gradient(rng):
    queries, keys, d_v = rng.sizes(3, 3, 8)
    rarely = 1e-12  # dropout that drops nothing, and that gradients have to pass
    return [attend(rng, (queries, 1), (keys, 1), d_v, **more) for more in ({}, {"dropout_p": rarely})]


@check(ATTENTION, sees="output and weights have the dtype of the arguments", compares="dtype")
def attention_dtype(rng):
    queries, keys, d_k, d_v = rng.sizes(4, 2, 10)
    return [attend(rng, (queries, d_k), (keys, d_k), d_v, dtype=dtype) for dtype in DTYPES]


@check(ATTENTION, sees="the arguments are left as they were", compares="unchanged")
def attention_unchanged(rng):
    queries, keys, d_k, d_v = rng.sizes(4, 2, 10)
    return attend(rng, (queries, d_k), (keys, d_k), d_v)


KEYS = 20
ROUNDING = 1e-5  # numbers up to 10 in float32 differ by less where they were summed up in another order


def dropout(rng):
    """A call with dropout whose weights are all 1 / KEYS, so that only dropout can tell them apart.

    All queries are alike and all keys are alike. The values are the unit vectors, which show each weight used, beside a
    column of ones, which shows their sum.
    """
    query, key = ([[rng.integer(1, 4), rng.integer(1, 4)]] * KEYS for _ in range(2))
    value = [[float(i == j) for j in range(KEYS)] + [1.0] for i in range(KEYS)]
    return call(
        query=tensor(query, "float32"), key=tensor(key, "float32"), value=tensor(value, "float32"), dropout_p=0.25
    )


def dropout_of_two(rng):
    """The same of a batch of two sequences that are alike."""
    one = dropout(rng)
    twice = {name: tensor([one.kwargs[name].nested()] * 2, "float32") for name in ("query", "key", "value")}
    return replace(one, kwargs=one.kwargs | twice)


def dropped(entries, whole=1 / KEYS):
    """Two facts that do not depend on which entries were hit: the share of zeros, in quarters, and what became of
    `whole` elsewhere, as a factor; 0 where that is not one factor."""
    share = round(4 * sum(abs(entry) < ROUNDING for entry in entries) / len(entries)) / 4
    factors = [entry / whole for entry in entries if abs(entry) >= ROUNDING]
    same = factors and max(factors) - min(factors) < 1e-4
    return [share, factors[0] if same else 0.0]


def dropout_facts(step, answer):
    """Of two calls, or two sequences, 1 where they drop different weights; of one what became of its weights."""
    if len(step["kwargs"]["query"]["shape"]) == 3:
        return sequences_differ(step, answer)
    if "times" not in step:
        return used_facts(step, answer)
    if not isinstance(answer, tuple) or len(answer) != 2:
        return answer
    first, again = answer
    return array(int(first != again))


def dropout_words(step):
    """What the numbers of `dropout_facts` are, for a step."""
    if "times" in step:
        return "1 where two calls drop different weights"
    if len(step["kwargs"]["query"]["shape"]) == 3:
        return "1 where two sequences drop different weights"
    return "the share of weights dropped, the factor on the others, and 1 for each fact that holds"


dropout_facts.words = dropout_words


@of_both
def sequences_differ(step, answer):
    """1 where the outputs of the two sequences of a batch, which are alike, differ."""
    if not isinstance(answer[0], Array) or len(answer[0].shape) != 3:
        return answer
    first, other = answer[0].nested()
    return array(int(first != other))


@of_both
def used_facts(step, answer):
    """The share of weights dropped, the factor on the others, and 1 for each of these that holds.

    The last column is still the row's sum; no query has lost all its weights; no key has lost all of its own. Each of
    the last two fails by chance with a probability of 20 · 0.25²⁰ = 2e-11.
    """
    rows = answer[0].nested()
    whole = all(abs(row[-1] - sum(row[:-1])) < 1e-3 for row in rows)
    used = [row[:-1] for row in rows]
    left = [all(any(line) for line in lines) for lines in (used, zip(*used, strict=True))]
    return array([*dropped([entry for row in used for entry in row]), float(whole), *map(float, left)])


@of_both
def returned_facts(step, answer):
    """The same of the weights that are returned."""
    return array(dropped(answer[1].values()))


@check(
    ATTENTION,
    sees="dropout_p is the share of weights that the output does without; the others are divided by 1 - dropout_p",
    view=dropout_facts,
    coinciding=True,
)
def attention_dropout(rng):
    return [dropout(rng), replace(dropout(rng), times=2), dropout_of_two(rng)]


@check(
    ATTENTION, sees="the returned weights are those before dropout", view=returned_facts, coinciding=True, given=True
)
def attention_dropout_weights(rng):
    return dropout(rng)


@check(ATTENTION, sees="arguments that do not fit are refused", compares="error")
def attention_errors(rng):
    queries, keys, d_k, d_v = rng.sizes(4, 2, 10)
    query, key, value = (rng.tensor(*shape) for shape in ((queries, d_k), (keys, d_k), (keys, d_v)))
    return [
        call(query, rng.tensor(keys, d_k + 1), value),
        call(query, key, rng.tensor(keys + 1, d_v)),
        call(query, key, rng.tensor(keys, d_v, dtype="float32")),
        call(tensor(rng.integers(queries, d_k)), key, value),
        call(query, rng.tensor(d_k), value),
        call(query, key, rng.tensor(d_v)),
        call(query, key, value, dropout_p=1.5),
        call(rng.tensor(2, queries, d_k), rng.tensor(2, keys, d_k), rng.tensor(3, keys, d_v)),
        call(query, key, value, dropout_p=-0.5),
        call(query, key, value, dropout_p=math.nan),
    ]
