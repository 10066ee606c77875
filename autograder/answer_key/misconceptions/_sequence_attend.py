"""Wrong attention with any score: another nonlinearity, another mask, another form, a lost gradient or dtype."""

import math

import torch

from ..reference_package import reference
from ._given import behind_given_checks

ATTEND = "sequence_to_sequence.attend"
masked_softmax = reference("masks.masked_softmax")


def attending(name):
    """Register a function from context, weights and values, all right, to what is returned."""

    def register(change):
        def wrong(query, keys, values, score, mask=None):
            weights = masked_softmax(score(query, keys), mask)
            return change(weights @ values, weights, values)

        behind_given_checks(ATTEND, name)(wrong)
        return change

    return register


attending("weights_transposed")(lambda context, weights, values: (context, weights.transpose(-2, -1)))
attending("context_divided_by_keys")(lambda context, weights, values: (context / weights.shape[-1], weights))
attending("contexts_summed")(lambda context, weights, values: (context.sum(dim=-2), weights))
attending("weights_averaged_over_queries")(lambda context, weights, values: (context, weights.mean(dim=-2)))
attending("weights_detached")(lambda context, weights, values: (context, weights.detach()))
attending("context_of_detached_weights")(lambda context, weights, values: (weights.detach() @ values, weights))
attending("values_detached")(lambda context, weights, values: (weights @ values.detach(), weights))
attending("widened_to_float64")(lambda context, weights, values: (context.double(), weights.double()))
attending("narrowed_to_float32")(lambda context, weights, values: (context.float(), weights.float()))


def scoring(name):
    """Register a function from the right scores and the mask to wrong weights; name: as an id, "<like>/<form>"."""

    def register(change):
        def wrong(query, keys, values, score, mask=None):
            weights = change(score(query, keys), mask)
            return weights @ values, weights

        like, _, form = name.rpartition("/")
        behind_given_checks(ATTEND, form, like)(wrong)
        return change

    return register


scoring("scores_detached")(lambda scores, mask: masked_softmax(scores.detach(), mask))
scoring("sign_of_the_scores")(lambda scores, mask: masked_softmax(-scores, mask))
scoring("divided_by_the_keys")(lambda scores, mask: masked_softmax(scores / math.sqrt(scores.shape[-1]), mask))
scoring("tanh_on_the_scores")(lambda scores, mask: masked_softmax(torch.tanh(scores), mask))
scoring("mask_transposed")(
    lambda scores, mask: masked_softmax(scores, mask if mask is None else mask.transpose(-2, -1))
)
scoring("mask_of_the_first_example")(
    lambda scores, mask: masked_softmax(scores, mask if mask is None else mask[(0,) * max(mask.dim() - 2, 0)])
)


@scoring("future_hidden")
def _future_hidden(scores, mask):
    seen = torch.ones(scores.shape[-2:], dtype=torch.bool).tril()
    return masked_softmax(scores, seen if mask is None else seen & mask)


@scoring("sigmoid_for_softmax")
def _sigmoid_for_softmax(scores, mask):
    weights = torch.sigmoid(scores)
    return weights if mask is None else weights.where(mask, 0.0)


@scoring("exponentials_overflow")
def _exponentials_overflow(scores, mask):
    powers = torch.exp(scores) if mask is None else torch.exp(scores.where(mask, -torch.inf))
    total = powers.sum(dim=-1, keepdim=True)
    return powers / total.where(total != 0, 1.0)


@scoring("score_of_zero_hidden")
def _score_of_zero_hidden(scores, mask):
    real = scores != 0
    return masked_softmax(scores, real if mask is None else real & mask)


@scoring("renormalised_after_the_softmax")
def _renormalised_after_the_softmax(scores, mask):
    weights = torch.softmax(scores, dim=-1)
    if mask is None:
        return weights
    kept = weights * mask
    total = kept.sum(dim=-1, keepdim=True)
    return kept / total.where(total != 0, 1.0)


@scoring("most_likely_key_alone")
def _most_likely_key_alone(scores, mask):
    weights = masked_softmax(scores, mask)
    largest = torch.zeros_like(weights).scatter(-1, weights.argmax(dim=-1, keepdim=True), 1.0)
    return largest * (weights.sum(dim=-1, keepdim=True) > 0)


@behind_given_checks(ATTEND, like="arguments_swapped")
def weighed_by_masked_softmax(query, keys, values, score, mask=None):
    weights = masked_softmax(score(keys, query), mask)
    return weights @ values, weights


@scoring("score_of_zero_hidden/under_a_mask")
def _score_of_zero_hidden_under_a_mask(scores, mask):
    """Scores times mask; what is then 0 becomes -inf."""
    kept = scores if mask is None else scores * mask
    return masked_softmax(kept if mask is None else kept.masked_fill(kept == 0, -torch.inf))


def over_the_largest_of_all(scores, mask):
    """Exponentials, and what each row of them is divided by, when the largest score of *all* rows is subtracted."""
    allowed = scores if mask is None else scores.masked_fill(~mask, -torch.inf)
    largest = allowed.amax()
    powers = torch.exp(allowed - largest.where(largest > -torch.inf, 0.0))
    return powers, powers.sum(dim=-1, keepdim=True)


@scoring("largest_of_all_subtracted")
def _largest_of_all_subtracted(scores, mask):
    powers, total = over_the_largest_of_all(scores, mask)
    return powers / total.where(total != 0, 1.0)


@scoring("largest_of_all_subtracted/nan_for_the_rest")
def _nan_for_the_rest(scores, mask):
    powers, total = over_the_largest_of_all(scores, mask)
    return powers / total


@scoring("mask_of_pairs_for_keys")
def _mask_of_pairs_for_keys(scores, mask):
    if mask is not None and mask.dim() == 2:
        mask = mask.unsqueeze(1)
    return (scores if mask is None else scores.masked_fill(~mask, -torch.inf)).softmax(dim=-1)


@behind_given_checks(ATTEND, like="mask_of_pairs_for_keys")
def refused_by_masked_softmax(query, keys, values, score, mask=None):
    if mask is not None and mask.dim() == 2:
        mask = mask.unsqueeze(1)
    weights = masked_softmax(score(query, keys), mask)
    return weights @ values, weights


@behind_given_checks(ATTEND)
def unseen_keys_zeroed(query, keys, values, score, mask=None):
    weights = score(query, keys if mask is None else keys * _seen(mask)).softmax(dim=-1)
    return weights @ values, weights


@behind_given_checks(ATTEND, like="unseen_keys_zeroed")
def and_their_values(query, keys, values, score, mask=None):
    if mask is not None:
        keys, values = keys * _seen(mask), values * _seen(mask)
    weights = score(query, keys).softmax(dim=-1)
    return weights @ values, weights


def _seen(mask):
    """(..., S, 1): the keys that some query may attend to."""
    return (mask.any(dim=-2) if mask.dim() > 1 else mask).unsqueeze(-1)


def _filled_then_hidden(name, number, hidden=lambda seen: seen):
    """Register a fill of forbidden scores; hidden: of the mask, what the weights are multiplied by."""

    def wrong(query, keys, values, score, mask=None):
        scores = score(query, keys)
        seen = torch.ones_like(scores, dtype=torch.bool) if mask is None else mask
        weights = scores.masked_fill(~seen, number).softmax(dim=-1) * hidden(seen)
        return weights @ values, weights

    like, _, form = name.rpartition("/")
    behind_given_checks(ATTEND, form, like)(wrong)


_filled_then_hidden("filled_above_the_scores", -1e4)
_filled_then_hidden("filled_above_the_scores/minus_1e9", -1e9)
_filled_then_hidden("filled_above_the_scores/empty_rows_alone", -1e4, lambda seen: seen.any(dim=-1, keepdim=True))
