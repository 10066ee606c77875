"""Hidden checks of scaled dot-product attention."""

from selfcheck.checks.dot_product import ATTENTION, attend, masked, some_of
from selfcheck.plan import call, check, tensor


@check(ATTENTION, sees="scores of ten thousand give finite weights", points=1, problem_set="ps2")
def attention_extremes(rng):
    queries, keys, d_k, d_v = rng.sizes(4, 3, 9)
    # Any two scores of a query lie thousands apart, so that no wrong scale shows here: that has its own check.
    signs = [100.0 * (-1) ** (row + rng.integer(0, 2)) for row in range(queries)]
    sizes = [10.0 * size for size in rng.sample(range(1, keys + 1), keys)]
    return call(
        tensor([[sign] * d_k for sign in signs]), tensor([[size] * d_k for size in sizes]), rng.tensor(keys, d_v)
    )


@check(ATTENTION, sees="no number of axes and no length is special", points=1, problem_set="ps2")
def attention_shapes(rng):
    queries, keys, d_k, d_v = rng.sizes(4, 5, 10)
    return [
        attend(rng, (1, d_k), (keys, d_k), d_v),
        attend(rng, (queries, d_k), (1, d_k), 1),
        attend(rng, (2, 1, 3, queries, d_k), (1, 2, 1, keys, d_k), d_v),
        attend(rng, (queries, d_k), (2, keys, d_k), d_v, value_batch=()),
    ]


def causal(queries, keys):
    """A causal mask aligned to the end: with more queries than keys the first ones see nothing."""
    return [[j <= i + keys - queries for j in range(keys)] for i in range(queries)]


@check(ATTENTION, sees="masks of every kind, on keys of any width", points=1, problem_set="ps3")
def masked_kinds(rng):
    queries, keys, d_k, d_v = rng.sizes(4, 3, 9)
    return [
        masked(rng, (2, 3), queries, keys, d_v, causal(queries, keys), d_k=d_k),
        masked(rng, (), queries, keys, d_v, [[True] * keys] * queries, d_k=d_k),
        masked(rng, (), 1, keys, d_v, some_of(rng, keys), d_k=d_k),
        masked(rng, (2,), queries, keys, d_v, [[entry] for entry in some_of(rng, queries)], d_k=d_k),
    ]


@check(ATTENTION, sees="a batch in which nobody may attend to anything gives zeros", points=1, problem_set="ps3")
def masked_nothing(rng):
    queries, keys, d_k, d_v = rng.sizes(4, 3, 9)
    return [
        masked(rng, (2,), queries, keys, d_v, [False], d_k=d_k),
        masked(rng, (2, 3), queries, keys, d_v, [[[[False]]], [[[True]]]], "float32", d_k),
    ]
