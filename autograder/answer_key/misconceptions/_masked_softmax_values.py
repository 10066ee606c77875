"""More wrong masked softmaxes: other fills, other axes, other functions, other dtypes."""

import math

import torch

from . import misconception
from ._given import behind_given_checks, refuse_bad_arguments
from ._masked_softmax import SOFTMAX, everything, right, visible


def filled(scores, mask, number):
    return scores.masked_fill(~everything(scores, mask), number)


def divided(terms, dim):
    """Positive terms as shares; a slice of zeros stays so."""
    total = terms.sum(dim=dim, keepdim=True)
    return terms / total.masked_fill(total == 0, 1.0)


# What becomes of a right answer


def _change(name, change):
    @behind_given_checks(SOFTMAX, name)
    def wrong(scores, mask=None, dim=-1):
        return change(right(scores, visible(scores, mask), dim), scores, dim)


for _name, _spoilt in {
    "logarithms_returned": lambda weights, scores, dim: weights.log(),
    "always_float64": lambda weights, scores, dim: weights.double(),
    "rounded_to_three_digits": lambda weights, scores, dim: weights.round(decimals=3),
    "rounded_to_two_digits": lambda weights, scores, dim: weights.round(decimals=2),
    "mean_for_sum": lambda weights, scores, dim: weights / scores.shape[dim],
    "times_their_number": lambda weights, scores, dim: weights * scores.shape[dim],
}.items():
    _change(_name, _spoilt)


@behind_given_checks(SOFTMAX)
def mask_ignored(scores, mask=None, dim=-1):
    return right(scores, visible(scores, None), dim)


@behind_given_checks(SOFTMAX)
def mask_ignored_altogether(scores, mask=None, dim=-1):
    return scores.softmax(dim=dim)


@behind_given_checks(SOFTMAX)
def nothing_without_a_mask(scores, mask=None, dim=-1):
    return None if mask is None else right(scores, visible(scores, mask), dim)


@behind_given_checks(SOFTMAX)
def nothing_with_a_mask(scores, mask=None, dim=-1):
    return right(scores, visible(scores, mask), dim) if mask is None else None


@behind_given_checks(SOFTMAX)
def empty_row_left_uniform(scores, mask=None, dim=-1):
    allowed = visible(scores, mask)
    empty = ~allowed.any(dim=dim, keepdim=True)
    return scores.masked_fill(~allowed, -math.inf).masked_fill(empty, 0.0).softmax(dim=dim)


@behind_given_checks(SOFTMAX)
def empty_row_given_an_entry(scores, mask=None, dim=-1, given=slice(1)):
    """An empty slice is allowed its first entry."""
    allowed = visible(scores, mask)
    empty = ~allowed.any(dim=dim, keepdim=True)
    allowed = allowed.movedim(dim, -1).clone()
    allowed[..., given] |= empty.movedim(dim, -1)
    finite = scores.masked_fill(empty & (scores == -math.inf), 0.0)
    return finite.masked_fill(~allowed.movedim(-1, dim), -math.inf).softmax(dim=dim)


@behind_given_checks(SOFTMAX, like="empty_row_given_an_entry")
def the_last(scores, mask=None, dim=-1):
    return empty_row_given_an_entry(scores, mask, dim, slice(-1, None))


@behind_given_checks(SOFTMAX, like="empty_row_given_an_entry")
def all_by_their_scores(scores, mask=None, dim=-1):
    return empty_row_given_an_entry(scores, mask, dim, slice(None))


@behind_given_checks(SOFTMAX, like="empty_row_given_an_entry")
def all_where_the_mask_is_empty(scores, mask=None, dim=-1):
    """Scores of -inf are not looked at."""
    if mask is None:
        return scores.softmax(dim=dim)
    empty = ~mask.expand(scores.shape).any(dim=dim, keepdim=True)
    return scores.masked_fill(~(mask | empty), -math.inf).softmax(dim=dim)


@behind_given_checks(SOFTMAX)
def empty_by_mask_alone(scores, mask=None, dim=-1):
    allowed = everything(scores, mask)
    empty = ~allowed.any(dim=dim, keepdim=True)
    return scores.masked_fill(~allowed, -math.inf).masked_fill(empty, 0.0).softmax(dim=dim) * ~empty


@behind_given_checks(SOFTMAX)
def empty_looked_for_in_the_last_axis(scores, mask=None, dim=-1):
    allowed = visible(scores, mask)
    empty = ~allowed.any(dim=-1, keepdim=True)
    return scores.masked_fill(~allowed, -math.inf).masked_fill(empty, 0.0).softmax(dim=dim).masked_fill(~allowed, 0.0)


@behind_given_checks(SOFTMAX)
def first_mask_for_all(scores, mask=None, dim=-1):
    first = mask[:1] if mask is not None and mask.dim() > 2 else mask
    return right(scores, visible(scores, first), dim)


@behind_given_checks(SOFTMAX)
def nan_repaired_in_place(scores, mask=None, dim=-1):
    weights = filled(scores, mask, -math.inf).softmax(dim=dim)
    weights[weights.isnan()] = 0.0
    return weights


# What hides a NaN of the scores


@behind_given_checks(SOFTMAX)
def nan_taken_for_masked(scores, mask=None, dim=-1):
    return right(scores.nan_to_num(nan=0.0), visible(scores, mask) & ~scores.isnan(), dim)


@misconception(SOFTMAX, like="nan_taken_for_masked")
def weights_repaired(scores, mask=None, dim=-1):
    refuse_bad_arguments(SOFTMAX, scores, mask, dim)
    return right(scores, visible(scores, mask), dim).nan_to_num(nan=0.0)


@misconception(SOFTMAX, like="nan_taken_for_masked")
def zero_in_its_place(scores, mask=None, dim=-1):
    refuse_bad_arguments(SOFTMAX, scores, mask, dim)
    return right(scores.nan_to_num(nan=0.0), visible(scores, mask), dim)


@misconception(SOFTMAX, like="nan_taken_for_masked")
def compared_with_minus_infinity(scores, mask=None, dim=-1):
    refuse_bad_arguments(SOFTMAX, scores, mask, dim)
    allowed = everything(scores, mask) & (scores > -math.inf)
    return right(scores.masked_fill(~allowed, 0.0), allowed, dim)


# Other numbers than minus infinity


def _fill(name, number, erased=False):
    @behind_given_checks(SOFTMAX, name)
    def wrong(scores, mask=None, dim=-1):
        weights = filled(scores, mask, number(scores)).softmax(dim=dim)
        return weights * everything(scores, mask) if erased else weights


_fill("minus_1e4_filled_in", lambda scores: -1e4)
_fill("erased_after_minus_1e4", lambda scores: -1e4, erased=True)
_fill("erased_after_the_smallest_number", lambda scores: torch.finfo(scores.dtype).min, erased=True)
_fill("zero_filled_in", lambda scores: 0.0)


@behind_given_checks(SOFTMAX)
def smallest_number_for_all_that_is_hidden(scores, mask=None, dim=-1):
    allowed = visible(scores, mask)
    return scores.masked_fill(~allowed, torch.finfo(scores.dtype).min).softmax(dim=dim) * allowed


def _add(name, number):
    @behind_given_checks(SOFTMAX, name)
    def wrong(scores, mask=None, dim=-1):
        return (scores + (~everything(scores, mask)).to(scores.dtype) * number).softmax(dim=dim)


_add("minus_1e9_added", -1e9)
_add("minus_1e4_added", -1e4)
_add("infinity_times_zero", -math.inf)


@behind_given_checks(SOFTMAX)
def mask_added_as_numbers(scores, mask=None, dim=-1):
    return (scores + everything(scores, mask).to(scores.dtype)).softmax(dim=dim)


@behind_given_checks(SOFTMAX)
def zero_taken_for_masked(scores, mask=None, dim=-1):
    hidden = scores.masked_fill(~everything(scores, mask), 0.0)
    return right(hidden, visible(hidden, hidden != 0), dim)


def _with_a_number_in_the_total(number, like=""):
    name = f"of_{number:.0e}".replace("-", "minus_") if like else "number_added_to_the_total"

    @behind_given_checks(SOFTMAX, name, like)
    def wrong(scores, mask=None, dim=-1):
        hidden = scores.masked_fill(~visible(scores, mask), -math.inf)
        largest = hidden.amax(dim=dim, keepdim=True) if hidden.numel() else 0.0
        terms = (hidden - torch.as_tensor(largest).masked_fill(largest == -math.inf, 0.0)).exp()
        return terms / (terms.sum(dim=dim, keepdim=True) + number)


_with_a_number_in_the_total(1e-6)
for _number in (1.0, 1e-2, 1e-3, 1e-4, 1e-5, 1e-7):
    _with_a_number_in_the_total(_number, "number_added_to_the_total")


# Other functions, other axes


@behind_given_checks(SOFTMAX)
def exponentials_overflow_where_allowed(scores, mask=None, dim=-1):
    return divided(filled(scores, visible(scores, mask), -math.inf).exp(), dim)


@behind_given_checks(SOFTMAX)
def one_maximum_for_all(scores, mask=None, dim=-1):
    hidden = filled(scores, mask, -math.inf)
    largest = hidden.max() if hidden.numel() else 0.0
    return divided((hidden - (largest if largest > -math.inf else 0.0)).exp(), dim)


@behind_given_checks(SOFTMAX)
def sums_without_keepdim(scores, mask=None, dim=-1):
    terms = filled(scores, mask, -math.inf).exp()
    return terms / terms.sum(dim=dim)


@behind_given_checks(SOFTMAX)
def scaled_too(scores, mask=None, dim=-1):
    return right(scores / math.sqrt(scores.shape[-1]), visible(scores, mask), dim)


@behind_given_checks(SOFTMAX)
def sigmoid_for_softmax(scores, mask=None, dim=-1):
    return scores.sigmoid().masked_fill(~visible(scores, mask), 0.0)


@behind_given_checks(SOFTMAX)
def no_exponential(scores, mask=None, dim=-1):
    return divided(scores.masked_fill(~visible(scores, mask), 0.0), dim)


@behind_given_checks(SOFTMAX)
def softmax_twice(scores, mask=None, dim=-1):
    allowed = visible(scores, mask)
    return right(right(scores, allowed, dim), allowed, dim)


@behind_given_checks(SOFTMAX)
def over_the_queries(scores, mask=None, dim=-1):
    return right(scores, visible(scores, mask), -2 if scores.dim() > 1 else -1)


@behind_given_checks(SOFTMAX)
def always_axis_one(scores, mask=None, dim=-1):
    return right(scores, visible(scores, mask), 1 if scores.dim() > 1 else 0)


@behind_given_checks(SOFTMAX)
def over_everything(scores, mask=None, dim=-1):
    allowed = visible(scores, mask).expand(scores.shape)
    return right(scores.flatten(), allowed.flatten(), 0).reshape(scores.shape)
