"""Visible checks of the cache of keys and values."""

from selfcheck.plan import attribute, built, call, check, refused

from ._dtypes import DTYPES
from ._efficient_inputs import (
    ALONE,
    last,
    lengths,
    misfit_arguments,
    misfit_steps,
    overflow,
    step,
)

CACHE = "efficient.KeyValueCache"
ROOM = 13  # max_length where a check does not look at it


# 10.1 KeyValueCache


@check(CACHE, sees="each cache begins empty, whatever another one holds")
def cache_apart(rng):
    lead = (2,)
    return [built(call(length), step(rng, lead, 3), step(rng, lead, 2)) for length in (ALONE, 8)]


@check(CACHE, sees="the first append returns what it was given, keys first")
def cache_first(rng):
    sizes = [(ROOM, (2, 1), 1), (ROOM, (), 3), (1, (), 1)]
    return [built(call(max_length), step(rng, lead, length)) for max_length, lead, length in sizes]


@check(CACHE, sees="one position after the other is added at the end", view=last)
def cache_grows(rng):
    return built(call(ROOM), *(step(rng, (1, 2), 1) for _ in range(4)))


@check(CACHE, sees="an append may bring several positions, behind any leading axes", view=last)
def cache_many(rng):
    return [built(call(ROOM), *(step(rng, lead, length) for length in (3, 1, 2))) for lead in ((), (3,), (2, 1))]


@check(CACHE, sees="what was returned earlier does not change")
def cache_earlier(rng):
    return built(call(ROOM), *(step(rng, (2,), length) for length in (2, 1, 3)))


@check(CACHE, sees="the cache can be filled to its last position", view=last)
def cache_full(rng):
    return built(call(6), *(step(rng, (), length, d_v=4) for length in (2, 3, 1)))


@check(CACHE, sees="more positions than max_length are refused, at once or over several appends", compares="error")
def cache_overflow(rng):
    return overflow(rng)


@check(CACHE, sees="a refused append leaves the cache as it was, and it goes on", view=last)
def cache_goes_on(rng):
    return [
        built(call(4), step(rng, (2,), 2), refused(step(rng, (2,), 3)), step(rng, (2,), 1)),
        built(call(2), refused(step(rng, (2,), 3)), step(rng, (2,), 1)),
        *(
            built(call(ROOM), step(rng, (2,), 2), refused(step(rng, (2,), 3, **other)), step(rng, (2,), 1))
            for other in ({"d_v": 1}, {"d_k": 1})
        ),
    ]


@check(CACHE, sees="length says how many positions it holds, 0 when new", view=lengths)
def cache_length(rng):
    steps = [step(rng, (2,), length) for length in rng.sample((1, 2, 3), 3)]
    return built(call(ROOM), attribute("length"), *(use for step in steps for use in (step, attribute("length"))))


@check(CACHE, sees="keys and values of another shape than those held are refused", compares="error")
def cache_misfit(rng):
    return misfit_steps(rng)


@check(CACHE, sees="gradients reach the keys and values of every append", compares="gradient")
def cache_gradient(rng):
    return built(call(ROOM), *(step(rng, (2,), length) for length in (1, 3, 2)))


@check(CACHE, sees="keys and values keep their dtype", compares="dtype")
def cache_dtype(rng):
    return [built(call(4), step(rng, (2,), 1, dtype=dtype), step(rng, (2,), 2, dtype=dtype)) for dtype in DTYPES]


@check(CACHE, sees="the arguments are left as they were", compares="unchanged")
def cache_unchanged(rng):
    return built(call(6), *(step(rng, (2,), length) for length in (1, 2, 1)))


@check(CACHE, sees="arguments that cannot be right are refused", compares="error")
def cache_errors(rng):
    return misfit_arguments(rng)
