"""Hidden checks of scaled dot-product attention."""

from selfcheck.checks._dot_product_inputs import ATTENTION, IN_BATCHES, attend, mask_of, masked, some_of
from selfcheck.plan import call, check, tensor

#: Batch axes, query length, key length, key width and value width, of which some are equal.
EQUAL = (
    ((), 4, 4, 4, 4),
    ((), 5, 5, 3, 2),
    ((3,), 3, 3, 3, 3),
    ((2,), 5, 5, 3, 3),
    ((2, 2), 3, 3, 2, 4),
    ((2, 3), 4, 4, 2, 2),
    ((), 3, 5, 3, 5),
    ((2,), 3, 5, 5, 3),
)


@check(ATTENTION, sees="scores of ten thousand give finite weights", points=1, problem_set="ps2")
def attention_extremes(rng):
    queries, keys, d_k, d_v = rng.sizes(4, 3, 10)
    # Any two scores of a query lie thousands apart, so that no wrong scale shows here: that has its own check.
    signs = [100.0 * (-1) ** (row + rng.integer(0, 2)) for row in range(queries)]
    sizes = [10.0 * size for size in rng.sample(range(1, keys + 1), keys)]
    return call(
        tensor([[sign] * d_k for sign in signs]), tensor([[size] * d_k for size in sizes]), rng.tensor(keys, d_v)
    )


@check(
    ATTENTION,
    sees="no number of axes, no length, no equal sizes are special, nor a dropout_p of 1, which leaves nothing",
    points=1,
    problem_set="ps2",
    coinciding=True,
)
def attention_shapes(rng):
    queries, keys, d_k, d_v = rng.sizes(4, 5, 12)
    return [
        attend(rng, (1, d_k), (keys, d_k), d_v),
        attend(rng, (queries, d_k), (1, d_k), 1),
        attend(rng, (2, 1, 3, queries, d_k), (1, 2, 1, keys, d_k), d_v),
        attend(rng, (queries, d_k), (2, keys, d_k), d_v, value_batch=()),
        attend(rng, (queries, d_k), (keys, d_k), d_v, dropout_p=1.0),
        *(attend(rng, (*lead, length, d), (*lead, keys, d), width) for lead, length, keys, d, width in EQUAL),
        call(tensor([[0.0] * 3, [1.0] * 3]), tensor([[0.0] * 3, [1.0] * 3, [1.0] * 3]), rng.tensor(3, 4)),
    ]


def causal(queries, keys):
    """A causal mask aligned to the end: with more queries than keys the first ones see nothing."""
    return [[j <= i + keys - queries for j in range(keys)] for i in range(queries)]


@check(
    ATTENTION,
    sees="masks of every kind, beside dropout too, equal sizes, on keys of any width",
    points=1,
    problem_set="ps3",
    coinciding=True,
)
def masked_kinds(rng):
    queries, keys, d_k, d_v = rng.sizes(4, 3, 10)
    return [
        masked(rng, (2, 3), queries, keys, d_v, causal(queries, keys), d_k=d_k),
        masked(rng, (), queries, keys, d_v, [[True] * keys] * queries, d_k=d_k),
        masked(rng, (), 1, keys, d_v, some_of(rng, keys), d_k=d_k),
        masked(rng, (2,), queries, keys, d_v, [[entry] for entry in some_of(rng, queries)], d_k=d_k),
        *(
            masked(rng, lead, length, keys, width, causal(length, keys), d_k=d)
            for lead, length, keys, d, width in EQUAL
        ),
        *(masked(rng, (4,), 4, 4, 4, mask_of(rng, *shape), d_k=4) for shape in ((4, 4), (4, 1, 4), (4, 4, 4), (4,))),
        *(
            attend(rng, (queries, d_k), (keys, d_k), d_v, attn_mask=tensor(mask_of(rng, queries, keys)), dropout_p=rate)
            for rate in (1e-12, 1.0)  # what drops nothing, and what drops all, is not random
        ),
        call(
            tensor([[0.0] * 3] * 2),
            tensor([[0.0] * 3, [1.0] * 3, [2.0] * 3]),
            rng.tensor(3, 4),
            tensor([True, False, True]),
        ),
        masked(rng, (), queries, keys, d_v, rng.random() < 0.5, d_k=d_k),
    ]


@check(ATTENTION, sees="a batch in which nobody may attend to anything gives zeros", points=1, problem_set="ps3")
def masked_nothing(rng):
    queries, keys, d_k, d_v = rng.sizes(4, 3, 10)
    return [
        masked(rng, (1,), queries, keys, d_v, [False], d_k=d_k),
        *(masked(rng, (b, h), q, k, 1, [[[[False]]]] + [[[[True]]]] * (b - 1), "float32") for b, h, q, k in IN_BATCHES),
    ]
