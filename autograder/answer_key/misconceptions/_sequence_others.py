"""More wrong attention before Transformers: other inputs, other centers, what stands around a right answer."""

import math

import torch
from torch.nn import functional as F

from . import misconception
from ._given import behind_given_checks
from ._sequence_attend import ATTEND, attending, masked_softmax, scoring
from ._sequence_decoder import DECODER, Decoder
from ._sequence_forms import falling_off
from ._sequence_hard import answered, at, drawn, parts, value_at, wrong
from ._sequence_hard_returns import returning
from ._sequence_hierarchical import HIERARCHICAL, Levels
from ._sequence_local import LOCAL, distances, gaussian, inside
from ._sequence_local_window import local

# 9.1

scoring("absolute_scores")(lambda scores, mask: masked_softmax(scores.abs(), mask))
scoring("scores_halved")(lambda scores, mask: masked_softmax(scores / 2, mask))
attending("context_softmaxed")(lambda context, weights, values: (context.softmax(dim=-1), weights))
attending("values_softmaxed")(lambda context, weights, values: (weights @ values.softmax(dim=-1), weights))
attending("positions_for_weights")(lambda context, weights, values: (context, weights.argmax(dim=-1)))
attending("last_value_alone")(lambda context, weights, values: (weights[..., -1:] * values[..., -1:, :], weights))


@behind_given_checks(ATTEND)
def inputs_normalised(query, keys, values, score, mask=None):
    weights = masked_softmax(score(F.normalize(query, dim=-1), F.normalize(keys, dim=-1)), mask)
    return weights @ values, weights


@behind_given_checks(ATTEND)
def query_added(query, keys, values, score, mask=None):
    weights = masked_softmax(score(query, keys), mask)
    return weights @ values + query, weights


@behind_given_checks(ATTEND)
def weights_before_masking(query, keys, values, score, mask=None):
    return masked_softmax(score(query, keys), mask) @ values, score(query, keys).softmax(dim=-1)


@behind_given_checks(ATTEND)
def context_of_unmasked_weights(query, keys, values, score, mask=None):
    return score(query, keys).softmax(dim=-1) @ values, masked_softmax(score(query, keys), mask)


@behind_given_checks(ATTEND)
def smallest_for_forbidden(query, keys, values, score, mask=None):
    scores = score(query, keys)
    weights = (scores if mask is None else scores.where(mask, scores.amin())).softmax(dim=-1)
    return weights @ values, weights


@behind_given_checks(ATTEND)
def rows_stacked_with_their_axis(query, keys, values, score, mask=None):
    rows = [score(query[..., i : i + 1, :], keys) for i in range(query.shape[-2])]
    weights = masked_softmax(torch.stack(rows, dim=-2), mask)
    return weights @ values, weights


@behind_given_checks(ATTEND)
def keys_zeroed(query, keys, values, score, mask=None):
    weights = score(query, keys if mask is None else keys * mask.unsqueeze(-1)).softmax(dim=-1)
    return weights @ values, weights


# 9.2

falling_off("deviation_of_the_length", lambda distance, window: torch.exp(-2 * (distance / distance.shape[-1]) ** 2))
falling_off("cosine_for_the_gaussian", lambda distance, window: (1 + torch.cos(math.pi * distance / window)) / 2)
falling_off("fraction_for_the_gaussian", lambda distance, window: 1 / (1 + (2 * distance / window) ** 2))
local("center_rounded/cut_off", move=lambda center, scores: center.trunc())
local("center_squashed", move=lambda center, scores: torch.sigmoid(center) * scores.shape[-1])
local("center_as_a_share", move=lambda center, scores: center * scores.shape[-1])
local("gaussian_normalised", change=lambda within, fall: within * fall / fall.sum(dim=-1, keepdim=True))


@behind_given_checks(LOCAL)
def gaussian_added_to_the_scores(scores, center, window):
    distance = distances(scores, center)
    return inside(scores + gaussian(distance, window), distance, window)


@behind_given_checks(LOCAL, like="window_without_a_left_end")
def cut_in_the_gaussian(scores, center, window):
    distance = distances(scores, center)
    return masked_softmax(scores, distance <= window) * gaussian(distance, window) * (distance >= -window)


@behind_given_checks(LOCAL)
def positions_from_zero_to_one(scores, center, window):
    distance = torch.linspace(0, 1, scores.shape[-1], dtype=scores.dtype) - center.unsqueeze(-1)
    return inside(scores, distance, window) * gaussian(distance, window)


# 9.3

returning("in_decades")(lambda value, logarithm, every: (value, logarithm / math.log(10)))
returning("log_probability_to_the_largest")(
    lambda value, logarithm, every: (value, (logarithm - every.amax(dim=-1)).where(logarithm != 0, 0.0))
)
returning("one_feature_returned")(lambda value, logarithm, every: (value[..., :1], logarithm))


@wrong
def every_choice_of_every_row(scores, values, generator):
    log_weights, _ = parts(scores)
    choice = drawn(log_weights, generator).squeeze(-1)
    return values[..., choice, :], log_weights[..., choice]


@wrong
def log_probability_over_the_rows(scores, values, generator):
    log_weights, some = parts(scores)
    choice = drawn(log_weights, generator)
    return answered(values, choice, at(torch.log_softmax(scores.where(some, 0.0), dim=0), choice), some)


@wrong
def last_of_several_draws(scores, values, generator):
    log_weights, some = parts(scores)
    weights = log_weights.detach().float().exp().reshape(-1, scores.shape[-1])
    several = torch.multinomial(weights + 1e-30, scores.shape[-1], generator=generator)
    choice = several[:, -1].reshape(some.shape)
    return answered(values, choice, at(log_weights, choice), some)


@wrong
def cumulative_shares_turned(scores, values, generator):
    log_weights, some = parts(scores)
    shares = log_weights.exp().cumsum(dim=-1)
    choice = (shares > torch.rand(some.shape, generator=generator)).sum(dim=-1, keepdim=True) - 1
    choice = choice.clamp(min=0)
    return answered(values, choice, at(log_weights, choice), some)


def of_minus_infinity(scores, values, generator):
    log_weights, some = parts(scores)
    entropy = -(log_weights.exp() * log_weights).sum(dim=-1)
    return value_at(values, drawn(log_weights, generator)).where(some, 0.0), entropy


wrong(of_minus_infinity, like="entropy_returned")

# 9.4


@misconception(HIERARCHICAL)
class pooled_squashed(Levels):
    def summed(self, weights, x):
        return torch.tanh(super().summed(weights, x))


@misconception(HIERARCHICAL, like="projections_summed")
class without_tanh(Levels):
    def pooled(self, x, proj, query, mask):
        return self.summed(self.weights(torch.tanh(proj(x)) @ query, mask), proj(x))


@misconception(HIERARCHICAL)
class residual_inside(Levels):
    def pooled(self, x, proj, query, mask):
        return self.summed(self.weights(torch.tanh(proj(x) + x) @ query, mask), x)


@misconception(HIERARCHICAL)
class query_normalised(Levels):
    def pooled(self, x, proj, query, mask):
        return self.summed(self.weights(torch.tanh(proj(x)) @ F.normalize(query, dim=0), mask), x)


@misconception(HIERARCHICAL, like="query_normalised")
class and_the_units(Levels):
    def pooled(self, x, proj, query, mask):
        return self.summed(self.weights(F.cosine_similarity(torch.tanh(proj(x)), query, dim=-1), mask), x)


@misconception(HIERARCHICAL)
class queries_unused(Levels):
    def pooled(self, x, proj, query, mask):
        return self.summed(self.weights(torch.tanh(proj(x)).sum(dim=-1), mask), x)


@misconception(HIERARCHICAL)
class sentences_stacked_in_front(Levels):
    def answer(self, x, mask):
        mask = torch.ones(x.shape[:3], dtype=torch.bool) if mask is None else mask
        return self.sentences(torch.stack(list(self.words(x, mask).unbind(1))), mask)


@misconception(HIERARCHICAL)
class weights_without_an_axis(Levels):
    def summed(self, weights, x):
        return weights @ x


@misconception(HIERARCHICAL)
class dropout_added(Levels):
    def answer(self, x, mask):
        return super().answer(F.dropout(x, 0.1, self.training), mask)


# 9.5


@misconception(DECODER, like="last_state_only")
class as_it_comes(Decoder):
    def states(self, embedded, source):
        return self.gru(embedded)[1]


@misconception(DECODER)
class roles_exchanged(Decoder):
    def attended(self, query, source, mask):
        return super().attended(source, query, mask)


@misconception(DECODER)
class states_squashed(Decoder):
    def states(self, embedded, source):
        return torch.tanh(super().states(embedded, source))


@misconception(DECODER, like="states_squashed")
class by_a_relu(Decoder):
    def states(self, embedded, source):
        return torch.relu(super().states(embedded, source))


@misconception(DECODER)
class embedding_added_to_the_states(Decoder):
    def states(self, embedded, source):
        return super().states(embedded, source) + embedded


@misconception(DECODER, like="state_added_again")
class inside_tanh(Decoder):
    def logits(self, context, states):
        return self.output(torch.tanh(self.combine(torch.cat([context, states], dim=-1)) + states))


@misconception(DECODER)
class joined_along_the_steps(Decoder):
    def logits(self, context, states):
        return self.output(torch.tanh(self.combine(torch.cat([context, states], dim=-2))))


@misconception(DECODER)
class keys_squashed(Decoder):
    def attended(self, query, source, mask):
        weights = self.weights(self._score(query, torch.tanh(source)), None if mask is None else mask.unsqueeze(1))
        return weights @ source, weights


@misconception(DECODER)
class source_zeroed(Decoder):
    def attended(self, query, source, mask):
        return super().attended(query, source if mask is None else source * mask.unsqueeze(-1), None)


@misconception(DECODER)
class embedding_for_output(Decoder):
    def logits(self, context, states):
        combined = torch.tanh(self.combine(torch.cat([context, states], dim=-1)))
        return combined @ self.embedding.weight.T


@misconception(DECODER)
class ids_for_logits(Decoder):
    def logits(self, context, states):
        return super().logits(context, states).argmax(dim=-1)


@misconception(DECODER)
class dropout_in_the_decoder(Decoder):
    def states(self, embedded, source):
        return super().states(F.dropout(embedded, 0.1, self.training), source)


@misconception(DECODER, like="dropout_in_the_decoder")
class before_output(Decoder):
    def logits(self, context, states):
        combined = torch.tanh(self.combine(torch.cat([context, states], dim=-1)))
        return self.output(F.dropout(combined, 0.1, self.training))
