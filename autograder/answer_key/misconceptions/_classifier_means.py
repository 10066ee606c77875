"""Wrong means over the real tokens: another statistic, another choice of tokens, a lost dtype or gradient."""

import torch

from ..reference_package import reference
from ._given import behind_given_checks

MEAN = "classifier.masked_mean"
wrong_mean = behind_given_checks(MEAN)
right_mean = reference(MEAN)


def real_of(x, key_mask):
    return torch.ones(x.shape[:2], dtype=torch.bool) if key_mask is None else key_mask


def cleaned(x, key_mask):
    return x.masked_fill(~real_of(x, key_mask).unsqueeze(-1), 0.0)


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


@wrong_mean
def median_for_mean(x, key_mask=None):
    texts = zip(x, real_of(x, key_mask), strict=True)
    return torch.stack([row[real].median(dim=0).values if real.any() else row[:0].sum(dim=0) for row, real in texts])


@wrong_mean
def softmax_of_the_mask(x, key_mask=None):
    weights = real_of(x, key_mask).to(x.dtype).softmax(dim=1).unsqueeze(-1)
    return (cleaned(x, key_mask) * weights).sum(dim=1)


@wrong_mean
def counted_up_to_the_last(x, key_mask=None):
    real = real_of(x, key_mask)
    last = (real * torch.arange(1, x.shape[1] + 1)).amax(dim=1, keepdim=True).clamp(min=1)
    return (cleaned(x, key_mask) / last.unsqueeze(-1)).sum(dim=1).to(x.dtype)


@wrong_mean
def cut_at_the_first_padding(x, key_mask=None):
    return right_mean(x, real_of(x, key_mask).cumprod(dim=1).bool())


@wrong_mean
def small_number_for_an_empty_text(x, key_mask=None):
    """1e-8, which is 0 in float16."""
    real = real_of(x, key_mask).unsqueeze(-1).to(x.dtype)
    return (cleaned(x, key_mask) / (real.sum(dim=1, keepdim=True) + 1e-8)).sum(dim=1)


@behind_given_checks(MEAN, like="summed_in_half_precision")
def beside_a_small_number(x, key_mask=None):
    real = real_of(x, key_mask).unsqueeze(-1).to(x.dtype)
    return cleaned(x, key_mask).sum(dim=1) / (real.sum(dim=1) + 1e-8)


@wrong_mean
def first_count_for_all(x, key_mask=None):
    count = real_of(x, key_mask)[0].sum().clamp(min=1)
    return (cleaned(x, key_mask) / count).sum(dim=1).to(x.dtype)


def _with_a_number_in_the_count(number, name, like=""):
    def wrong(x, key_mask=None):
        count = real_of(x, key_mask).sum(dim=1, keepdim=True).unsqueeze(-1) + number
        return (cleaned(x, key_mask) / count).sum(dim=1).to(x.dtype)

    behind_given_checks(MEAN, name, like)(wrong)


_with_a_number_in_the_count(1e-3, "number_added_to_the_count")
_with_a_number_in_the_count(1e-2, "of_a_hundredth", "number_added_to_the_count")
_with_a_number_in_the_count(0.1, "of_a_tenth", "number_added_to_the_count")


@wrong_mean
def nan_replaced_afterwards(x, key_mask=None):
    """nan_to_num at the end, of 0 / 0 and of what padding has spoilt."""
    real = real_of(x, key_mask).unsqueeze(-1).to(x.dtype)
    return torch.nan_to_num((x * real).sum(dim=1) / real.sum(dim=1))


@wrong_mean
def root_mean_square(x, key_mask=None):
    return right_mean(x.square(), key_mask).sqrt()


@wrong_mean
def halved_each_time(x, key_mask=None):
    """(mean + token) / 2, over and over."""
    mean = torch.zeros_like(x[:, 0])
    for place in range(x.shape[1]):
        mean = torch.where(real_of(x, key_mask)[:, place, None], (mean + x[:, place]) / 2, mean)
    return mean


@wrong_mean
def counted_along_the_batch(x, key_mask=None):
    real = real_of(x, key_mask)
    return (cleaned(x, key_mask) / real.sum(dim=0).clamp(min=1).to(x.dtype)[:, None]).sum(dim=1)


@behind_given_checks(MEAN, like="fill_inverted")
def without_a_mask_too(x, key_mask=None):
    real = real_of(x, key_mask).unsqueeze(-1)
    return (x.masked_fill(real, 0.0) / real.sum(dim=1, keepdim=True).clamp(min=1)).sum(dim=1)


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
