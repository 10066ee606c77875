"""Visible checks of the scores."""

import math

from selfcheck.arrays import array, nest
from selfcheck.plan import call, check, tensor

from ._dtypes import DTYPES

ODD = (3, 5, 7, 9, 11)  # no two of these are neighbours, and none is half of another or the sum of two
LONG = (11, 13, 15)  # lengths whose square roots are far from those of the widths
WIDE = (5, 7)  # the roots are rounded down, up and to the nearest number in three different ways
#: Queries, keys, hidden units, d_q and d_k of two calls. The width of W1 is 8 in both, d_q + d_k; what is its
#: neighbour, or makes a sum with it, in one of them is neither in the other.
APART = ((11, 9, 7, 3, 5), (7, 11, 9, 5, 3))


def direction(step, answer):
    """The scores divided by the root of their sum of squares: a constant factor is another check's business."""
    values = answer.values()
    norm = math.sqrt(sum(value * value for value in values))
    return array(nest([value / norm for value in values], answer.shape))


def additive(rng, query_shape, key_shape, hidden, dtype="float64", alike=False):
    """A call of additive_scores. alike: W1 treats query and key alike, so that their order does not show."""
    d_q, d_k = query_shape[-1], key_shape[-1]
    w1 = rng.normal(hidden, d_q + d_k)
    if alike:
        w1 = [row[:d_q] * 2 for row in w1]
    return call(
        query=rng.tensor(*query_shape, dtype=dtype),
        key=rng.tensor(*key_shape, dtype=dtype),
        w1=tensor(w1, dtype),
        w2=rng.tensor(hidden, dtype=dtype),
    )


@check(
    "scores.additive_scores",
    sees="W1 acts on the query above the key, and w2 adds up the hidden units",
    tolerance=1e-6,
    coinciding=True,
)
def additive_order(rng):
    # Numbers so small that tanh does nothing: this sees the two linear maps alone.
    hidden, width = rng.sizes(2, 3, 8)
    small = [[[entry / 1000 for entry in rng.normal(width)]] for _ in range(2)]
    w1, w2 = rng.tensor(hidden, 2 * width), rng.tensor(hidden)
    return call(query=tensor(small[0]), key=tensor(small[1]), w1=w1, w2=w2)


@check("scores.additive_scores", sees="tanh acts on each hidden unit, after W1 and before w2", coinciding=True)
def additive_tanh(rng):
    hidden, width = rng.sizes(2, 3, 8)
    return [additive(rng, (1, width), (1, width), hidden, alike=True) for _ in range(3)]


@check("scores.additive_scores", sees="entry [i, j] is the score of query i and key j", coinciding=True)
def additive_pairs(rng):
    queries, keys, hidden, width = rng.sizes(4, 2, 10)
    return additive(rng, (queries, width), (keys, width), hidden, alike=True)


@check("scores.additive_scores", sees="queries and keys may have different widths")
def additive_widths(rng):
    return of_two_widths(rng)


def of_two_widths(rng):
    """Calls of queries and keys of different widths: first the queries are the narrower ones, then the keys."""
    return [additive(rng, (queries, d_q), (keys, d_k), hidden) for queries, keys, hidden, d_q, d_k in APART]


@check("scores.additive_scores", sees="leading batch dimensions are kept, and broadcast", coinciding=True)
def additive_batch(rng):
    queries, keys, hidden, width = rng.sample((4, 5, 7, 9), 4)
    batch, heads = rng.sample((2, 3), 2)
    return [
        additive(rng, (batch, queries, width), (batch, keys, width), hidden, alike=True),
        additive(rng, (batch, heads, queries, width), (1, heads, keys, width), hidden, alike=True),
    ]


@check("scores.additive_scores", sees="gradients reach query, key, w1 and w2", compares="gradient")
def additive_gradient(rng):
    return of_two_widths(rng)


@check(
    "scores.additive_scores",
    sees="the result has the dtype of the arguments, which are left as they were",
    compares=("dtype", "unchanged"),
)
def additive_dtype(rng):
    queries, keys, hidden, d_q, d_k = rng.sizes(5, 2, 12)
    return [additive(rng, (queries, d_q), (keys, d_k), hidden, dtype) for dtype in DTYPES]


@check("scores.additive_scores", sees="arguments that do not fit are refused", compares="error")
def additive_errors(rng):
    queries, keys, hidden, d_q, d_k = rng.sizes(5, 2, 12)
    query, key, w1, w2 = (rng.tensor(*shape) for shape in ((queries, d_q), (keys, d_k), (hidden, d_q + d_k), (hidden,)))
    return [
        call(query, key, rng.tensor(hidden, d_q + d_k + 1), w2),
        call(query, key, rng.tensor(d_q + d_k), w2),
        call(query, key, w1, rng.tensor(hidden + 1)),
        call(query, key, rng.tensor(hidden, d_q + d_k, dtype="float32"), w2),
        call(query, key, w1, rng.tensor(hidden, dtype="float32")),
        *[call(*pair, w1, w2) for pair in unfit(rng, query, key)],
    ]


def unfit(rng, query, key):
    """Queries and keys that no score function takes: of another dtype, without a length, of two batch sizes."""
    (queries, d_q), (keys, d_k) = query.shape, key.shape
    return [
        (tensor(rng.integers(queries, d_q)), key),
        (query, tensor(rng.integers(keys, d_k))),
        (rng.tensor(d_q), key),
        (query, rng.tensor(d_k)),
        (rng.tensor(2, queries, d_q), rng.tensor(3, keys, d_k)),
    ]


def bilinear(rng, query_shape, key_shape, dtype="float64"):
    """A call of bilinear_scores."""
    shapes = {"query": query_shape, "key": key_shape, "weight": (query_shape[-1], key_shape[-1])}
    return call(**{name: rng.tensor(*shape, dtype=dtype) for name, shape in shapes.items()})


@check("scores.bilinear_scores", sees="entry [i, j] is query i, times W, times key j", coinciding=True)
def bilinear_pairs(rng):
    queries, keys, width = rng.sizes(3, 2, 8)
    return bilinear(rng, (queries, width), (keys, width))


@check("scores.bilinear_scores", sees="queries and keys may have different widths")
def bilinear_widths(rng):
    queries, keys, d_q, d_k = rng.sample(ODD, 4)
    return bilinear(rng, (queries, d_q), (keys, d_k))


@check("scores.bilinear_scores", sees="leading batch dimensions are kept, and broadcast", coinciding=True)
def bilinear_batch(rng):
    queries, keys, width = rng.sample((4, 6, 7, 9), 3)
    batch, heads = rng.sample((2, 3), 2)
    return [
        bilinear(rng, (batch, queries, width), (batch, keys, width)),
        bilinear(rng, (batch, heads, queries, width), (1, heads, keys, width)),
    ]


@check("scores.bilinear_scores", sees="gradients reach query, key and weight", compares="gradient")
def bilinear_gradient(rng):
    queries, keys, d_q, d_k = rng.sample(ODD, 4)
    return bilinear(rng, (queries, d_q), (keys, d_k))


@check(
    "scores.bilinear_scores",
    sees="the result has the dtype of the arguments, which are left as they were",
    compares=("dtype", "unchanged"),
)
def bilinear_dtype(rng):
    queries, keys, width = rng.sizes(3, 2, 8)
    return [bilinear(rng, (queries, width), (keys, width), dtype) for dtype in DTYPES]


@check("scores.bilinear_scores", sees="arguments that do not fit are refused", compares="error")
def bilinear_errors(rng):
    queries, keys, d_q, d_k = rng.sizes(4, 2, 10)
    query, key, weight = rng.tensor(queries, d_q), rng.tensor(keys, d_k), rng.tensor(d_q, d_k)
    return [
        call(query, key, rng.tensor(d_k, d_q)),
        call(query, key, rng.tensor(d_q, d_k, dtype="float32")),
        *[call(*pair, weight) for pair in unfit(rng, query, key)],
    ]


def two(rng, query_shape, key_shape, dtype="float64"):
    """A call of a score function that takes query and key alone."""
    return call(query=rng.tensor(*query_shape, dtype=dtype), key=rng.tensor(*key_shape, dtype=dtype))


@check("scores.dot_scores", sees="entry [i, j] is the dot product of query i and key j")
def dot_pairs(rng):
    queries, keys, width = rng.sizes(3, 2, 8)
    return two(rng, (queries, width), (keys, width))


@check("scores.dot_scores", sees="leading batch dimensions are kept, and broadcast")
def dot_batch(rng):
    return of_several_axes(rng)


def of_several_axes(rng, squares=True):
    """Calls with a batch, with a batch of heads, and with one set of keys for the whole batch.

    squares: whether a width may have a root without decimals. Scaled by it a score may lie between two of two decimals,
    and processors that add in another order would round it to another one.
    """
    width = rng.choice([size for size in ODD[1:] if squares or size != 9])
    queries, keys = rng.sample([size for size in ODD[1:] if size != width], 2)
    long, wide = rng.sample((4, 6, 8), 2) if squares else (4, rng.choice((6, 8)))
    return [
        two(rng, (4, queries, width), (4, keys, width)),
        two(rng, (3, 2, queries, width), (1, 2, keys, width)),
        two(rng, (2, 3, 2, wide), (2, 3, long, wide)),
    ]


@check("scores.dot_scores", sees="gradients reach query and key", compares="gradient")
def dot_gradient(rng):
    queries, keys, width = rng.sizes(3, 2, 8)
    return two(rng, (queries, width), (keys, width))


@check(
    "scores.dot_scores",
    sees="the result has the dtype of the arguments, which are left as they were",
    compares=("dtype", "unchanged"),
)
def dot_dtype(rng):
    queries, keys, width = rng.sizes(3, 2, 8)
    return [two(rng, (queries, width), (keys, width), dtype) for dtype in DTYPES]


@check("scores.dot_scores", sees="queries and keys that do not fit are refused", compares="error")
def dot_errors(rng):
    return refused_pairs(rng)


def refused_pairs(rng):
    """Calls of a score function that takes query and key alone, none of which can be answered."""
    queries, keys, width = rng.sizes(3, 2, 8)
    query, key = rng.tensor(queries, width), rng.tensor(keys, width)
    return [call(query, rng.tensor(keys, width + 1)), *[call(*pair) for pair in unfit(rng, query, key)]]


@check("scores.scaled_dot_scores", sees="scores are divided by the square root of d_k, the width of a key")
def scaled_scale(rng):
    queries, keys = rng.sample(LONG, 2)
    width, wider = WIDE
    return [two(rng, (queries, width), (keys, width)), two(rng, (1, queries, wider), (1, keys, wider))]


@check("scores.scaled_dot_scores", sees="apart from one factor, entry [i, j] is query i · key j", view=direction)
def scaled_pairs(rng):
    queries, keys, width = rng.sizes(3, 3, 9)
    return two(rng, (queries, width), (keys, width))


@check("scores.scaled_dot_scores", sees="leading batch dimensions are kept, and broadcast", view=direction)
def scaled_batch(rng):
    return of_several_axes(rng, squares=False)


@check("scores.scaled_dot_scores", sees="gradients reach query and key", compares="gradient")
def scaled_gradient(rng):
    # Width 1: its root is 1, so a wrong scale is left to the check of the scale.
    queries, keys = rng.sizes(2, 2, 8)
    return two(rng, (queries, 1), (keys, 1))


@check("scores.scaled_dot_scores", sees="the arguments are left as they were", compares="unchanged")
def scaled_unchanged(rng):
    queries, keys, width = rng.sizes(3, 2, 8)
    return two(rng, (queries, width), (keys, width))


@check("scores.scaled_dot_scores", sees="the result has the dtype of the arguments", compares="dtype")
def scaled_dtype(rng):
    queries, keys, width = rng.sizes(3, 2, 8)
    return [two(rng, (queries, width), (keys, width), dtype) for dtype in DTYPES]


@check("scores.scaled_dot_scores", sees="queries and keys that do not fit are refused", compares="error")
def scaled_errors(rng):
    return refused_pairs(rng)
