"""Visible checks of hard attention, which samples one value."""

from selfcheck.plan import check, generator

from . import _generators
from . import _sequence_to_sequence_draws as draws
from . import _sequence_to_sequence_refused as refused
from ._dtypes import DTYPES

HARD = "sequence_to_sequence.hard_attention"


# 9.3 hard_attention


@check(HARD, sees="what comes back is one of the values, as it was given", view=draws.all_choices, given=True)
def hard_one_value(rng):
    return draws.lottery(rng, 34, 5)


@check(HARD, sees="each choice is drawn as often as the softmax says", view=draws.how_often)
def hard_frequencies(rng):
    return draws.lottery(rng, draws.DRAWS, 12)


@check(HARD, sees="each row draws for itself", view=draws.rows_differ, given=True)
def hard_rows(rng):
    return draws.lottery(rng, 34, 5)


@check(HARD, sees="beside the value comes the logarithm of its probability", view=draws.log_probabilities)
def hard_log_probability(rng):
    return draws.lottery(rng, 34, 5)


def _several_generators(rng):
    return _generators.in_several_states(rng, draws.lottery(rng, 34, 5))


@check(
    HARD,
    sees="the random numbers come from the generator that is given",
    compares="generator",
    outside=_several_generators,
    outside_view=_generators.draws_follow,
)
def hard_generator(rng):
    return draws.lottery(rng, 4, 3, generator=generator(rng.integer(1, 1000)))


@check(HARD, sees="where one choice is certain, it is this value, of every row")
def hard_certain(rng):
    choices, d = rng.sample((4, 6), 2)
    return [draws.sure(rng, lead, choices, d) for lead in ((3,), (), (2, 3), (3, 2))]


@check(HARD, sees="axes of length 1 are kept")
def hard_shapes(rng):
    choices = rng.choice((5, 7))
    return [draws.sure(rng, (1,), choices, 1), draws.sure(rng, (3, 1), choices, 1)]


@check(HARD, sees="scores of thousands are no trouble")
def hard_large_scores(rng):
    batch, choices, d = rng.sizes(3, 3, 8)
    return draws.sure(rng, (batch,), choices, d, gap=5000.0, level=3000.0)


@check(
    HARD,
    sees="where every score is -inf, zeros come back, with log-probability 0",
    tells=draws.drawn_from_nothing,
)
def hard_nothing(rng):
    return draws.with_nothing_to_draw(rng)


@check(
    HARD,
    sees="gradients reach the scores through the log-probability, and the values through the choice",
    compares="gradient",
)
def hard_gradient(rng):
    return draws.with_large_values(rng)


@check(HARD, sees="gradients stay finite where every score is -inf", compares="gradient")
def hard_nothing_gradient(rng):
    return draws.with_nothing_to_draw(rng)


@check(HARD, sees="value and log-probability have the dtype of the arguments", compares="dtype")
def hard_dtype(rng):
    return [draws.sure(rng, (2,), 3, 4, dtype=dtype) for dtype in DTYPES]


@check(HARD, sees="arguments that do not fit are refused", compares="error")
def hard_errors(rng):
    return refused.hard_calls(rng)
