"""Inputs of the checks of attention, and views of its two results."""

import functools

from selfcheck.arrays import array, nest, unpack
from selfcheck.plan import call, tensor

from ._numbers import rows_of

ATTENTION = "dot_product.scaled_dot_product_attention"
#: Sequences, heads, queries and keys of two calls; no two sizes that can be taken for another in one can in the other.
IN_BATCHES = ((2, 3, 5, 4), (3, 2, 4, 5))
MOST = 0.75  # of the queries


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
    def seen(step, answer):
        return view(step, answer) if isinstance(answer, (tuple, list)) and len(answer) == 2 else answer

    return seen


@of_both
def weights(step, answer):
    """The weights alone."""
    return answer[1]


@of_both
def row_sums(step, answer):
    """What the weights of each query add up to."""
    return array(nest([sum(row) for row in rows_of(answer[1])], answer[1].shape[:-1]))


@of_both
def sums_of_shares(step, answer):
    """What the weights of each query add up to, and zeros where they have nothing to do with the scores: where, of the
    keys that a query attends to, the one of the largest weight has no larger score than the one of the smallest.
    """
    sums = row_sums(step, answer)
    return sums if _follow_scores(step, answer[1]) else array(nest([0.0] * len(sums.values()), sums.shape))


def _follow_scores(step, weights):
    """Whether that holds of MOST queries: equal weights, or weights by chance, are the result of no softmax."""
    query, key = (unpack(tree) for tree in [*step["args"], *step["kwargs"].values()][:2])
    queries, keys = rows_of(query), rows_of(key)
    count, several = query.shape[-2], key.shape[-2]
    rows = []
    for at, (row, one) in enumerate(zip(rows_of(weights), queries, strict=False)):
        here = keys[at // count * several :][:several]
        scores = (sum(a * b for a, b in zip(one, other, strict=False)) for other in here)
        rows.append(list(zip(row, scores, strict=False)))
    attended = [[pair for pair in row if pair[0] > 0] for row in rows]
    rows = [row for row in attended if len(row) > 1] or rows
    ends = [(min(row), max(row)) for row in rows if row]
    return sum(low[0] < high[0] and low[1] < high[1] for low, high in ends) >= MOST * max(len(rows), 1)


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
def attended(step, answer):
    """1 where a weight is above zero."""
    weights = answer[1]
    return array(nest([int(value > 0) for value in weights.values()], weights.shape))
