"""Masked softmaxes with two faults at once, as a first attempt often has: what is filled in, and no thought of None."""

import math

import torch

from ._given import behind_given_checks
from ._mask_forms import COMBINE, given
from ._masked_softmax import SOFTMAX, everything


def _filled(number):
    return lambda scores, mask, dim: scores.masked_fill(~mask, number).softmax(dim=dim)


#: Fills that ask a mask of None for its opposite, by what is wrong with the fill itself.
FILLS = {
    "uniform_on_empty_row": _filled(-1e9),
    "minus_1e4_filled_in": _filled(-1e4),
    "nan_on_empty_row": _filled(-math.inf),
    "zero_filled_in": _filled(0.0),
    "smallest_number_of_the_dtype": lambda scores, mask, dim: scores.masked_fill(
        ~mask, torch.finfo(scores.dtype).min
    ).softmax(dim=dim),
    "nan_repaired_after_filling": lambda scores, mask, dim: (
        scores.masked_fill(~mask, -math.inf).softmax(dim=dim).nan_to_num()
    ),
    "masked_afterwards": lambda scores, mask, dim: scores.softmax(dim=dim) * mask,
}


def _without_none(like, fill):
    @behind_given_checks(SOFTMAX, "none_not_asked_for", like)
    def wrong(scores, mask=None, dim=-1):
        return fill(scores, mask, dim)


for _like, _fill in FILLS.items():
    _without_none(_like, _fill)


@behind_given_checks(SOFTMAX, like="masked_afterwards")
def with_nan_left(scores, mask=None, dim=-1):
    weights = scores.softmax(dim=dim)
    return weights if mask is None else weights * mask


@behind_given_checks(SOFTMAX, like="renormalised_with_epsilon")
def of_the_softmax(scores, mask=None, dim=-1):
    weights = scores.softmax(dim=dim)
    weights = weights if mask is None else weights * mask
    return weights / (weights.sum(dim=dim, keepdim=True) + 1e-9)


@behind_given_checks(SOFTMAX, like="renormalised_with_epsilon")
def of_scores_times_mask(scores, mask=None, dim=-1):
    if mask is None:
        return scores.softmax(dim=dim)
    weights = (scores * mask).softmax(dim=dim) * mask
    return weights / weights.sum(dim=dim, keepdim=True).clamp(min=1e-12)


@behind_given_checks(SOFTMAX, like="exponentials_overflow")
def with_a_sum_of_zero_left_out(scores, mask=None, dim=-1):
    if mask is None:
        return scores.softmax(dim=dim)
    terms = scores.exp() * mask
    total = terms.sum(dim=dim, keepdim=True)
    return torch.where(total > 0, terms / total, 0.0)


@behind_given_checks(SOFTMAX, like="scores_times_mask")
def with_exponentials_that_overflow(scores, mask=None, dim=-1):
    terms = (scores if mask is None else scores * mask).exp()
    return terms / terms.sum(dim=dim, keepdim=True)


@behind_given_checks(SOFTMAX)
def logarithm_of_a_tiny_number(scores, mask=None, dim=-1):
    return (scores if mask is None else scores + (mask.to(scores.dtype) + 1e-9).log()).softmax(dim=dim)


@behind_given_checks(SOFTMAX)
def divided_by_the_number(scores, mask=None, dim=-1):
    allowed = everything(scores, mask)
    shifted = scores.masked_fill(~allowed, -math.inf)
    exponentials = (shifted - shifted.amax(dim=dim, keepdim=True)).exp()
    return exponentials / allowed.expand_as(scores).to(scores.dtype).sum(dim=dim, keepdim=True)


@behind_given_checks(COMBINE)
def all_handed_over_at_once(*masks):
    some = given(masks)
    return torch.logical_and(*some) if some else None
