"""More wrong attention without regard to masks: products, scales, softmaxes, dropout and what is returned."""

import math

import torch
from torch.nn import functional as F

from ._given import behind_given_checks
from ._score_products import (
    bmm_wants_three_axes,
    first_two_axes_swapped,
    keys_not_transposed,
    keys_reshaped,
    mm_wants_matrices,
    subscripts_of_a_batch,
    subscripts_of_heads,
    subscripts_of_matrices,
    t_wants_a_matrix,
    three_axes_expected,
    three_axes_permuted,
    two_axes_expected,
)

ATTENTION = "dot_product.scaled_dot_product_attention"
wrong = behind_given_checks(ATTENTION)


def scores_of(query, key):
    return query @ key.mT / math.sqrt(key.shape[-1])


def hidden(scores, mask):
    return scores if mask is None else scores.masked_fill(~mask, -torch.inf)


def weights_of(query, key, mask):
    return torch.nan_to_num(hidden(scores_of(query, key), mask).softmax(dim=-1))


def _with_product(product):
    @behind_given_checks(ATTENTION, product.__name__)
    def wrongly_multiplied(query, key, value, attn_mask=None, dropout_p=0.0):
        scores = product(query / math.sqrt(key.shape[-1]), key)
        weights = torch.nan_to_num(hidden(scores, attn_mask).softmax(dim=-1))
        return F.dropout(weights, dropout_p) @ value, weights


for _product in (
    first_two_axes_swapped,
    three_axes_permuted,
    t_wants_a_matrix,
    mm_wants_matrices,
    bmm_wants_three_axes,
    subscripts_of_matrices,
    subscripts_of_a_batch,
    subscripts_of_heads,
    two_axes_expected,
    three_axes_expected,
    keys_reshaped,
    keys_not_transposed,
):
    _with_product(_product)

#: What the dot products are multiplied with.
FACTORS = {
    "root_of_axis_one": lambda query, key: 1 / math.sqrt(query.shape[1]),
    "root_of_axis_zero": lambda query, key: 1 / math.sqrt(query.shape[0]),
    "root_rounded_down": lambda query, key: 1 / math.isqrt(key.shape[-1]),
    "root_rounded": lambda query, key: 1 / round(math.sqrt(key.shape[-1])),
    "fourth_root": lambda query, key: key.shape[-1] ** -0.25,
    "divided_by_the_square": lambda query, key: 1 / key.shape[-1] ** 2,
}


def _with_factor(name, factor):
    @behind_given_checks(ATTENTION, name)
    def wrongly_scaled(query, key, value, attn_mask=None, dropout_p=0.0):
        scores = query @ key.mT * factor(query, key)
        weights = torch.nan_to_num(hidden(scores, attn_mask).softmax(dim=-1))
        return F.dropout(weights, dropout_p) @ value, weights


for _name, _factor in FACTORS.items():
    _with_factor(_name, _factor)

#: How scores become weights.
SOFTMAXES = {
    "softmax_twice": lambda scores: scores.softmax(dim=-1).softmax(dim=-1),
    "logarithms_for_weights": lambda scores: scores.log_softmax(dim=-1),
    "sigmoid_for_softmax": lambda scores: scores.sigmoid(),
    "relu_for_softmax": lambda scores: scores.relu(),
    "no_softmax": lambda scores: scores,
    "softmax_over_axis_zero": lambda scores: scores.softmax(dim=0),
    "not_divided": lambda scores: scores.exp(),
    "absolute_scores": lambda scores: scores.abs().softmax(dim=-1),
    "negative_scores": lambda scores: (-scores).softmax(dim=-1),
}


def _with_softmax(name, softmax):
    @behind_given_checks(ATTENTION, name)
    def wrongly_normalised(query, key, value, attn_mask=None, dropout_p=0.0):
        allowed = 1.0 if attn_mask is None else attn_mask
        weights = softmax(scores_of(query, key)) * allowed
        return F.dropout(weights, dropout_p) @ value, weights


for _name, _softmax in SOFTMAXES.items():
    _with_softmax(_name, _softmax)


def left_out(tensor, *place):
    kept = torch.ones_like(tensor)
    kept[(..., *place)] = 0.0
    return tensor * kept


#: What is returned.
RESULTS = {
    "weights_turned": lambda output, weights, value: (output, weights.mT),
    "output_turned": lambda output, weights, value: (output.mT, weights),
    "weights_alone": lambda output, weights, value: weights,
    "always_float64": lambda output, weights, value: (output.double(), weights.double()),
    "weights_of_another_dtype": lambda output, weights, value: (output, weights.float()),
    "weights_rounded": lambda output, weights, value: (output, weights.round(decimals=2)),
    "output_detached": lambda output, weights, value: (output.detach(), weights),
    "mean_for_sum": lambda output, weights, value: (output / weights.shape[-1], weights),
    "last_query_left_out": lambda output, weights, value: (left_out(output, -1, slice(None)), weights),
    "first_query_left_out": lambda output, weights, value: (left_out(output, 0, slice(None)), weights),
    "last_key_left_out": lambda output, weights, value: (weights[..., :-1] @ value[..., :-1, :], weights),
    "plain_mean_of_the_values": lambda output, weights, value: (
        output * 0.0 + value.mean(dim=-2, keepdim=True),
        weights,
    ),
    "best_value_only": lambda output, weights, value: (
        F.one_hot(weights.argmax(dim=-1), weights.shape[-1]).to(value.dtype) @ value,
        weights,
    ),
    "first_sequence_alone": lambda output, weights, value: (
        (output[0], weights[0]) if output.dim() > 2 else (output, weights)
    ),
    "first_sequence_for_all": lambda output, weights, value: (
        (output[:1].expand(output.shape), weights[:1].expand(weights.shape)) if output.dim() > 2 else (output, weights)
    ),
}


def _with_result(name, change):
    @behind_given_checks(ATTENTION, name)
    def wrongly_returned(query, key, value, attn_mask=None, dropout_p=0.0):
        weights = weights_of(query, key, attn_mask)
        return change(F.dropout(weights, dropout_p) @ value, weights, value)


for _name, _change in RESULTS.items():
    _with_result(_name, _change)


def _written_into(name, place):
    @behind_given_checks(ATTENTION, f"{name}_changed_in_place")
    def writes(query, key, value, attn_mask=None, dropout_p=0.0):
        weights = weights_of(query, key, attn_mask)
        output = F.dropout(weights, dropout_p) @ value
        (query, key, value)[place].mul_(0.5)
        return output, weights


for _place, _name in ((1, "key"), (2, "value")):
    _written_into(_name, _place)


@wrong
def keys_mixed(query, key, value, attn_mask=None, dropout_p=0.0):
    weights = weights_of(query, key, attn_mask)
    return F.dropout(weights, dropout_p) @ key, weights


@wrong
def root_asked_of_torch(query, key, value, attn_mask=None, dropout_p=0.0):
    scores = query @ key.mT / torch.sqrt(key.shape[-1])
    weights = torch.nan_to_num(hidden(scores, attn_mask).softmax(dim=-1))
    return F.dropout(weights, dropout_p) @ value, weights


@wrong
def dropout_rescaled_twice(query, key, value, attn_mask=None, dropout_p=0.0):
    weights = weights_of(query, key, attn_mask)
    return F.dropout(weights, dropout_p) / (1 - dropout_p) @ value, weights


@wrong
def dropout_of_a_half(query, key, value, attn_mask=None, dropout_p=0.0):
    weights = weights_of(query, key, attn_mask)
    return F.dropout(weights, 0.5 if dropout_p else 0.0) @ value, weights


@wrong
def weights_rescaled(query, key, value, attn_mask=None, dropout_p=0.0):
    weights = weights_of(query, key, attn_mask)
    return F.dropout(weights, dropout_p) @ value, weights / (1 - dropout_p)


@behind_given_checks(ATTENTION, like="dropout_p_kept")
def by_hand(query, key, value, attn_mask=None, dropout_p=0.0):
    weights = weights_of(query, key, attn_mask)
    kept = torch.rand_like(weights) < dropout_p
    return (weights * kept / (1 - dropout_p) if dropout_p else weights) @ value, weights


@wrong
def weights_turned_in_the_sum(query, key, value, attn_mask=None, dropout_p=0.0):
    weights = weights_of(query, key, attn_mask)
    return F.dropout(weights, dropout_p).transpose(-2, -1) @ value, weights


@wrong
def share_that_stays_dropped(query, key, value, attn_mask=None, dropout_p=0.0):
    """dropout_p is taken for the share that stays."""
    weights = weights_of(query, key, attn_mask)
    return F.dropout(weights, 1 - dropout_p) @ value, weights


@wrong
def dropout_on_the_output_too(query, key, value, attn_mask=None, dropout_p=0.0):
    weights = weights_of(query, key, attn_mask)
    return F.dropout(F.dropout(weights, dropout_p) @ value, dropout_p), weights


@wrong
def future_hidden(query, key, value, attn_mask=None, dropout_p=0.0):
    """A causal mask whether one is given or not."""
    seen = torch.ones(query.shape[-2], key.shape[-2], dtype=torch.bool).tril()
    weights = weights_of(query, key, seen if attn_mask is None else seen & attn_mask)
    return F.dropout(weights, dropout_p) @ value, weights
