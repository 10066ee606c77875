"""Hidden checks of attention that scales."""

from selfcheck.checks._efficient_backward import BACKWARD, gradients
from selfcheck.checks._efficient_cache import CACHE
from selfcheck.checks._efficient_grouped import GROUPED
from selfcheck.checks._efficient_inputs import HIDDEN, blocks, grouped, spread, step
from selfcheck.checks._efficient_partials import PARTIALS, pair, partial
from selfcheck.checks._numbers import LOWEST
from selfcheck.checks.dot_product import mask_of
from selfcheck.checks.efficient import BLOCKWISE, SOFTMAX
from selfcheck.plan import built, call, check, iterator, refused, tensor, triple

from ._lowest import DTYPE, ONE_OF_FIVE


@check(
    SOFTMAX,
    sees="many chunks, of any widths, with scores hidden in the later ones, or far below zero",
    coinciding=True,
    points=1,
)
def online_many(rng):
    widths = [rng.choice((1, 2, 4, 5)) for _ in range(12)]
    hidden = [
        [
            [float("-inf") if place and rng.random() < 0.3 else round(rng.gauss(0, 3), 2) for _ in range(width)]
            for _ in range(3)
        ]
        for place, width in enumerate(widths)  # of the first chunk nothing: that has checks of its own
    ]
    return [
        call(iterator(*(tensor(scores) for scores in hidden))),
        call(iterator(*(rng.tensor(7, 1, 3, width) for width in widths))),
        call(iterator(*(tensor([round(rng.gauss(0, 3), 2)]) for _ in range(9)))),
        call(iterator(*(rng.tensor(4, 4) for _ in range(4)))),
        call(iterator(*(rng.tensor(17, 7) for _ in range(rng.integer(25, 40))))),
        *(call(iterator(*(tensor([[low] * width] * 2) for width in (2, 3)))) for low in (-2e4, -2e9)),
    ]


# exp in float16 is off by 2⁻¹¹ of itself, and each rescaling by as much again; twelve chunks bring a dozen of these.
@check(SOFTMAX, sees="in float16 the weights are right to a hundredth", tolerance=1e-2, points=1)
def online_half(rng):
    rows = [[[round(rng.uniform(-4, 4) + place, 1) for _ in range(2)] for _ in range(5)] for place in range(-6, 6)]
    return call(iterator(*(tensor(row, "float16") for row in rows)))


@check(BLOCKWISE, sees="no length and no block size is special", coinciding=True, points=1)
def blockwise_sizes(rng):
    queries, keys, d_k, d_v = rng.sizes(4, 5, 12)
    return [
        blocks(rng, (), queries, keys, size, d_v, d_k=d_k, is_causal=causal)
        for size in (1, 3, keys - 1, keys, 50)
        for causal in (False, True)
    ] + [
        blocks(rng, (), 1, 1, 1, 1),
        blocks(rng, (3,), queries, 1, 2, d_v),
        blocks(rng, (4,), 4, 4, 4, 4, d_k=4),
        _long(rng, blocks),
    ]


def _long(rng, make):
    queries, keys = rng.sample((37, 41, 47, 53), 2)
    return make(rng, (), queries, 2 * keys, rng.choice((17, 23)), 19, d_k=26)


@check(BLOCKWISE, sees="masks of every kind, with is_causal and without, d_k above 1, scores far below 0", points=1)
def blockwise_masks(rng):
    sizes = [((2, 3), 6, 8, 5, 7, 4, False), ((3, 2), 5, 9, 4, 2, 3, True)]  # L, S, block_size, d_v and d_k after lead
    calls = [
        blocks(rng, lead, queries, keys, size, d_v, d_k=d_k, is_causal=causal, attn_mask=tensor(rng.booleans(*shape)))
        for lead, queries, keys, size, d_v, d_k, causal in sizes
        for shape in masks_for(lead, queries, keys)
    ]
    calls += [
        blocks(rng, (5,), 5, 5, size, 5, d_k=5, is_causal=causal, attn_mask=tensor(rng.booleans(5, 5, 5)))
        for size in (2, 5)
        for causal in (False, True)
    ]
    some = {"is_causal": True}, {"attn_mask": tensor([False, True, False, False, True])}
    return calls + [far_below_zero(rng, low, **hidden) for low in (-2e4, -2e9) for hidden in some]


def masks_for(lead, queries, keys):
    """Shapes of masks for two leading axes: with fewer axes, or with axes of length 1."""
    batch, heads = lead
    return (keys,), (queries, 1), (batch, 1, queries, keys), (batch, heads, 1, keys), (1, heads, queries, keys)


def far_below_zero(rng, low, **hidden):
    """A call in blocks of two keys, of which some are hidden; all scores are one number."""
    key = tensor([[1.0]] * 5)
    return call(query=tensor([[low]] * 4), key=key, value=rng.tensor(5, 3), block_size=2, **hidden)


@check(
    BLOCKWISE,
    sees="gradients are right under masks, with block sizes that divide nothing",
    compares="gradient",
    points=1,
)
def blockwise_masked_gradient(rng):
    return [
        blocks(rng, (2,), 5, 7, 3, 4, d_k=6, attn_mask=tensor(spread(rng, 3, 2, 5, 7))),
        blocks(rng, (3,), 4, 6, 5, 2, d_k=7, is_causal=True, attn_mask=tensor(rng.booleans(3, 4, 6))),
    ]


# Only that gradients arrive, and are no nonsense: some compute in half precision on the way, and bfloat16 has 8 bits.
@check(BLOCKWISE, sees="gradients arrive in half precision too", compares="gradient", tolerance=5e-2, points=1)
def blockwise_half_gradient(rng):
    return [
        blocks(rng, (6,), 4, 5, 2, 3, "float16", is_causal=True),
        blocks(rng, (5,), 3, 7, 4, 6, "bfloat16", is_causal=True),
    ]


@check(BACKWARD, sees="no length, no width and no block size is special", coinciding=True, points=1)
def backward_sizes(rng):
    queries, keys, d_k, d_v = rng.sizes(4, 5, 12)
    calls = [gradients(rng, (), queries, keys, size, d_v, d_k=d_k) for size in (1, 3, keys - 1, keys, 50)]
    calls += [gradients(rng, (), 1, 1, 1, 1), gradients(rng, (2, 3), queries, 1, 50, d_v)]
    return [*calls, gradients(rng, (4,), 4, 4, 4, 4, d_k=4), _long(rng, gradients)]


@check(BACKWARD, sees="gradients are right in half precision", tolerance=5e-2, points=1)
def backward_narrow(rng):
    return [gradients(rng, (2,), 4, 7, 3, 5, "float16", d_k=3), gradients(rng, (3,), 5, 6, 2, 4, "bfloat16", d_k=7)]


@check(
    GROUPED,
    sees="any numbers of heads, groups, queries and keys, with and without masks, and the lowest scores",
    coinciding=True,
    points=2,
)
def grouped_sizes(rng):
    calls = [grouped(rng, heads, groups, 3, d_k=4, queries=2, keys=5) for heads, groups in ((8, 2), (9, 3), (5, 5))]
    mask = tensor(rng.booleans(3, 8, 2, 5))
    calls += [grouped(rng, 8, 4, batch=3, queries=2, keys=5, attn_mask=mask), grouped(rng, 1, 1, queries=1, keys=1)]
    calls.append(grouped(rng, 4, 1, queries=5, keys=2, attn_mask=tensor(mask_of(rng, 2))))
    calls.append(grouped(rng, 3 * 17, 17, 19, d_k=21, batch=1, queries=23, keys=rng.integer(25, 40)))
    equal = {"batch": 4, "queries": 4, "keys": 4, "d_k": 4, "d_v": 4}
    calls += [grouped(rng, heads, 4, **equal, attn_mask=tensor(rng.booleans(4, heads, 4, 4))) for heads in (4, 8)]
    query, key = tensor([[[[LOWEST]] * 2] * 4], DTYPE), tensor([[[[1.0]] * 5] * 2], DTYPE)
    return [*calls, call(query, key, rng.tensor(1, 2, 5, 3, dtype=DTYPE), tensor(ONE_OF_FIVE[0]))]


@check(
    PARTIALS,
    sees="any mixture of parts with keys and without, of any shape, also where sizes coincide",
    points=1,
    coinciding=True,
)
def partials_any(rng):
    def maxima(*shape):
        if shape:
            return [maxima(*shape[1:]) for _ in range(shape[0])]
        return HIDDEN if rng.random() < 0.25 else round(rng.uniform(-30, 30), 1)

    shapes = [(3,), (2, 2), (1,), (2, 3, 1), (), (3, rng.integer(20, 30))]
    widths = (3, 2, 1, 4, 1, rng.integer(31, 40))
    return [pair(rng, maxima(*shape), maxima(*shape), d) for shape, d in zip(shapes, widths, strict=True)]


@check(PARTIALS, sees="equal maxima, maxima of zero, and values people take for minus infinity", points=1)
def partials_values(rng):
    first, second = [0.0, 0.0, -1e4, -1e9, 2.0, LOWEST], [0.0, HIDDEN, HIDDEN, -1e9, -1e9, LOWEST]
    narrow = [LOWEST, LOWEST, HIDDEN, 0.0], [LOWEST, HIDDEN, LOWEST, LOWEST]
    return [
        *some_without_values(rng),
        call(*(partial(rng, maxima, 2, spread=0.0) for maxima in (first, second))),
        call(*(partial(rng, maxima, 2, spread=0.0, dtype=DTYPE) for maxima in narrow)),
    ]


def some_without_values(rng):
    """Calls in which the values of one part are all zero: it has keys all the same, and they count."""
    zeros = triple(tensor([0.5, -1.0, 2.0]), tensor([1.5, 2.25, 1.25]), tensor([[0.0] * 2] * 3))
    others = [partial(rng, [1.5, 0.0, -0.5], 2) for _ in range(2)]
    return [call(zeros, others[0]), call(others[1], zeros)]


@check(CACHE, sees="keys and values of any widths, in appends of any lengths, up to the last position", points=1)
def cache_long(rng):
    lengths = [rng.integer(1, 4) for _ in range(6)]
    total = sum(lengths)
    uses = [step(rng, (2, 3), length, d_k=7, d_v=5) for length in lengths]
    more = refused(step(rng, (2, 3), 1, d_k=7, d_v=5))
    equal = [step(rng, (3, 3), 3, d_k=3, d_v=3) for _ in range(2)]
    long = [step(rng, (1,), rng.integer(3, 6), d_k=2, d_v=2) for _ in range(rng.integer(24, 30))]
    full = [built(call(total), *uses), built(call(total), *uses, more)]
    at_once = [step(rng, (2,), length, d_k=2, d_v=5) for length in (17, 3)]
    return [*full, built(call(100), *uses), built(call(6), *equal), built(call(200), *long), built(call(40), *at_once)]
