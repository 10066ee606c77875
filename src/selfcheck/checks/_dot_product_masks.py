"""Visible checks of attention with a mask (4.8)."""

from selfcheck.plan import call, check, tensor

from ._dot_product_inputs import ATTENTION, IN_BATCHES, attend, attended, mask_of, masked, sums_of_shares
from ._dtypes import DTYPES
from ._numbers import LOWEST


@check(ATTENTION, sees="keys are attended where the mask is True, and nowhere else", view=attended)
def masked_polarity(rng):
    queries, keys, d_v = rng.sizes(3, 4, 10)
    return masked(rng, (), queries, keys, d_v, mask_of(rng, queries, keys))


@check(ATTENTION, sees="the weights that are left sum to 1 for each query", view=sums_of_shares)
def masked_sums(rng):
    queries, keys, d_v = rng.sizes(3, 4, 10)
    return masked(rng, (), queries, keys, d_v, mask_of(rng, queries, keys))


@check(ATTENTION, sees="output and weights are those of the allowed keys alone, without a mask of all keys")
def masked_output(rng):
    queries, keys, d_v, batch = rng.sample((3, 5, 7, 9), 4)
    hidden = mask_of(rng, batch, queries, keys)
    zero = next(j for j in range(keys) if hidden[0][0][j])
    step = masked(rng, (batch,), queries, keys, d_v, hidden)
    step.kwargs["key"] = with_zero(step.kwargs["key"], zero)  # a real token may be all zero
    (b, h, length, s), (b_2, h_2, length_2, s_2) = IN_BATCHES
    in_a_batch = masked(rng, (b, h), length, s, 1, mask_of(rng, b, 1, length, s))
    of_all_keys = attend(rng, (b_2, h_2, length_2, 1), (b_2, h_2, s_2, 1), 1)
    return [step, in_a_batch, of_all_keys]


def with_zero(keys, place):
    """Keys of which those of one position are zeros."""
    return tensor(
        [[[0.0 * x for x in row] if j == place else row for j, row in enumerate(batch)] for batch in keys.nested()]
    )


@check(ATTENTION, sees="a forbidden key has no influence, however large its score")
def masked_large_score(rng):
    queries, keys, d_v = rng.sizes(3, 3, 8)
    hidden = rng.integer(0, keys)
    key = [[5000.0] if j == hidden else rng.normal(1) for j in range(keys)]
    mask = tensor([[j != hidden for j in range(keys)]] * queries)
    large = call(
        query=tensor([[1.0 + rng.random()] for _ in range(queries)]),
        key=tensor(key),
        value=rng.tensor(keys, d_v),
        attn_mask=mask,
    )
    # Allowed scores far from 0, some below what people write for minus infinity; all of them are exact in float32.
    low = [
        [[offset - step * rng.integer(0, 9)] for _ in range(keys)]
        for offset, step in ((-12_000, 0.25), (-2e9, 256), (9_000, 0.25))
    ]
    for rows in low:
        rows[hidden] = [0.5]
    alone = tensor([[j == hidden for j in range(keys)]])
    return [
        large,
        *(call(tensor([[1.0]]), tensor(rows), rng.tensor(keys, d_v), tensor(mask.nested()[:1])) for rows in low),
        call(
            tensor([[1.0]], "float32"),
            tensor([[LOWEST if j == hidden else 0.0] for j in range(keys)], "float32"),
            rng.tensor(keys, d_v, dtype="float32"),
            alone,
        ),
    ]


@check(ATTENTION, sees="a mask broadcasts over queries, heads and batch")
def masked_broadcast(rng):
    return [
        masked(rng, (batch, heads), queries, keys, 1, mask_of(rng, *shape))
        for batch, heads, queries, keys in IN_BATCHES
        for shape in [(keys,), (queries, keys), (batch, 1, 1, keys)]
    ]


def with_empty_rows(rng):
    """A call in which some query may attend to nothing."""
    queries, keys, d_v = rng.sizes(3, 3, 8)
    mask = mask_of(rng, queries, keys)
    mask[rng.integer(0, queries)] = [False] * keys
    return masked(rng, (), queries, keys, d_v, mask)


@check(ATTENTION, sees="a query that may attend to nothing gets zero weights and a zero output")
def masked_empty_row(rng):
    return with_empty_rows(rng)


@check(ATTENTION, sees="gradients stay finite where a query may attend to nothing", compares="gradient")
def masked_empty_gradient(rng):
    return with_empty_rows(rng)


@check(
    ATTENTION,
    sees="under a mask output and weights have the dtype of the arguments, and the mask is left as it was",
    compares=("dtype", "unchanged"),
)
def masked_dtype(rng):
    queries, keys, d_v = rng.sizes(3, 3, 8)
    return [masked(rng, (), queries, keys, d_v, mask_of(rng, queries, keys), dtype) for dtype in DTYPES]


@check(ATTENTION, sees="a mask that is not boolean or does not fit is refused", compares="error")
def masked_errors(rng):
    queries, keys, d_v = rng.sizes(3, 3, 8)
    query, key, value = (rng.tensor(*shape) for shape in ((queries, 1), (keys, 1), (keys, d_v)))
    return [
        call(query, key, value, tensor([[0.0] * keys] * queries)),
        call(query, key, value, tensor([[1] * keys] * queries)),
        call(query, key, value, tensor(mask_of(rng, keys, queries))),
        call(query, key, value, tensor(mask_of(rng, 2, queries, keys))),
        call(rng.tensor(1), key, value, tensor(mask_of(rng, queries, keys))),
    ]
