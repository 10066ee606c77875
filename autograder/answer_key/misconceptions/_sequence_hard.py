"""Wrong hard attention."""

import functools
import math

import torch

from ..reference_package import reference
from . import misconception

HARD = "sequence_to_sequence.hard_attention"
right = reference(HARD)


def wrong(function, like=""):
    """Register a wrong answer behind the given checks, which use up no random number; like: see `misconception`."""

    @functools.wraps(function)
    def answer(scores, values, generator=None):
        with torch.no_grad(), torch.random.fork_rng(devices=[]):
            right(scores, values)
        return function(scores, values, generator)

    misconception(HARD, like)(answer)
    return function


def parts(scores):
    """Log-probabilities (..., S), and the rows (..., 1) that have any."""
    some = (scores != -torch.inf).any(dim=-1, keepdim=True)
    return torch.log_softmax(scores.where(some, 0.0), dim=-1), some


def drawn(log_weights, generator):
    """A choice (..., 1) for each row."""
    weights = log_weights.detach().float().exp().reshape(-1, log_weights.shape[-1])
    return torch.multinomial(weights, 1, generator=generator).reshape(*log_weights.shape[:-1], 1)


def at(table, choice):
    return table.take_along_dim(choice, dim=-1).squeeze(-1)


def value_at(values, choice):
    return values.take_along_dim(choice.unsqueeze(-1), dim=-2).squeeze(-2)


def answered(values, choice, log_probability, some):
    return value_at(values, choice).where(some, 0.0), log_probability.where(some.squeeze(-1), 0.0)


@wrong
def most_likely_instead_of_drawn(scores, values, generator):
    log_weights, some = parts(scores)
    choice = scores.argmax(dim=-1, keepdim=True)
    return answered(values, choice, at(log_weights, choice), some)


@wrong
def weighted_sum(scores, values, generator):
    log_weights, some = parts(scores)
    value = ((log_weights.exp() * some).unsqueeze(-2) @ values).squeeze(-2)
    return value, log_weights.amax(dim=-1).where(some.squeeze(-1), 0.0)


@wrong
def drawn_uniformly(scores, values, generator):
    log_weights, some = parts(scores)
    choice = torch.randint(scores.shape[-1], some.shape, generator=generator)
    return answered(values, choice, at(log_weights, choice), some)


@wrong
def drawn_with_the_scores(scores, values, generator):
    choice = torch.multinomial(scores.detach().float(), 1, generator=generator)
    return answered(values, choice, at(torch.log_softmax(scores, dim=-1), choice), parts(scores)[1])


@wrong
def gumbel_without_its_minus(scores, values, generator):
    log_weights, some = parts(scores)
    noise = torch.rand(scores.shape, generator=generator).clamp(min=1e-30).log().neg().log()
    choice = (log_weights + noise).argmax(dim=-1, keepdim=True)
    return answered(values, choice, at(log_weights, choice), some)


@wrong
def one_draw_for_all_rows(scores, values, generator):
    log_weights, some = parts(scores)
    first = log_weights.reshape(-1, scores.shape[-1])[0]
    choice = drawn(first, generator).expand(some.shape)
    return answered(values, choice, at(log_weights, choice), some)


@wrong
def softmax_over_the_first_axis(scores, values, generator):
    some = parts(scores)[1]
    log_weights = torch.log_softmax(scores.where(some, 0.0), dim=0)
    choice = drawn(log_weights.clamp(min=-80.0), generator)
    return answered(values, choice, at(log_weights, choice), some)


@wrong
def generator_ignored(scores, values, generator):
    return right(scores, values)


def _log_probability(name, other):
    """A misconception that returns something else beside the value; other: from scores, log-weights and choice."""

    def answer(scores, values, generator):
        log_weights, some = parts(scores)
        choice = drawn(log_weights, generator)
        return answered(values, choice, other(scores, log_weights, choice), some)

    answer.__name__ = name
    wrong(answer)


_log_probability("probability_returned", lambda scores, log_weights, choice: at(log_weights, choice).exp())
_log_probability("score_returned", lambda scores, log_weights, choice: at(scores, choice))
_log_probability("negative_log_probability", lambda scores, log_weights, choice: -at(log_weights, choice))
_log_probability("log_probability_of_the_most_likely", lambda scores, log_weights, choice: log_weights.amax(dim=-1))
_log_probability(
    "uniform_log_probability",
    lambda scores, log_weights, choice: at(log_weights, choice) * 0.0 - math.log(scores.shape[-1]),
)
_log_probability("log_probability_detached", lambda scores, log_weights, choice: at(log_weights, choice).detach())


@wrong
def log_probability_of_another_row(scores, values, generator):
    log_weights, some = parts(scores)
    choice = drawn(log_weights, generator)
    first = log_weights.reshape(-1, scores.shape[-1])[0]
    return answered(values, choice, first[choice.squeeze(-1)], some)


@wrong
def log_of_a_softmax(scores, values, generator):
    some = parts(scores)[1]
    weights = torch.softmax(scores.where(some, 0.0), dim=-1)
    choice = drawn(weights.detach().log(), generator)
    return answered(values, choice, at(weights.log(), choice), some)


@wrong
def exponentials_overflow(scores, values, generator):
    some = parts(scores)[1]
    weights = scores.where(some, 0.0).exp()
    choice = torch.multinomial(weights.detach().reshape(-1, scores.shape[-1]), 1, generator=generator)
    choice = choice.reshape(some.shape)
    return answered(values, choice, (at(weights, choice) / weights.sum(dim=-1)).log(), some)


@wrong
def straight_through(scores, values, generator):
    log_weights, some = parts(scores)
    choice = drawn(log_weights, generator)
    soft = log_weights.exp()
    one_hot = torch.zeros_like(soft).scatter(-1, choice, 1.0)
    used = (one_hot + (soft - soft.detach())) * some
    return (used.unsqueeze(-2) @ values).squeeze(-2), at(log_weights, choice).where(some.squeeze(-1), 0.0)


def of_gumbel_softmax(scores, values, generator):
    """torch's own, which takes no generator."""
    log_weights, some = parts(scores)
    used = torch.nn.functional.gumbel_softmax(log_weights, hard=True) * some
    log_probability = at(log_weights, used.detach().argmax(dim=-1, keepdim=True))
    return (used.unsqueeze(-2) @ values).squeeze(-2), log_probability.where(some.squeeze(-1), 0.0)


def with_gumbel_noise(scores, values, generator):
    log_weights, some = parts(scores)
    noise = torch.rand(scores.shape, generator=generator).clamp(1e-20, 1 - 1e-7).log().neg().log().neg()
    soft = torch.softmax(log_weights + noise.to(scores.dtype), dim=-1)
    choice = soft.detach().argmax(dim=-1, keepdim=True)
    used = (torch.zeros_like(soft).scatter(-1, choice, 1.0) + (soft - soft.detach())) * some
    log_probability = at(log_weights, choice).where(some.squeeze(-1), 0.0)
    return (used.unsqueeze(-2) @ values).squeeze(-2), log_probability


wrong(of_gumbel_softmax, like="straight_through")
wrong(with_gumbel_noise, like="straight_through")


@wrong
def one_axis_in_front_at_most(scores, values, generator):
    log_weights, some = parts(scores)
    choice = torch.multinomial(log_weights.detach().exp(), 1, generator=generator)
    return answered(values, choice, at(log_weights, choice), some)


@wrong
def indexed_without_the_batch(scores, values, generator):
    log_weights, some = parts(scores)
    choice = drawn(log_weights, generator)
    value = values[..., choice.squeeze(-1), :]
    return value * some if scores.dim() == 1 else value, at(log_weights, choice).where(some.squeeze(-1), 0.0)


@wrong
def squeezed_everything(scores, values, generator):
    value, log_probability = right(scores, values, generator)
    return value.squeeze(), log_probability.squeeze()


@wrong
def nothing_to_draw_fails(scores, values, generator):
    log_weights = torch.log_softmax(scores, dim=-1)
    choice = drawn(log_weights, generator)
    return value_at(values, choice), at(log_weights, choice)


@wrong
def something_drawn_from_nothing(scores, values, generator):
    log_weights, _ = parts(scores)
    choice = drawn(log_weights, generator)
    return value_at(values, choice), at(log_weights, choice)


@wrong
def minus_infinity_for_nothing(scores, values, generator):
    value, log_probability = right(scores, values, generator)
    return value, log_probability.where(parts(scores)[1].squeeze(-1), -torch.inf)


@wrong
def nan_on_the_way_back(scores, values, generator):
    some = parts(scores)[1]
    log_weights = torch.log_softmax(scores, dim=-1)
    choice = drawn(log_weights.detach().nan_to_num(0.0), generator)
    return answered(values, choice, at(log_weights, choice), some)


@wrong
def number_of_the_choice_returned(scores, values, generator):
    log_weights, some = parts(scores)
    choice = drawn(log_weights, generator)
    return choice.squeeze(-1), at(log_weights, choice).where(some.squeeze(-1), 0.0)


@wrong
def results_exchanged(scores, values, generator):
    return right(scores, values, generator)[::-1]


@wrong
def always_float32(scores, values, generator):
    value, log_probability = right(scores.float(), values.float(), generator)
    return value, log_probability


def drawn_from_ones(scores, values, generator):
    log_weights, some = parts(scores)
    choice = drawn(torch.zeros_like(log_weights), generator)
    return answered(values, choice, at(log_weights, choice), some)


wrong(drawn_from_ones, like="drawn_uniformly")
