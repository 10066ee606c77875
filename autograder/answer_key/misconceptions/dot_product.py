"""Wrong attention, each as somebody would really write it; one bank for both parts of the exercise."""

import math

import torch
from torch.nn import functional as F

from . import _dot_product_forms, _dot_product_masks, _dot_product_results  # noqa: F401  (registers them)
from ._dot_product_steps import hidden, scores_of
from ._given import behind_given_checks

ATTENTION = "dot_product.scaled_dot_product_attention"
wrong = behind_given_checks(ATTENTION)


def weights_of(scores, mask):
    return torch.nan_to_num(hidden(scores, mask).softmax(dim=-1))


def attend(weights, value, dropout_p):
    return F.dropout(weights, dropout_p) @ value, weights


# Mistakes in the scale: what the dot products are multiplied with.
FACTORS = {
    "no_scale": lambda query, key, value: 1.0,
    "divided_by_width": lambda query, key, value: 1 / key.shape[-1],
    "multiplied_by_root": lambda query, key, value: math.sqrt(key.shape[-1]),
    "root_of_query_length": lambda query, key, value: 1 / math.sqrt(query.shape[-2]),
    "root_of_key_length": lambda query, key, value: 1 / math.sqrt(key.shape[-2]),
    "root_of_value_width": lambda query, key, value: 1 / math.sqrt(value.shape[-1]),
}


def _with_factor(name, factor):
    @behind_given_checks(ATTENTION, name)
    def wrongly_scaled(query, key, value, attn_mask=None, dropout_p=0.0):
        scores = query @ key.mT * factor(query, key, value)
        return attend(weights_of(scores, attn_mask), value, dropout_p)


for _name, _factor in FACTORS.items():
    _with_factor(_name, _factor)

# Mistakes in the softmax: how scores become weights. With a mask, forbidden scores are -inf before.
SOFTMAXES = {
    "softmax_over_queries": lambda scores: scores.softmax(dim=-2),
    "softmax_over_axis_one": lambda scores: scores.softmax(dim=1),
    "softmax_without_axis": lambda scores: F.softmax(scores),
    "softmax_over_everything": lambda scores: scores.flatten().softmax(dim=0).reshape(scores.shape),
    "scaled_after_softmax": lambda scores: scores.softmax(dim=-1),
}


def _with_softmax(name, softmax):
    @behind_given_checks(ATTENTION, name)
    def wrongly_normalised(query, key, value, attn_mask=None, dropout_p=0.0):
        root = math.sqrt(key.shape[-1])
        if name == "scaled_after_softmax":
            weights = softmax(hidden(query @ key.mT, attn_mask)) / root
        else:
            weights = softmax(hidden(query @ key.mT / root, attn_mask))
        return attend(torch.nan_to_num(weights), value, dropout_p)


for _name, _softmax in SOFTMAXES.items():
    _with_softmax(_name, _softmax)


@wrong
def t_reverses_all_axes(query, key, value, attn_mask=None, dropout_p=0.0):
    scores = query @ key.T / math.sqrt(key.shape[-1])
    return attend(weights_of(scores, attn_mask), value, dropout_p)


@wrong
def axes_one_and_two(query, key, value, attn_mask=None, dropout_p=0.0):
    scores = query @ key.transpose(1, 2) / math.sqrt(key.shape[-1])
    return attend(weights_of(scores, attn_mask), value, dropout_p)


@wrong
def scores_returned(query, key, value, attn_mask=None, dropout_p=0.0):
    scores = scores_of(query, key)
    return attend(weights_of(scores, attn_mask), value, dropout_p)[0], scores


@wrong
def results_exchanged(query, key, value, attn_mask=None, dropout_p=0.0):
    output, weights = attend(weights_of(scores_of(query, key), attn_mask), value, dropout_p)
    return weights, output


@wrong
def output_alone(query, key, value, attn_mask=None, dropout_p=0.0):
    return attend(weights_of(scores_of(query, key), attn_mask), value, dropout_p)[0]


@wrong
def query_divided_in_place(query, key, value, attn_mask=None, dropout_p=0.0):
    query /= math.sqrt(query.shape[-1])
    return attend(weights_of(query @ key.mT, attn_mask), value, dropout_p)


@wrong
def gradient_cut(query, key, value, attn_mask=None, dropout_p=0.0):
    with torch.no_grad():
        return attend(weights_of(scores_of(query, key), attn_mask), value, dropout_p)


@wrong
def weights_detached(query, key, value, attn_mask=None, dropout_p=0.0):
    output, weights = attend(weights_of(scores_of(query, key), attn_mask), value, dropout_p)
    return output, weights.detach()


@wrong
def converted_to_float32(query, key, value, attn_mask=None, dropout_p=0.0):
    query, key, value = query.float(), key.float(), value.float()
    return attend(weights_of(scores_of(query, key), attn_mask), value, dropout_p)


@wrong
def dropout_ignored(query, key, value, attn_mask=None, dropout_p=0.0):
    return attend(weights_of(scores_of(query, key), attn_mask), value, 0.0)


@wrong
def dropped_weights_returned(query, key, value, attn_mask=None, dropout_p=0.0):
    weights = F.dropout(weights_of(scores_of(query, key), attn_mask), dropout_p)
    return weights @ value, weights


@wrong
def dropout_on_scores(query, key, value, attn_mask=None, dropout_p=0.0):
    weights = weights_of(scores_of(query, key), attn_mask)
    used = weights_of(F.dropout(scores_of(query, key), dropout_p), attn_mask)
    return used @ value, weights


@wrong
def dropout_on_output(query, key, value, attn_mask=None, dropout_p=0.0):
    weights = weights_of(scores_of(query, key), attn_mask)
    return F.dropout(weights @ value, dropout_p), weights


@wrong
def dropout_without_rescaling(query, key, value, attn_mask=None, dropout_p=0.0):
    weights = weights_of(scores_of(query, key), attn_mask)
    kept = torch.rand_like(weights) >= dropout_p
    return (weights * kept) @ value, weights


@wrong
def dropout_p_kept(query, key, value, attn_mask=None, dropout_p=0.0):
    weights = weights_of(scores_of(query, key), attn_mask)
    return (F.dropout(weights, 1 - dropout_p) if dropout_p else weights) @ value, weights


# Mistakes with the mask: how scores and a mask become weights.


def mask_ignored(scores, mask):
    return scores.softmax(dim=-1)


def mask_inverted(scores, mask):
    return torch.nan_to_num(scores.masked_fill(mask, -torch.inf).softmax(dim=-1))


def masked_after_softmax(scores, mask):
    return scores.softmax(dim=-1) * mask


def erased_then_renormalised(scores, mask):
    kept = scores.softmax(dim=-1) * mask
    return kept / kept.sum(dim=-1, keepdim=True)


def renormalised_with_epsilon(scores, mask):
    kept = scores.softmax(dim=-1) * mask
    return kept / (kept.sum(dim=-1, keepdim=True) + 1e-9)


def mask_multiplied(scores, mask):
    return (scores * mask).softmax(dim=-1)


def mask_added_as_numbers(scores, mask):
    return (scores + mask.to(scores.dtype)).softmax(dim=-1)


def infinity_times_zero(scores, mask):
    return (scores + (~mask).to(scores.dtype) * -torch.inf).softmax(dim=-1)


def minus_1e9(scores, mask):
    return scores.masked_fill(~mask, -1e9).softmax(dim=-1)


def minus_1e9_added(scores, mask):
    return (scores + (~mask).to(scores.dtype) * -1e9).softmax(dim=-1)


def finite_fill(scores, mask):
    return scores.masked_fill(~mask, torch.finfo(scores.dtype).min).softmax(dim=-1)


def empty_row_nan(scores, mask):
    return scores.masked_fill(~mask, -torch.inf).softmax(dim=-1)


def additive(scores, mask):
    return torch.zeros(mask.shape, dtype=scores.dtype).masked_fill(~mask, -torch.inf)


def empty_row_nan_added(scores, mask):
    return (scores + additive(scores, mask)).softmax(dim=-1)


def nan_replaced_afterwards(scores, mask):
    return torch.nan_to_num((scores + additive(scores, mask)).softmax(dim=-1))


def mask_used_as_index(scores, mask):
    scores[~mask] = -torch.inf
    return torch.nan_to_num(scores.softmax(dim=-1))


def _with_mask(weigh):
    @behind_given_checks(ATTENTION, weigh.__name__)
    def wrongly_masked(query, key, value, attn_mask=None, dropout_p=0.0):
        scores = scores_of(query, key)
        weights = scores.softmax(dim=-1) if attn_mask is None else weigh(scores, attn_mask)
        return attend(weights, value, dropout_p)


for _weigh in (
    mask_ignored,
    mask_inverted,
    masked_after_softmax,
    erased_then_renormalised,
    renormalised_with_epsilon,
    mask_multiplied,
    mask_added_as_numbers,
    infinity_times_zero,
    minus_1e9,
    minus_1e9_added,
    finite_fill,
    empty_row_nan,
    empty_row_nan_added,
    nan_replaced_afterwards,
    mask_used_as_index,
):
    _with_mask(_weigh)
