"""Hidden checks of the scores."""

from selfcheck.checks.scores import additive, bilinear, two
from selfcheck.plan import call, check, tensor


def large(rng, *shape):
    """Numbers of a size of ten thousand."""
    return tensor(scaled(rng.normal(*shape), 1e4))


def scaled(nested, factor):
    return [scaled(part, factor) for part in nested] if isinstance(nested, list) else nested * factor


def equal_sizes(rng):
    """Calls in which as many queries meet as many keys of the same width, and a query and a key are zeros."""
    zeros, ones = [0.0] * 5, [1.0] * 5
    return [
        two(rng, (4, 4), (4, 4)),
        two(rng, (3, 3, 3), (3, 3, 3)),
        two(rng, (2, 2, 2, 2), (2, 2, 2, 2)),
        call(tensor([zeros, ones]), tensor([zeros, ones, ones])),
    ]


@check(
    "scores.additive_scores",
    sees="odd and equal shapes, many features, zeros and large numbers give finite scores",
    points=1,
    coinciding=True,
)
def additive_extremes(rng):
    queries, keys, hidden, d_q, d_k = rng.sizes(5, 3, 12)
    return [
        call(large(rng, queries, d_q), large(rng, keys, d_k), rng.tensor(hidden, d_q + d_k), rng.tensor(hidden)),
        additive(rng, (1, d_q), (keys, d_k), 1),
        additive(rng, (2, 1, queries, d_q), (3, keys, d_k), hidden),
        additive(rng, (queries, d_q), (3, keys, d_k), hidden),
        additive(rng, (1, queries, d_q), (3, keys, d_k), hidden),
        additive(rng, (4, 4), (4, 4), 4),
        additive(rng, (3, 3, 3), (3, 3, 3), 3),
        additive(rng, (2, 17), (3, 5), 4),
        additive(rng, (2, 5), (3, 17), 4),
        call(
            tensor([[0.0] * d_q, [1.0] * d_q]), tensor([[0.0] * d_k]), rng.tensor(hidden, d_q + d_k), rng.tensor(hidden)
        ),
    ]


@check(
    "scores.bilinear_scores",
    sees="odd shapes, zeros, large numbers and equal sizes make no difference",
    points=1,
    coinciding=True,
)
def bilinear_extremes(rng):
    queries, keys, d_q, d_k = rng.sizes(4, 3, 10)
    return [
        call(large(rng, queries, d_q), large(rng, keys, d_k), rng.tensor(d_q, d_k)),
        bilinear(rng, (1, 1), (keys, d_k)),
        bilinear(rng, (2, 1, queries, d_q), (3, keys, d_k)),
        bilinear(rng, (queries, d_q), (3, keys, d_k)),
        bilinear(rng, (1, queries, d_q), (3, keys, d_k)),
        bilinear(rng, (4, 4), (4, 4)),
        bilinear(rng, (3, 3, 3), (3, 3, 3)),
        call(tensor([[0.0] * d_q, [1.0] * d_q]), tensor([[0.0] * d_k, [1.0] * d_k]), rng.tensor(d_q, d_k)),
    ]


@check(
    "scores.dot_scores",
    sees="odd shapes, zeros, large numbers and equal sizes make no difference",
    points=1,
    coinciding=True,
)
def dot_extremes(rng):
    queries, keys, width = rng.sizes(3, 3, 9)
    return [
        call(large(rng, queries, width), large(rng, keys, width)),
        two(rng, (1, 1), (keys, 1)),
        two(rng, (2, 1, queries, width), (3, keys, width)),
        two(rng, (queries, width), (3, keys, width)),
        two(rng, (1, queries, width), (3, keys, width)),
        *equal_sizes(rng),
    ]


@check(
    "scores.scaled_dot_scores",
    sees="odd shapes, zeros, large numbers, other widths and equal sizes make no difference",
    points=1,
    coinciding=True,
)
def scaled_extremes(rng):
    queries, keys = rng.sample((9, 10, 11), 2)
    return [
        call(large(rng, queries, 6), large(rng, keys, 6)),
        two(rng, (1, 12), (keys, 12)),
        two(rng, (2, 1, queries, 17), (3, keys, 17)),
        two(rng, (queries, 12), (3, keys, 12)),
        two(rng, (1, queries, 12), (3, keys, 12)),
        *equal_sizes(rng),
    ]
