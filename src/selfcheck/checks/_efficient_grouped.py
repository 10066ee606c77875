"""Visible checks of grouped-query attention."""

from selfcheck.plan import check, tensor

from ._dtypes import DTYPES
from ._efficient_inputs import (
    grouped,
    grouped_alike_keys,
    grouped_largest_hidden,
    grouped_with_empty_rows,
    misfit_groups,
)
from .dot_product import mask_of, weights

GROUPED = "efficient.grouped_query_attention"


# 11.5 grouped_query_attention


@check(GROUPED, sees="with as many key heads as query heads it is attention, scaled by the root of the keys' width")
def grouped_alike(rng):
    d_k, d_v = rng.sample((7, 9, 11), 2)
    return [
        grouped(rng, 2, 2, d_v, d_k=d_k, batch=1, queries=3, keys=4),
        grouped(rng, 3, 3, d_k, d_k=d_v, batch=1, queries=5, keys=2),
    ]


@check(GROUPED, sees="query heads that are neighbours share a key head", view=weights)
def grouped_weights(rng):
    return [grouped(rng, 8, groups, d_v=1, batch=1, queries=2, keys=5) for groups in (2, 4)]


@check(GROUPED, sees="query heads that are neighbours share a value head")
def grouped_values(rng):
    return grouped_alike_keys(rng)


@check(GROUPED, sees="one key head can serve all query heads")
def grouped_single(rng):
    heads, d_v = rng.sample((5, 7), 2)
    return grouped(rng, heads, 1, d_v, batch=1, queries=3, keys=9)


@check(
    GROUPED, sees="True in a mask means attend, and what is left sums to 1, however large a hidden score", view=weights
)
def grouped_mask(rng):
    return [
        grouped(rng, 4, 2, d_v=1, batch=1, queries=3, keys=5, attn_mask=tensor(mask_of(rng, 3, 5))),
        grouped_largest_hidden(rng),
    ]


@check(GROUPED, sees="a mask may differ between query heads, those of one group too", view=weights)
def grouped_mask_heads(rng):
    return [
        grouped(rng, 4, 2, d_v=1, batch=3, queries=2, keys=5, attn_mask=tensor(mask_of(rng, 3, 4, 2, 5))),
        grouped(rng, 6, 2, d_v=1, batch=2, queries=5, keys=3, attn_mask=tensor(mask_of(rng, 6, 1, 3))),
    ]


@check(GROUPED, sees="a mask broadcasts over keys, queries, heads and batch", view=weights)
def grouped_mask_broadcast(rng):
    sizes = [(5, 4, 2, 3, (3,)), (3, 6, 2, 4, (3, 1, 1, 4)), (2, 6, 3, 5, (1, 6, 1, 5))]
    return [
        grouped(rng, heads, groups, d_v=1, batch=batch, queries=1, keys=keys, attn_mask=tensor(mask_of(rng, *shape)))
        for batch, heads, groups, keys, shape in sizes
    ]


@check(GROUPED, sees="a query that may attend to nothing gets zero weights and a zero output")
def grouped_nothing(rng):
    return grouped_with_empty_rows(rng)


@check(GROUPED, sees="gradients stay finite where a query may attend to nothing", compares="gradient")
def grouped_nothing_gradient(rng):
    return grouped_with_empty_rows(rng)


@check(
    GROUPED,
    sees="the gradient of a key or value head is summed over the query heads that share it",
    compares="gradient",
)
def grouped_gradient(rng):
    return [
        grouped(rng, 4, 2, d_v=6, batch=1, queries=5, keys=3),
        grouped(rng, 6, 2, d_v=5, batch=1, queries=3, keys=4),
    ]


@check(GROUPED, sees="output and weights have the dtype of the arguments", compares="dtype")
def grouped_dtype(rng):
    return [grouped(rng, 4, 2, dtype=dtype, batch=1, queries=2) for dtype in DTYPES]


@check(GROUPED, sees="the arguments are left as they were", compares="unchanged")
def grouped_unchanged(rng):
    return grouped(rng, 4, 2, d_k=3, attn_mask=tensor(mask_of(rng, 4, 3)))


@check(GROUPED, sees="arguments that do not fit are refused", compares="error")
def grouped_errors(rng):
    return misfit_groups(rng)
