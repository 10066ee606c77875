"""Wrong combinations and wrong additive forms of masks, each as somebody would really write it."""

import math

import torch

from . import misconception
from ._given import behind_given_checks

COMBINE, ADDITIVE = "masks.combine_masks", "masks.to_additive"


# 4.5 combine_masks


def given(masks):
    return [mask for mask in masks if mask is not None]


@behind_given_checks(COMBINE)
def any_instead_of_all(*masks):
    combined = None
    for mask in given(masks):
        combined = mask if combined is None else combined | mask
    return combined


@behind_given_checks(COMBINE)
def first_two_only(*masks):
    first, *others = given(masks) or [None]
    return first & others[0] if others else first


@behind_given_checks(COMBINE)
def last_two_only(*masks):
    combined = previous = None
    for mask in given(masks):
        combined = mask if previous is None else previous & mask
        previous = mask
    return combined


@behind_given_checks(COMBINE)
def sum_of_masks(*masks):
    return sum(given(masks)) if given(masks) else None


@behind_given_checks(COMBINE)
def product_of_masks(*masks):
    return math.prod(given(masks)) if given(masks) else None


@behind_given_checks(COMBINE)
def none_hides_everything(*masks):
    if not given(masks):
        return None
    nothing = torch.zeros_like(given(masks)[0])
    combined = torch.ones_like(nothing)
    for mask in masks:
        combined = combined & (nothing if mask is None else mask)
    return combined


@behind_given_checks(COMBINE)
def none_not_left_out(*masks):
    if all(mask is None for mask in masks):
        return None
    combined = masks[0]
    for mask in masks[1:]:
        combined = combined & mask
    return combined


@behind_given_checks(COMBINE)
def everything_allowed_for_none(*masks):
    combined = torch.tensor(True)
    for mask in given(masks):
        combined = combined & mask
    return combined


@behind_given_checks(COMBINE)
def no_mask_fails(*masks):
    combined = given(masks)[0]
    for mask in given(masks)[1:]:
        combined = combined & mask
    return combined


@behind_given_checks(COMBINE)
def input_overwritten(*masks):
    combined = None
    for mask in given(masks):
        if combined is None:
            combined = mask
        else:
            combined &= mask
    return combined


# 4.6 to_additive


@behind_given_checks(ADDITIVE)
def large_negative_number(mask, dtype=torch.float32):
    return (~mask).to(dtype) * -1e9


@behind_given_checks(ADDITIVE)
def smallest_number_of_the_dtype(mask, dtype=torch.float32):
    return torch.zeros(mask.shape, dtype=dtype).masked_fill(~mask, torch.finfo(dtype).min)


@behind_given_checks(ADDITIVE)
def allowed_and_forbidden_swapped(mask, dtype=torch.float32):
    return torch.zeros(mask.shape, dtype=dtype).masked_fill(mask, -math.inf)


@behind_given_checks(ADDITIVE)
def zero_times_infinity(mask, dtype=torch.float32):
    return (~mask).to(dtype) * -math.inf


@behind_given_checks(ADDITIVE)
def one_where_allowed(mask, dtype=torch.float32):
    return mask.to(dtype).masked_fill(~mask, -math.inf)


@behind_given_checks(ADDITIVE)
def zeros_and_ones(mask, dtype=torch.float32):
    return mask.to(dtype)


@behind_given_checks(ADDITIVE)
def minus_one_where_forbidden(mask, dtype=torch.float32):
    return mask.to(dtype) - 1


@behind_given_checks(ADDITIVE)
def always_float32(mask, dtype=torch.float32):
    return torch.where(mask, 0.0, -math.inf)


@misconception(ADDITIVE)
def bad_input_not_refused(mask, dtype=torch.float32):
    return torch.zeros(mask.shape, dtype=dtype).masked_fill(~mask, -math.inf)
