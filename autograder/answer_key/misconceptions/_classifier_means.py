"""Wrong means over the real tokens: another statistic, another choice of tokens, a lost dtype or gradient."""

import torch

from ..reference_package import reference
from ._given import behind_given_checks

MEAN = "classifier.masked_mean"
wrong_mean = behind_given_checks(MEAN)
right_mean = reference(MEAN)


def real_of(x, key_mask):
    return torch.ones(x.shape[:2], dtype=torch.bool) if key_mask is None else key_mask


@wrong_mean
def largest_for_mean(x, key_mask=None):
    return x.masked_fill(~real_of(x, key_mask).unsqueeze(-1), -torch.inf).amax(dim=1)


@wrong_mean
def first_token_alone(x, key_mask=None):
    return x[:, 0]


@wrong_mean
def last_token_alone(x, key_mask=None):
    """The last one of as many tokens as are real."""
    last = real_of(x, key_mask).sum(dim=1).clamp(min=1) - 1
    return x[torch.arange(len(x)), last]


@wrong_mean
def last_position_left_out(x, key_mask=None):
    real = real_of(x, key_mask).clone()
    real[:, -1] = False
    return right_mean(x, real)


@wrong_mean
def tokens_of_zeros_left_out(x, key_mask=None):
    """What is real is read from the numbers."""
    return right_mean(x, real_of(x, key_mask) & (x != 0).any(dim=-1))


@wrong_mean
def mask_of_the_first_text(x, key_mask=None):
    return right_mean(x, real_of(x, key_mask)[:1].expand(x.shape[:2]))


@wrong_mean
def divided_by_the_root(x, key_mask=None):
    count = real_of(x, key_mask).sum(dim=1, keepdim=True).clamp(min=1)
    return (right_mean(x, key_mask).to(torch.float64) * count.to(torch.float64).sqrt()).to(x.dtype)


@wrong_mean
def everything_averaged_where_nothing_is_real(x, key_mask=None):
    real = real_of(x, key_mask)
    return right_mean(x, real | ~real.any(dim=1, keepdim=True))


@wrong_mean
def gradient_cut(x, key_mask=None):
    return right_mean(x.detach(), key_mask)


@wrong_mean
def narrowed_to_float32(x, key_mask=None):
    return right_mean(x, key_mask).float()


@wrong_mean
def widened_to_float64(x, key_mask=None):
    return right_mean(x, key_mask).double()


@wrong_mean
def count_returned_too(x, key_mask=None):
    return right_mean(x, key_mask), real_of(x, key_mask).sum(dim=1, keepdim=True).clamp(min=1)


# Padding is multiplied by 0, and something else is wrong as well.


def _multiplied(x, key_mask):
    real = real_of(x, key_mask).unsqueeze(-1).to(x.dtype)
    return x * real, real


@behind_given_checks(MEAN, like="count_of_the_batch")
def of_a_product(x, key_mask=None):
    product, real = _multiplied(x, key_mask)
    return x.mean(dim=1) if key_mask is None else product.sum(dim=1) / real.sum().clamp(min=1)


@behind_given_checks(MEAN, like="largest_for_mean")
def with_zeros_at_padding(x, key_mask=None):
    return x.mean(dim=1) if key_mask is None else _multiplied(x, key_mask)[0].amax(dim=1)


@behind_given_checks(MEAN, like="divided_by_length")
def product_divided_by_length(x, key_mask=None):
    return _multiplied(x, key_mask)[0].mean(dim=1)


@behind_given_checks(MEAN, like="all_rows_together")
def under_a_mask(x, key_mask=None):
    return x.mean(dim=1) if key_mask is None else x[key_mask].mean(dim=0)
