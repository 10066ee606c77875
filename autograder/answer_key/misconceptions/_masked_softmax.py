"""Wrong masked softmaxes, each as somebody would really write it."""

import math

import torch

from ._given import behind_given_checks

SOFTMAX = "masks.masked_softmax"


def everything(scores, mask):
    return torch.ones_like(scores, dtype=torch.bool) if mask is None else mask


def right(scores, allowed, dim=-1):
    empty = ~allowed.any(dim=dim, keepdim=True)
    filled = scores.masked_fill(~allowed, -math.inf).masked_fill(empty, 0.0)
    return filled.softmax(dim=dim).masked_fill(~allowed, 0.0)


def visible(scores, mask):
    """Where a score may count: allowed by the mask and not -inf."""
    return (scores != -math.inf) & everything(scores, mask)


@behind_given_checks(SOFTMAX)
def masked_afterwards(scores, mask=None, dim=-1):
    weights = right(scores, visible(scores, None), dim)
    return weights if mask is None else weights * mask


@behind_given_checks(SOFTMAX)
def renormalised_afterwards(scores, mask=None, dim=-1):
    weights = scores.softmax(dim=dim) * everything(scores, mask)
    return weights / weights.sum(dim=dim, keepdim=True)


@behind_given_checks(SOFTMAX)
def renormalised_with_epsilon(scores, mask=None, dim=-1):
    weights = right(scores, visible(scores, None), dim) * everything(scores, mask)
    return weights / (weights.sum(dim=dim, keepdim=True) + 1e-13)


@behind_given_checks(SOFTMAX)
def forbidden_instead_of_allowed(scores, mask=None, dim=-1):
    return right(scores, visible(scores, None if mask is None else ~mask), dim)


@behind_given_checks(SOFTMAX)
def nan_on_empty_row(scores, mask=None, dim=-1):
    return scores.masked_fill(~everything(scores, mask), -math.inf).softmax(dim=dim)


@behind_given_checks(SOFTMAX)
def uniform_on_empty_row(scores, mask=None, dim=-1):
    return scores.masked_fill(~everything(scores, mask), -1e9).softmax(dim=dim)


@behind_given_checks(SOFTMAX)
def smallest_number_of_the_dtype(scores, mask=None, dim=-1):
    return scores.masked_fill(~everything(scores, mask), torch.finfo(scores.dtype).min).softmax(dim=dim)


@behind_given_checks(SOFTMAX)
def erased_after_minus_1e9(scores, mask=None, dim=-1):
    allowed = everything(scores, mask)
    return scores.masked_fill(~allowed, -1e9).softmax(dim=dim) * allowed


@behind_given_checks(SOFTMAX)
def nan_repaired_after_adding(scores, mask=None, dim=-1):
    additive = torch.zeros_like(scores).masked_fill(~everything(scores, mask), -math.inf)
    return torch.nan_to_num((scores + additive).softmax(dim=dim))


@behind_given_checks(SOFTMAX)
def nan_repaired_after_filling(scores, mask=None, dim=-1):
    return torch.nan_to_num(scores.masked_fill(~everything(scores, mask), -math.inf).softmax(dim=dim))


@behind_given_checks(SOFTMAX)
def minus_infinity_not_counted(scores, mask=None, dim=-1):
    return right(scores, everything(scores, mask).expand_as(scores), dim)


@behind_given_checks(SOFTMAX)
def always_the_last_axis(scores, mask=None, dim=-1):
    return right(scores, visible(scores, mask))


@behind_given_checks(SOFTMAX)
def scores_times_mask(scores, mask=None, dim=-1):
    return right(scores * everything(scores, mask), visible(scores, None), dim)


@behind_given_checks(SOFTMAX)
def zero_left_as_a_score(scores, mask=None, dim=-1):
    return scores.masked_fill(~visible(scores, mask), 0.0).softmax(dim=dim).masked_fill(~visible(scores, mask), 0.0)


@behind_given_checks(SOFTMAX)
def exponentials_overflow(scores, mask=None, dim=-1):
    terms = scores.exp() * everything(scores, mask)
    total = terms.sum(dim=dim, keepdim=True)
    return terms / total.masked_fill(total == 0, 1.0)


@behind_given_checks(SOFTMAX)
def input_filled_in_place(scores, mask=None, dim=-1):
    allowed = visible(scores, mask)
    scores.masked_fill_(~allowed, -math.inf).masked_fill_(~allowed.any(dim=dim, keepdim=True), 0.0)
    return scores.softmax(dim=dim).masked_fill(~allowed, 0.0)


@behind_given_checks(SOFTMAX)
def indexed_with_the_mask(scores, mask=None, dim=-1):
    filled = scores.clone()
    if mask is not None:
        filled[~mask] = -math.inf
    return right(filled, visible(filled, None), dim)


@behind_given_checks(SOFTMAX)
def always_float32(scores, mask=None, dim=-1):
    return right(scores.float(), visible(scores, mask), dim)


@behind_given_checks(SOFTMAX)
def gradient_cut(scores, mask=None, dim=-1):
    return right(scores.detach(), visible(scores, mask), dim)


@behind_given_checks(SOFTMAX)
def mask_always_expected(scores, mask=None, dim=-1):
    filled = scores.masked_fill(~mask, -math.inf)
    return right(filled, visible(filled, None), dim)
