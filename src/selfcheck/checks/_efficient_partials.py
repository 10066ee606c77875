"""Visible checks of the merge of two parts of attention."""

from selfcheck.plan import call, check, quotient, tensor, triple

from ._dtypes import DTYPES
from ._efficient_inputs import HIDDEN

PARTIALS = "efficient.merge_partials"


# 11.4 merge_partials


def partial(rng, maxima, d, dtype="float64", spread=0.4):
    """A part about as many queries as there are maxima, a nested list: totals from 1 on, for the largest counts 1.

    A maximum of -inf makes the part empty there.
    """

    def one(maximum):
        if isinstance(maximum, list):
            return [list(rows) for rows in zip(*map(one, maximum), strict=True)]
        if maximum == HIDDEN:
            return [HIDDEN, 0.0, [0.0] * d]
        total = round(rng.uniform(1.2, 3.0), 2)
        return [round(maximum + rng.uniform(-spread, spread), 2), total, [round(rng.gauss(0, 1), 2) for _ in range(d)]]

    return triple(*(tensor(part, dtype) for part in one(maxima)))


def pair(rng, first, second, d, dtype="float64"):
    """A merge of two parts with maxima near those given."""
    return call(partial(rng, first, d, dtype), partial(rng, second, d, dtype))


@check(PARTIALS, sees="a later part with larger scores makes what the earlier one has come to smaller")
def partials_rising(rng):
    return pair(rng, [-1.0, 0.5, 1.0], [0.5, 1.5, 3.0], d=5)


@check(PARTIALS, sees="an earlier part with larger scores makes what the later one has come to smaller")
def partials_falling(rng):
    return pair(rng, [0.5, 1.5, 3.0], [-1.0, 0.5, 1.0], d=5)


@check(PARTIALS, sees="each query has a maximum of its own, be it larger, smaller or the same")
def partials_mixed(rng):
    return [
        pair(rng, [2.0, -60.0], [0.5, -59.0], d=3),
        pair(rng, [-500.0, 2.0, 500.0], [-499.0, 1.0, 499.5], d=2),
        call(*(partial(rng, maxima, 3, spread=0.0) for maxima in ([1.5, -2.5], [1.5, 0.5]))),
    ]


@check(PARTIALS, sees="parts whose maxima lie ten thousand apart overflow nowhere")
def partials_large(rng):
    return [
        pair(rng, [10000.0, -10000.0, 0.0], [-10000.0, 10000.0, 10000.0], d=2),
        pair(rng, [-10000.0, 10000.0], [-10001.0, 10001.0], d=3),
    ]


@check(PARTIALS, sees="a part without a key changes nothing, on either side")
def partials_empty(rng):
    return [pair(rng, [HIDDEN, -2.0, 1.5], [-3.0, HIDDEN, 0.5], d=2), pair(rng, [HIDDEN] * 2, [1.5, -2.5], d=3)]


@check(PARTIALS, sees="two parts without a key are one without a key")
def partials_nothing(rng):
    return pair(rng, [HIDDEN, HIDDEN, 1.0], [HIDDEN, -2.0, HIDDEN], d=5)


@check(PARTIALS, sees="leading axes are kept, and there may be none")
def partials_axes(rng):
    return [
        pair(rng, [[0.5, 2.0, -1.0], [1.5, 0.0, 1.0]], [[1.5, 1.0, 0.5], [0.5, 2.0, 0.0]], d=4),
        pair(rng, 1.5, 0.5, d=3),
        pair(rng, [[0.5, 2.0], [1.5, 0.0]], [[1.5, 1.0], [0.5, 2.0]], d=2),
    ]


@check(PARTIALS, sees="gradients of the output reach both parts", compares="gradient")
def partials_gradient(rng):
    return quotient(pair(rng, [0.5, 2.0, -1.0], [1.5, 0.5, 0.5], d=5))


@check(PARTIALS, sees="gradients stay finite where a part, or both, have no key", compares="gradient")
def partials_nothing_gradient(rng):
    return quotient(pair(rng, [HIDDEN, HIDDEN, 1.0], [HIDDEN, -2.0, HIDDEN], d=5))


@check(PARTIALS, sees="the results have the dtype of the parts", compares="dtype")
def partials_dtype(rng):
    return [pair(rng, [0.5, 2.0], [1.5, 0.5], 3, dtype) for dtype in DTYPES]


@check(PARTIALS, sees="triples that do not fit are refused", compares="error")
def partials_errors(rng):
    def part(*shapes, dtype="float64"):
        return triple(*(rng.tensor(*shape, dtype=dtype) for shape in shapes))

    good, narrow = part((3,), (3,), (3, 2)), part((3,), (3,), (3, 4))
    return [
        call(good, narrow),
        call(good, part((4,), (4,), (4, 2))),
        call(part((3,), (4,), (3, 2)), good),
        call(good, part((3,), (3,), (2, 3))),
        call(good, part((3,), (3,), (3, 2), dtype="float32")),
        call(part((3,), (3,), (3,)), part((3,), (3,), (3,))),
    ]


@check(PARTIALS, sees="both parts are left as they were", compares="unchanged")
def partials_unchanged(rng):
    return pair(rng, [0.5, 2.0, -1.0], [1.5, 0.5, 0.5], d=2)
