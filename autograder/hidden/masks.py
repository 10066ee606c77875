"""Hidden checks of the masks."""

from selfcheck.plan import call, check


@check("masks.causal_mask", sees="a single query sees every key, and no length is too small", points=1)
def causal_edges(rng):
    return [call(1, rng.integer(3, 9)), call(1), call(rng.integer(2, 5), 0), call(0, 3), call(rng.integer(20, 40), 31)]
