"""Inputs of the checks of attention, and views of its two results."""

import functools

from selfcheck.arrays import array, nest
from selfcheck.plan import call, tensor

ATTENTION = "dot_product.scaled_dot_product_attention"
#: Sequences, heads, queries and keys of two calls; no two sizes that can be taken for another in one can in the other.
IN_BATCHES = ((2, 3, 5, 4), (3, 2, 4, 5))


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
    weights = answer[1]
    values, width = weights.values(), weights.shape[-1]
    sums = [sum(values[start : start + width]) for start in range(0, len(values), width)]
    return array(nest(sums, weights.shape[:-1]))


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
