"""More wrong combinations and wrong additive forms of masks, each as somebody would really write it."""

import functools
import itertools
import math

import torch

from ._given import behind_given_checks
from ._mask_forms import ADDITIVE, COMBINE, given

# 4.5 combine_masks


def joined(masks, join=torch.logical_and):
    return functools.reduce(join, masks) if masks else None


@behind_given_checks(COMBINE)
def first_mask_alone(*masks):
    return joined(given(masks)[:1])


@behind_given_checks(COMBINE)
def last_mask_alone(*masks):
    return joined(given(masks)[-1:])


@behind_given_checks(COMBINE)
def first_mask_skipped(*masks):
    return joined(given(masks)[1:])


@behind_given_checks(COMBINE)
def last_mask_skipped(*masks):
    return joined(given(masks)[:-1])


@behind_given_checks(COMBINE)
def one_truth_value_asked(*masks):
    combined = None
    for mask in given(masks):
        combined = mask if combined is None else combined and mask
    return combined


@behind_given_checks(COMBINE)
def stacked_without_broadcasting(*masks):
    return torch.stack(given(masks)).all(dim=0) if given(masks) else None


@behind_given_checks(COMBINE)
def shape_of_the_first(*masks):
    if not given(masks):
        return None
    combined = given(masks)[0].clone()
    for mask in given(masks)[1:]:
        combined &= mask
    return combined


@behind_given_checks(COMBINE)
def one_mask_taken_for_none(*masks):
    return joined(given(masks)) if len(given(masks)) > 1 else None


@behind_given_checks(COMBINE)
def none_lifts_every_mask(*masks):
    return joined(given(masks)) if len(given(masks)) == len(masks) else None


@behind_given_checks(COMBINE, like="none_lifts_every_mask")
def and_takes_the_first(*masks):
    return None if len(given(masks)) < len(masks) else functools.reduce(torch.logical_and, given(masks))


@behind_given_checks(COMBINE)
def none_ends_the_loop(*masks):
    return joined(list(itertools.takewhile(lambda mask: mask is not None, masks)))


@behind_given_checks(COMBINE)
def none_starts_anew(*masks):
    behind = masks[::-1]
    return joined(list(itertools.takewhile(lambda mask: mask is not None, behind))[::-1])


@behind_given_checks(COMBINE)
def first_and_last_alone(*masks):
    return joined([given(masks)[0], given(masks)[-1]]) if given(masks) else None


@behind_given_checks(COMBINE)
def product_of_floats(*masks):
    return joined([mask.float() for mask in given(masks)], torch.mul)


@behind_given_checks(COMBINE)
def product_in_32_bits(*masks):
    return joined([mask.int() for mask in given(masks)], torch.mul)


@behind_given_checks(COMBINE)
def sum_of_floats(*masks):
    return joined([mask.float() for mask in given(masks)], torch.add)


@behind_given_checks(COMBINE)
def sum_in_32_bits(*masks):
    return joined([mask.int() for mask in given(masks)], torch.add)


@behind_given_checks(COMBINE)
def exclusive_or(*masks):
    return joined(given(masks), torch.logical_xor)


@behind_given_checks(COMBINE)
def agreement_for_and(*masks):
    return joined(given(masks), torch.eq)


@behind_given_checks(COMBINE)
def forbidden_returned(*masks):
    combined = joined(given(masks))
    return None if combined is None else ~combined


@behind_given_checks(COMBINE)
def a_count_of_two(*masks):
    return sum(mask.long() for mask in given(masks)) == 2 if given(masks) else None


@behind_given_checks(COMBINE)
def one_answer_for_all(*masks):
    return torch.stack([mask.all() for mask in given(masks)]).all() if given(masks) else None


@behind_given_checks(COMBINE)
def handed_back_as_a_list(*masks):
    return given(masks) or None


# 4.6 to_additive


def filled(mask, number, dtype=torch.float32):
    return torch.zeros(mask.shape, dtype=dtype).masked_fill(~mask, number)


@behind_given_checks(ADDITIVE)
def minus_1e9_filled_in(mask, dtype=torch.float32):
    return filled(mask, -1e9, dtype)


@behind_given_checks(ADDITIVE)
def minus_1e4(mask, dtype=torch.float32):
    return filled(mask, -1e4, dtype)


@behind_given_checks(ADDITIVE)
def minus_1e6(mask, dtype=torch.float32):
    return filled(mask, -1e6).to(dtype)


@behind_given_checks(ADDITIVE)
def minus_1e30(mask, dtype=torch.float32):
    return filled(mask, -1e30).to(dtype)


@behind_given_checks(ADDITIVE)
def smallest_float32(mask, dtype=torch.float32):
    return filled(mask, torch.finfo(torch.float32).min).to(dtype)


@behind_given_checks(ADDITIVE)
def plus_infinity(mask, dtype=torch.float32):
    return filled(mask, math.inf, dtype)


@behind_given_checks(ADDITIVE)
def nothing_left_of_infinity(mask, dtype=torch.float32):
    return torch.nan_to_num(mask.to(dtype) * -math.inf, nan=0.0, neginf=0.0)


@behind_given_checks(ADDITIVE)
def filled_into_the_mask(mask, dtype=torch.float32):
    return mask.masked_fill(~mask, -math.inf).to(dtype)


@behind_given_checks(ADDITIVE)
def zeros_like_the_mask(mask, dtype=torch.float32):
    return torch.zeros_like(mask).masked_fill(~mask, -math.inf)


@behind_given_checks(ADDITIVE)
def always_float64(mask, dtype=torch.float32):
    return filled(mask, -math.inf, torch.float64)


@behind_given_checks(ADDITIVE)
def always_float16(mask, dtype=torch.float32):
    return filled(mask, -math.inf, torch.float16)


@behind_given_checks(ADDITIVE)
def made_a_matrix(mask, dtype=torch.float32):
    return filled(mask, -math.inf, dtype).reshape(-1, mask.shape[-1] if mask.dim() else 1)


@behind_given_checks(ADDITIVE)
def an_axis_at_the_end(mask, dtype=torch.float32):
    return filled(mask, -math.inf, dtype).unsqueeze(-1)


@behind_given_checks(ADDITIVE)
def mask_changed_in_place(mask, dtype=torch.float32):
    found = filled(mask, -math.inf, dtype)
    mask.logical_not_()
    return found
