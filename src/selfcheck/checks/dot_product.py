"""Visible checks of scaled dot-product attention: without a mask (3.5), with one (4.8).

Where the scale is not what a check is about, keys have width 1, whose root is 1: a wrong scale then costs the check
of the scale and no other.
"""

import functools
import math

from selfcheck.arrays import array, nest
from selfcheck.plan import call, check, tensor

from ._dtypes import DTYPES

ATTENTION = "dot_product.scaled_dot_product_attention"
LONG = (9, 10, 11)  # lengths whose square roots are far from those of the widths
WIDE = (5, 6, 7, 8)


def attend(rng, query_shape, key_shape, d_v, value_batch=None, dtype="float64", **more):
    """A call of attention, the values' batch dimensions being the keys' if not given."""
    batch = key_shape[:-2] if value_batch is None else value_batch
    return call(
        query=rng.tensor(*query_shape, dtype=dtype),
        key=rng.tensor(*key_shape, dtype=dtype),
        value=rng.tensor(*batch, key_shape[-2], d_v, dtype=dtype),
        **more,
    )


def of_both(view):
    """A view of answers that have two parts; any other answer is left as it is, to be compared by its form."""

    @functools.wraps(view)
    def seen(one, answer):
        return view(one, answer) if isinstance(answer, (tuple, list)) and len(answer) == 2 else answer

    return seen


@of_both
def weights(one, answer):
    """The weights alone."""
    return answer[1]


@of_both
def row_sums(one, answer):
    """What the weights of each query add up to."""
    found = answer[1]
    values, width = found.values(), found.shape[-1]
    sums = [sum(values[start : start + width]) for start in range(0, len(values), width)]
    return array(nest(sums, found.shape[:-1]))


@check(ATTENTION, sees="scores are divided by the square root of the keys' width", view=weights)
def attention_scale(rng):
    queries, keys = rng.sample(LONG, 2)
    d_k, d_v = rng.sample(WIDE, 2)
    return attend(rng, (queries, d_k), (keys, d_k), d_v)


@check(ATTENTION, sees="the weights of each query sum to 1, in a batch too", view=row_sums)
def attention_axis(rng):
    queries, keys, d_k, d_v, batch, heads = rng.sizes(6, 2, 9)
    return [attend(rng, (*lead, queries, d_k), (*lead, keys, d_k), d_v) for lead in ((), (batch,), (batch, heads))]


@check(ATTENTION, sees="the output is the values mixed by the weights, and both are returned")
def attention_output(rng):
    queries, keys, d_v = rng.sizes(3, 3, 9)
    return attend(rng, (queries, 1), (keys, 1), d_v)


@check(ATTENTION, sees="leading batch dimensions are kept, and broadcast")
def attention_batch(rng):
    queries, keys, d_v = rng.sizes(3, 4, 8)
    batch, heads = rng.sizes(2, 2, 4)
    return [
        attend(rng, (batch, queries, 1), (batch, keys, 1), d_v),
        attend(rng, (batch, heads, queries, 1), (1, heads, keys, 1), d_v),
    ]


@check(
    ATTENTION, sees="gradients reach query, key and value, from the output and from the weights", compares="gradient"
)
def attention_gradient(rng):
    queries, keys, d_v = rng.sizes(3, 3, 7)
    return attend(rng, (queries, 1), (keys, 1), d_v)


@check(ATTENTION, sees="output and weights have the dtype of the arguments", compares="dtype")
def attention_dtype(rng):
    queries, keys, d_k, d_v = rng.sizes(4, 2, 7)
    return [attend(rng, (queries, d_k), (keys, d_k), d_v, dtype=dtype) for dtype in DTYPES]


@check(ATTENTION, sees="the arguments are left as they were", compares="unchanged")
def attention_unchanged(rng):
    queries, keys, d_k, d_v = rng.sizes(4, 2, 7)
    return attend(rng, (queries, d_k), (keys, d_k), d_v)


KEYS = 20


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


def dropped(entries, whole=1 / KEYS):
    """Two facts that do not depend on which entries were hit: the share of zeros, in quarters, and what became of
    `whole` elsewhere, as a factor; 0 where that is not one factor."""
    share = round(4 * sum(abs(entry) < 1e-6 for entry in entries) / len(entries)) / 4
    factors = [entry / whole for entry in entries if abs(entry) >= 1e-6]
    same = factors and max(factors) - min(factors) < 1e-4
    return [share, factors[0] if same else 0.0]


@of_both
def dropout_facts(one, answer):
    """The share of weights dropped, the factor on the others, and whether the last column is still the row's sum."""
    rows = answer[0].nested()
    whole = all(abs(row[-1] - sum(row[:-1])) < 1e-3 for row in rows)
    return array([*dropped([entry for row in rows for entry in row[:-1]]), float(whole)])


@of_both
def returned_facts(one, answer):
    """The same of the weights that are returned."""
    return array(dropped(answer[1].values()))


@check(
    ATTENTION,
    sees="dropout_p is the share of weights that the output does without; the others are divided by 1 - dropout_p",
    view=dropout_facts,
)
def attention_dropout(rng):
    return dropout(rng)


@check(ATTENTION, sees="the returned weights are those before dropout", view=returned_facts)
def attention_dropout_weights(rng):
    return dropout(rng)


@check(ATTENTION, sees="arguments that do not fit are refused", compares="error")
def attention_errors(rng):
    queries, keys, d_k, d_v = rng.sizes(4, 2, 7)
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


def some_of(rng, count):
    """A row of a mask with at least one True and one False."""
    row = [True] * (seen := rng.integer(1, count)) + [False] * (count - seen)
    rng.shuffle(row)
    return row


def mask_of(rng, *shape):
    """Nested lists of booleans, some True and some False in each row."""
    return some_of(rng, shape[-1]) if len(shape) == 1 else [mask_of(rng, *shape[1:]) for _ in range(shape[0])]


def masked(rng, lead, queries, keys, d_v, mask, dtype="float64", d_k=1):
    """A call of attention with a mask."""
    shapes = (*lead, queries, d_k), (*lead, keys, d_k)
    return attend(rng, *shapes, d_v, dtype=dtype, attn_mask=tensor(mask))


@of_both
def attended(one, answer):
    """1 where a weight is above zero."""
    found = answer[1]
    return array(nest([int(value > 0) for value in found.values()], found.shape))


@check(ATTENTION, sees="keys are attended where the mask is True, and nowhere else", view=attended)
def masked_polarity(rng):
    queries, keys, d_v = rng.sizes(3, 4, 8)
    return masked(rng, (), queries, keys, d_v, mask_of(rng, queries, keys))


@check(ATTENTION, sees="the weights that are left sum to 1 for each query", view=row_sums)
def masked_sums(rng):
    queries, keys, d_v = rng.sizes(3, 4, 8)
    return masked(rng, (), queries, keys, d_v, mask_of(rng, queries, keys))


@check(ATTENTION, sees="output and weights are those of the allowed keys alone")
def masked_output(rng):
    queries, keys, d_v, batch = rng.sizes(4, 3, 8)
    return masked(rng, (batch,), queries, keys, d_v, mask_of(rng, batch, queries, keys))


@check(ATTENTION, sees="a forbidden key has no influence, however large its score")
def masked_large_score(rng):
    queries, keys, d_v = rng.sizes(3, 3, 7)
    hidden = rng.integer(0, keys)
    key = [[5000.0] if j == hidden else rng.normal(1) for j in range(keys)]
    return call(
        query=tensor([[1.0 + rng.random()] for _ in range(queries)]),
        key=tensor(key),
        value=rng.tensor(keys, d_v),
        attn_mask=tensor([[j != hidden for j in range(keys)]] * queries),
    )


@check(ATTENTION, sees="a mask broadcasts over queries, heads and batch")
def masked_broadcast(rng):
    queries, keys, d_v = rng.sizes(3, 4, 7)
    batch, heads = rng.sizes(2, 2, 4)
    shapes = [(keys,), (queries, keys), (batch, 1, 1, keys)]
    return [masked(rng, (batch, heads), queries, keys, d_v, mask_of(rng, *shape)) for shape in shapes]


def with_empty_rows(rng):
    """A call in which some query may attend to nothing."""
    queries, keys, d_v = rng.sizes(3, 3, 7)
    mask = mask_of(rng, queries, keys)
    mask[rng.integer(0, queries)] = [False] * keys
    return masked(rng, (), queries, keys, d_v, mask)


@check(ATTENTION, sees="a query that may attend to nothing gets zero weights and a zero output")
def masked_empty_row(rng):
    return with_empty_rows(rng)


@check(ATTENTION, sees="gradients stay finite where a query may attend to nothing", compares="gradient")
def masked_empty_gradient(rng):
    return with_empty_rows(rng)


@check(ATTENTION, sees="output and weights have the dtype of the arguments under a mask", compares="dtype")
def masked_dtype(rng):
    queries, keys, d_v = rng.sizes(3, 3, 7)
    return [masked(rng, (), queries, keys, d_v, mask_of(rng, queries, keys), dtype) for dtype in DTYPES]


@check(ATTENTION, sees="a mask that is not boolean or does not fit is refused", compares="error")
def masked_errors(rng):
    queries, keys, d_v = rng.sizes(3, 3, 7)
    query, key, value = (rng.tensor(*shape) for shape in ((queries, 1), (keys, 1), (keys, d_v)))
    return [
        call(query, key, value, tensor([[0.0] * keys] * queries)),
        call(query, key, value, tensor([[1] * keys] * queries)),
        call(query, key, value, tensor(mask_of(rng, keys, queries))),
        call(query, key, value, tensor(mask_of(rng, 2, queries, keys))),
        call(rng.tensor(1), key, value, tensor(mask_of(rng, queries, keys))),
    ]
