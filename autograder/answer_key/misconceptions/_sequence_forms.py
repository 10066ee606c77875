"""More wrong attention before Transformers: other scores and sums, other falls with the distance, other draws."""

import torch

from ._given import behind_given_checks
from ._sequence_attend import ATTEND, masked_softmax, scoring
from ._sequence_hard import answered, at, drawn, parts, value_at, wrong
from ._sequence_local import LOCAL, distances, falling_off, gaussian, inside

# 9.1


@behind_given_checks(ATTEND)
def queries_with_themselves(query, keys, values, score, mask=None):
    weights = masked_softmax(score(query, query), mask)
    return weights @ values, weights


@behind_given_checks(ATTEND)
def weights_turned_in_the_sum(query, keys, values, score, mask=None):
    weights = masked_softmax(score(query, keys), mask)
    return weights.mT @ values, weights


@behind_given_checks(ATTEND)
def one_query_at_a_time(query, keys, values, score, mask=None):
    scores = torch.stack([score(query[..., i, :], keys) for i in range(query.shape[-2])], dim=-2)
    weights = masked_softmax(scores, mask)
    return weights @ values, weights


@behind_given_checks(ATTEND)
def rows_joined_along_the_keys(query, keys, values, score, mask=None):
    scores = torch.cat([score(query[..., i : i + 1, :], keys) for i in range(query.shape[-2])], dim=-1)
    weights = masked_softmax(scores, mask)
    return weights @ values, weights


scoring("softmax_twice")(lambda scores, mask: masked_softmax(masked_softmax(scores, mask), mask))


@scoring("divided_by_their_sum")
def _divided_by_their_sum(scores, mask):
    kept = scores if mask is None else scores * mask
    return kept / kept.sum(dim=-1, keepdim=True)


@scoring("logarithms_for_weights")
def _logarithms_for_weights(scores, mask):
    return (scores if mask is None else scores.masked_fill(~mask, -torch.inf)).log_softmax(dim=-1)


# 9.2

falling_off("distance_not_squared/over_the_deviation", lambda distance, window: torch.exp(-2 * distance.abs() / window))
falling_off("signed_distance", lambda distance, window: torch.exp(-2 * distance / window**2))
falling_off("signed_distance/over_the_deviation", lambda distance, window: torch.exp(-2 * distance / window))
falling_off("straight_fall", lambda distance, window: 1 - distance.abs() / window)
falling_off("exponential_left_out", lambda distance, window: -2 * (distance / window) ** 2)
falling_off("root_of_the_gaussian", lambda distance, window: torch.exp(-((distance / window) ** 2)))


@behind_given_checks(LOCAL)
def gaussian_of_the_first_row(scores, center, window):
    distance = distances(scores, center)
    return inside(scores, distance, window) * gaussian(distance.reshape(-1, distance.shape[-1])[0], window)


# 9.3


def noised(noise, choose=torch.argmax):
    def answer(scores, values, generator):
        log_weights, some = parts(scores)
        uniform = torch.rand(scores.shape, generator=generator).clamp(min=1e-30)
        choice = choose(log_weights + noise(uniform), dim=-1, keepdim=True)
        return answered(values, choice, at(log_weights, choice), some)

    return answer


def _drawing(name, answer):
    like, _, form = name.rpartition("/")
    answer.__name__ = form
    wrong(answer, like)


_drawing("smallest_taken", noised(lambda uniform: -torch.log(-torch.log(uniform)), torch.argmin))
_drawing("noise_of_another_kind", noised(lambda uniform: uniform))


@wrong
def drawn_twice(scores, values, generator):
    log_weights, some = parts(scores)
    choice, other = drawn(log_weights, generator), drawn(log_weights, generator)
    return answered(values, choice, at(log_weights, other), some)


@wrong
def entropy_returned(scores, values, generator):
    log_weights, some = parts(scores)
    entropy = -(log_weights.exp() * log_weights.clamp(min=-1e30)).sum(dim=-1)
    return answered(values, drawn(log_weights, generator), entropy, some)


def with_the_log_probability_of_a_draw(scores, values, generator):
    log_weights, some = parts(scores)
    value = ((log_weights.exp() * some).unsqueeze(-2) @ values).squeeze(-2)
    return value, at(log_weights, drawn(log_weights, generator)).where(some.squeeze(-1), 0.0)


wrong(with_the_log_probability_of_a_draw, like="weighted_sum")


@wrong
def value_weighed(scores, values, generator):
    """The drawn value, times its probability."""
    log_weights, some = parts(scores)
    choice = drawn(log_weights, generator)
    value = value_at(values, choice) * at(log_weights, choice).exp().unsqueeze(-1)
    return value.where(some, 0.0), at(log_weights, choice).where(some.squeeze(-1), 0.0)
