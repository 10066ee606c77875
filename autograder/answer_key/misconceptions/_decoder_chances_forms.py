"""Wrong probabilities of the next token: other forms of a cut, and cuts that are right for one row of logits alone."""

import functools

import torch

from ._decoder_chances import cut_k, cut_p, heated, kept, never_zero, renormalised, right_chances, wide, wrong_chances
from ._decoder_chances_cuts import kept_by_sum


def first_kept_in_any_case(logits, temperature, top_k, top_p):
    """keep[..., 0] = True saves the most probable token, and no other that crosses top_p."""
    if top_p is None or top_p == 1 or temperature == 0:
        return right_chances(logits, temperature, top_k, top_p)
    chances = cut_k(heated(logits, temperature), top_k)
    return kept_by_sum(chances, lambda total, before: (total <= top_p) | (before == 0)).to(logits.dtype)


wrong_chances(first_kept_in_any_case, like="crossing_token_dropped")


def _zero_logits(logits, temperature, left):
    """The softmax of the logits where `left` is not zero, and of 0 elsewhere."""
    return torch.softmax((wide(logits) / temperature).where(left > 0, 0.0), dim=-1)


def zero_logits_by_top_k(logits, temperature, top_k, top_p):
    """top_p cuts what the softmax then gives."""
    if temperature == 0:
        return right_chances(logits, 0)
    left = cut_k(never_zero(heated(logits, temperature)), top_k)
    return cut_p(_zero_logits(logits, temperature, left), top_p).to(logits.dtype)


def zero_logits_by_top_p(logits, temperature, top_k, top_p):
    if top_p is None or temperature == 0:
        return right_chances(logits, temperature, top_k, top_p)
    left = cut_k(never_zero(heated(logits, temperature)), top_k)
    among = wide(logits).where(left > 0, -torch.inf)
    return _zero_logits(among, temperature, torch.where(left > 0, cut_p(left, top_p), 1.0)).to(logits.dtype)


wrong_chances(zero_logits_by_top_k, like="cut_logits_count_one")
wrong_chances(zero_logits_by_top_p, like="cut_logits_count_one")


def removed_by_index(logits, temperature, top_k, top_p, remove):
    """top_p cuts the ordered tokens that remove(running sum) marks."""
    if top_p is None or top_p == 1 or temperature == 0:
        return right_chances(logits, temperature, top_k, top_p)
    chances = cut_k(heated(logits, temperature), top_k)
    total = chances.sort(dim=-1, descending=True).values.cumsum(dim=-1)
    return renormalised(kept(chances, ~remove(total), whole=False)).to(logits.dtype)


def _shifted_along_the_first_axis(mask):
    mask[1:] = mask[:-1].clone()
    mask[0] = False
    return mask


def _first_row_for_the_first_token(mask):
    mask[..., 1:] = mask[..., :-1].clone()
    mask[0] = False
    return mask


@wrong_chances
def rows_taken_for_tokens(logits, temperature, top_k, top_p):
    """remove[1:] = remove[:-1]; remove[0] = False: right for one row alone."""
    return removed_by_index(
        logits, temperature, top_k, top_p, lambda total: _shifted_along_the_first_axis(total > top_p)
    )


def as_soon_as_top_p_is_reached(logits, temperature, top_k, top_p):
    return removed_by_index(
        logits, temperature, top_k, top_p, lambda total: _shifted_along_the_first_axis(total >= top_p)
    )


def the_first_one_alone(logits, temperature, top_k, top_p):
    """remove[0] = False behind a shift along the last axis."""
    return removed_by_index(
        logits, temperature, top_k, top_p, lambda total: _first_row_for_the_first_token(total > top_p)
    )


wrong_chances(as_soon_as_top_p_is_reached, like="rows_taken_for_tokens")
wrong_chances(the_first_one_alone, like="rows_taken_for_tokens")


@functools.partial(wrong_chances, zeros=False)
def nan_for_a_row_of_nothing(logits, temperature, top_k, top_p):
    chances = right_chances(logits, temperature, top_k, top_p)
    return chances.masked_fill((logits == -torch.inf).all(dim=-1, keepdim=True), torch.nan)


@functools.partial(wrong_chances, zeros=False)
def first_token_of_a_row_of_nothing(logits, temperature, top_k, top_p):
    """argmax of equal logits is the first of them; elsewhere NaN."""
    nothing = (logits == -torch.inf).all(dim=-1, keepdim=True)
    chances = right_chances(logits, temperature, top_k, top_p)
    if temperature:
        return chances.masked_fill(nothing, torch.nan)
    return chances.where(~nothing, torch.eye(logits.shape[-1], dtype=logits.dtype)[0])


@functools.partial(wrong_chances, like="first_token_of_a_row_of_nothing", zeros=False)
def zeros_but_at_temperature_zero(logits, temperature, top_k, top_p):
    nothing = (logits == -torch.inf).all(dim=-1, keepdim=True)
    chances = right_chances(logits, temperature, top_k, top_p)
    return chances if temperature else chances.where(~nothing, torch.eye(logits.shape[-1], dtype=logits.dtype)[0])
