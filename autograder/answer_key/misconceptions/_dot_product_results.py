"""More wrong attention: other weights by hand, other outputs, results that do not belong to each other."""

import math

import torch
from torch.nn import functional as F

from ._dot_product_forms import attending, dropping, masked_softmax, masking, of_a_mask
from ._dot_product_masks import _with_mask, filled
from ._dot_product_steps import ATTENTION, hidden, scores_of, weights_of
from ._given import behind_given_checks

wrong = behind_given_checks(ATTENTION)


def cosines(query, key):
    return F.normalize(query, dim=-1) @ F.normalize(key, dim=-1).mT


def softmaxed(scores, mask):
    return torch.nan_to_num(hidden(scores, mask).softmax(dim=-1))


def column_sums(scores, mask):
    terms = torch.exp(scores - scores.amax(dim=-1, keepdim=True)) * (1.0 if mask is None else mask)
    return terms / terms.sum(dim=-2, keepdim=True)


attending("cosine_scores", lambda query, key, mask: softmaxed(cosines(query, key), mask))
attending(
    "cosine_scores/divided",
    lambda query, key, mask: softmaxed(cosines(query, key) / math.sqrt(key.shape[-1]), mask),
)
attending(
    "cosine_scores/multiplied",
    lambda query, key, mask: softmaxed(cosines(query, key) * math.sqrt(key.shape[-1]), mask),
)
attending("softmax_over_queries/by_hand", lambda query, key, mask: column_sums(scores_of(query, key), mask))
attending("tanh_of_the_scores", lambda query, key, mask: softmaxed(torch.tanh(scores_of(query, key)), mask))
dropping("dropout_of_a_half_always", lambda weights, share: F.dropout(weights, 0.5))


@wrong
def dropped_weights_detached(query, key, value, attn_mask=None, dropout_p=0.0):
    weights = weights_of(query, key, attn_mask)
    return F.dropout(weights.detach() if dropout_p else weights, dropout_p) @ value, weights


def returning(name, change):
    """Register a wrong result; change: from query, output, used weights, weights and value to what is returned."""

    like, _, form = name.rpartition("/")

    @behind_given_checks(ATTENTION, form, like)
    def wrongly_returned(query, key, value, attn_mask=None, dropout_p=0.0):
        weights = weights_of(query, key, attn_mask)
        used = F.dropout(weights, dropout_p)
        return change(query, used @ value, used, weights, value)


returning("query_added", lambda query, output, used, weights, value: (query + output, weights))
returning(
    "output_normalised",
    lambda query, output, used, weights, value: (F.layer_norm(output, output.shape[-1:]), weights),
)
returning("output_softmaxed", lambda query, output, used, weights, value: (output.softmax(dim=-1), weights))
returning("values_softmaxed", lambda query, output, used, weights, value: (used @ value.softmax(dim=-1), weights))
returning(
    "last_value_alone",
    lambda query, output, used, weights, value: (used[..., -1:] * value[..., -1:, :], weights),
)
returning("positions_for_weights", lambda query, output, used, weights, value: (output, weights.argmax(dim=-1)))
returning("weights_averaged", lambda query, output, used, weights, value: (output, weights.mean(dim=-2)))

returning(
    "weights_turned_in_the_sum/by_t",
    lambda query, output, used, weights, value: (used.T @ value, weights),
)
returning(
    "axes_of_one_squeezed",
    lambda query, output, used, weights, value: (output.squeeze(), weights.squeeze()),
)
attending("future_scores_zeroed", lambda query, key, mask: softmaxed(scores_of(query, key).tril(), mask))
attending(
    "negative_distances",
    lambda query, key, mask: softmaxed(-torch.cdist(query, key) / math.sqrt(key.shape[-1]), mask),
)
attending(
    "negative_distances/squared",
    lambda query, key, mask: softmaxed(-(torch.cdist(query, key) ** 2) / math.sqrt(key.shape[-1]), mask),
)
attending(
    "divided_by_their_norm",
    lambda query, key, mask: F.normalize(scores_of(query, key) * (1.0 if mask is None else mask), dim=-1),
)


@wrong
def values_scored(query, key, value, attn_mask=None, dropout_p=0.0):
    weights = softmaxed(query @ value.mT / math.sqrt(key.shape[-1]), attn_mask)
    return F.dropout(weights, dropout_p) @ value, weights


@behind_given_checks(ATTENTION, like="scores_returned")
def of_which_some_are_infinite(query, key, value, attn_mask=None, dropout_p=0.0):
    weights = weights_of(query, key, attn_mask)
    return F.dropout(weights, dropout_p) @ value, hidden(scores_of(query, key), attn_mask)


# Masks


def smallest_for_forbidden(scores, mask):
    return scores.where(mask, scores.amin()).softmax(dim=-1)


def infinite_after_the_softmax(scores, mask):
    return masked_softmax(scores, mask).masked_fill(~mask, -torch.inf)


def multiplied_by_infinity(scores, mask):
    return torch.nan_to_num((scores * torch.where(mask, 1.0, -torch.inf)).softmax(dim=-1))


def additive_mask_of_booleans(scores, mask):
    return (scores + torch.zeros_like(mask).masked_fill(~mask, -torch.inf)).softmax(dim=-1)


for _weigh in (
    smallest_for_forbidden,
    infinite_after_the_softmax,
    multiplied_by_infinity,
    additive_mask_of_booleans,
):
    _with_mask(_weigh.__name__, _weigh)
_with_mask("minus_1e4/and_less", filled(-100.0))
masking("an_axis_in_front_of_the_mask", of_a_mask(lambda mask: mask[None]))
masking(
    "an_axis_added_to_the_mask/where_it_has_two",
    of_a_mask(lambda mask: mask.unsqueeze(1) if mask.dim() == 2 else mask),
)
masking(
    "allowed_keys_counted",
    of_a_mask(lambda mask: torch.arange(mask.shape[-1]) < mask.sum(dim=-1, keepdim=True)),
)


@wrong
def output_of_unmasked_weights(query, key, value, attn_mask=None, dropout_p=0.0):
    scores = scores_of(query, key)
    return F.dropout(scores.softmax(dim=-1), dropout_p) @ value, masked_softmax(scores, attn_mask)


@wrong
def weights_before_masking(query, key, value, attn_mask=None, dropout_p=0.0):
    scores = scores_of(query, key)
    return F.dropout(masked_softmax(scores, attn_mask), dropout_p) @ value, scores.softmax(dim=-1)


# A softmax by hand


def by_hand(terms, mask):
    kept = terms * (1.0 if mask is None else mask)
    return kept / kept.sum(dim=-1, keepdim=True)


def less_the_largest(axes):
    def weigh(query, key, mask):
        scores = scores_of(query, key)
        return by_hand(torch.exp(scores - (scores.amax(dim=axes, keepdim=True) if axes else scores.amax())), mask)

    return weigh


attending("largest_of_all_subtracted", less_the_largest(None))
attending("largest_of_all_subtracted/of_each_matrix", less_the_largest((-2, -1)))
attending("largest_of_each_key_subtracted", less_the_largest(-2))

# More masks


def eps_added(eps):
    def weigh(scores, mask):
        kept = scores.softmax(dim=-1) * mask
        return kept / (kept.sum(dim=-1, keepdim=True) + eps)

    return weigh


for _form, _eps in {"1e_5": 1e-5, "1e_6": 1e-6, "1e_8": 1e-8}.items():
    _with_mask(f"renormalised_with_epsilon/{_form}", eps_added(_eps))
_with_mask(
    "an_axis_added_to_the_mask/where_it_has_three",
    lambda scores, mask: softmaxed(scores, mask.unsqueeze(1) if mask.dim() == 3 else mask),
)


@behind_given_checks(ATTENTION, like="finite_fill")
def and_the_output_erased(query, key, value, attn_mask=None, dropout_p=0.0):
    scores = scores_of(query, key)
    if attn_mask is None:
        weights, some = scores.softmax(dim=-1), 1.0
    else:
        weights = scores.masked_fill(~attn_mask, torch.finfo(scores.dtype).min).softmax(dim=-1)
        some = attn_mask.any(dim=-1, keepdim=True)
    return F.dropout(weights, dropout_p) @ value * some, weights


@behind_given_checks(ATTENTION, like="forbidden_keys_zeroed")
def and_values(query, key, value, attn_mask=None, dropout_p=0.0):
    if attn_mask is not None:
        seen = attn_mask.expand(scores_of(query, key).shape).any(dim=-2).unsqueeze(-1)
        key, value = key * seen, value * seen
    weights = scores_of(query, key).softmax(dim=-1)
    return F.dropout(weights, dropout_p) @ value, weights


def of_a_matrix(scores, mask):
    return torch.nan_to_num(hidden(scores, mask).flatten(-2).softmax(dim=-1)).reshape(scores.shape)


attending("softmax_over_everything/of_a_matrix", lambda query, key, mask: of_a_matrix(scores_of(query, key), mask))


def computed_in(dtype):
    def weigh(query, key, mask):
        return softmaxed(scores_of(query.to(dtype), key.to(dtype)), mask).to(query.dtype)

    return weigh


attending("computed_in_half_precision", computed_in(torch.float16))
attending("computed_in_half_precision/of_bfloat16", computed_in(torch.bfloat16))


@behind_given_checks(ATTENTION, like="dropout_on_output")
def on_the_values(query, key, value, attn_mask=None, dropout_p=0.0):
    weights = weights_of(query, key, attn_mask)
    return weights @ F.dropout(value, dropout_p), weights


@wrong
def queries_stacked_in_front(query, key, value, attn_mask=None, dropout_p=0.0):
    weights = torch.stack(list(weights_of(query, key, attn_mask).unbind(dim=-2)))
    return F.dropout(weights, dropout_p) @ value, weights


returning(
    "values_softmaxed/of_length_one",
    lambda query, output, used, weights, value: (used @ F.normalize(value, dim=-1), weights),
)
