"""Visible checks of the masks."""

from selfcheck.plan import call, check


@check("masks.causal_mask", sees="the future is hidden")
def causal_square(rng):
    return call(query_length=rng.integer(3, 8))


@check("masks.causal_mask", sees="with more keys than queries, the last query sees every key")
def causal_longer_keys(rng):
    queries, extra = rng.sizes(2, 2, 6)
    return call(queries, queries + extra)


@check("masks.causal_mask", sees="with fewer keys than queries, the last query still sees every key")
def causal_fewer_keys(rng):
    keys, extra = rng.sizes(2, 2, 6)
    return call(query_length=keys + extra, key_length=keys)


@check("masks.causal_mask", sees="the mask is boolean", compares="dtype")
def causal_dtype(rng):
    return call(rng.integer(2, 6), rng.integer(2, 6))
