"""Wrong hard attention that draws otherwise, or returns something else beside the value."""

import math

import torch

from ._sequence_hard import answered, at, drawn, parts, wrong


def returning(name):
    """Register a function from the value and the log-probability, both right, to what is returned."""

    def register(change):
        def answer(scores, values, generator):
            log_weights, some = parts(scores)
            choice = drawn(log_weights, generator)
            return change(*answered(values, choice, at(log_weights, choice), some), log_weights)

        answer.__name__ = name
        wrong(answer)
        return change

    return register


returning("log_probability_in_bits")(lambda value, logarithm, every: (value, logarithm / math.log(2)))
returning("log_probabilities_summed")(
    lambda value, logarithm, every: (value, every.clamp(min=-1e30).sum(dim=-1).where(logarithm != 0, 0.0))
)
returning("log_probability_keeps_its_axis")(lambda value, logarithm, every: (value, logarithm.unsqueeze(-1)))
returning("value_keeps_its_axis")(lambda value, logarithm, every: (value.unsqueeze(-2), logarithm))
returning("value_detached")(lambda value, logarithm, every: (value.detach(), logarithm))
returning("all_log_probabilities")(
    lambda value, logarithm, every: (value, every.where(logarithm.unsqueeze(-1) != 0, 0.0))
)
returning("value_alone")(lambda value, logarithm, every: value)
returning("widened_to_float64")(lambda value, logarithm, every: (value.double(), logarithm.double()))
returning("log_probability_in_float32")(lambda value, logarithm, every: (value, logarithm.float()))


@wrong
def next_position_taken(scores, values, generator):
    log_weights, some = parts(scores)
    choice = (drawn(log_weights, generator) + 1) % scores.shape[-1]
    return answered(values, choice, at(log_weights, choice), some)


@wrong
def logits_halved(scores, values, generator):
    """The draw is from a flatter distribution."""
    log_weights, some = parts(scores)
    choice = drawn(log_weights / 2, generator)
    return answered(values, choice, at(log_weights, choice), some)


@wrong
def scores_filled_in_place(scores, values, generator):
    log_weights, some = parts(scores)
    scores.masked_fill_(~some, 0.0)
    choice = drawn(log_weights, generator)
    return answered(values, choice, at(torch.log_softmax(scores, dim=-1), choice), some)


def of_every_position(scores, values, generator):
    log_weights, some = parts(scores)
    value, _ = answered(values, drawn(log_weights, generator), log_weights[..., 0], some)
    return value, log_weights.where(some, 0.0)


wrong(of_every_position, like="all_log_probabilities")


@wrong
def softmax_twice(scores, values, generator):
    """The draw takes probabilities for scores."""
    log_weights, some = parts(scores)
    choice = drawn(torch.log_softmax(log_weights.exp(), dim=-1), generator)
    return answered(values, choice, at(log_weights, choice), some)


def by_gumbel_softmax(scores, values, generator):
    """As torch's gumbel_softmax with hard=True does it."""
    log_weights, some = parts(scores)
    noise = torch.empty_like(log_weights).exponential_(generator=generator).log()
    soft = (scores.where(some, 0.0) - noise).softmax(dim=-1)
    choice = soft.argmax(dim=-1, keepdim=True)
    used = torch.zeros_like(soft).scatter(-1, choice, 1.0) - soft.detach() + soft
    value = (used.unsqueeze(-2) @ values).squeeze(-2)
    return value.where(some, 0.0), at(log_weights, choice).where(some.squeeze(-1), 0.0)


wrong(by_gumbel_softmax, like="straight_through")
