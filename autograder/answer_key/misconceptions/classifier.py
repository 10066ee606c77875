"""Runnable wrong answers of the classifier, each as somebody would really write it."""

import torch

from ..reference_package import reference
from . import (
    _classifier_means,  # noqa: F401
    _classifier_models,  # noqa: F401  (registers the text classifiers)
    _classifier_pairs,  # noqa: F401
    _classifier_steps,  # noqa: F401
)
from ._given import behind_given_checks

MEAN = "classifier.masked_mean"
wrong_mean = behind_given_checks(MEAN)
right_mean = reference(MEAN)


def real_of(x, key_mask):
    """The mask with an axis for the features."""
    mask = torch.ones(x.shape[:2], dtype=torch.bool) if key_mask is None else key_mask
    return mask.unsqueeze(-1)


def cleaned(x, key_mask):
    return x.masked_fill(~real_of(x, key_mask), 0.0)


def wide(x):
    """float32 where the dtype is narrower, so that a mistake shows alone."""
    return x.to(torch.promote_types(x.dtype, torch.float32))


@wrong_mean
def mask_ignored(x, key_mask=None):
    return x.mean(dim=1)


@wrong_mean
def divided_by_length(x, key_mask=None):
    return cleaned(x, key_mask).mean(dim=1)


@wrong_mean
def sum_not_mean(x, key_mask=None):
    return cleaned(x, key_mask).sum(dim=1)


@wrong_mean
def mask_inverted(x, key_mask=None):
    return right_mean(x, None if key_mask is None else ~key_mask)


@wrong_mean
def fill_inverted(x, key_mask=None):
    """masked_fill with the mask of the real tokens; the count is right."""
    if key_mask is None:
        return right_mean(x)
    real = key_mask.unsqueeze(-1)
    return (wide(x.masked_fill(real, 0.0)).sum(dim=1) / real.sum(dim=1).clamp(min=1)).to(x.dtype)


@wrong_mean
def first_tokens_taken(x, key_mask=None):
    """x[:, :count], row by row."""
    if key_mask is None:
        return right_mean(x)
    return right_mean(x, torch.arange(x.shape[1]) < key_mask.sum(dim=1, keepdim=True))


@wrong_mean
def empty_divides_by_zero(x, key_mask=None):
    return (wide(cleaned(x, key_mask)).sum(dim=1) / real_of(x, key_mask).sum(dim=1)).to(x.dtype)


@wrong_mean
def one_added_to_the_count(x, key_mask=None):
    return (wide(cleaned(x, key_mask)).sum(dim=1) / (real_of(x, key_mask).sum(dim=1) + 1)).to(x.dtype)


@wrong_mean
def padding_multiplied_away(x, key_mask=None):
    real = real_of(x, key_mask)
    return (wide(x * real).sum(dim=1) / real.sum(dim=1).clamp(min=1)).to(x.dtype)


@wrong_mean
def summed_in_half_precision(x, key_mask=None):
    return cleaned(x, key_mask).sum(dim=1) / real_of(x, key_mask).sum(dim=1).clamp(min=1)


@wrong_mean
def promoted_to_float32(x, key_mask=None):
    real = real_of(x, key_mask).float()
    return (wide(x).where(real > 0, 0.0) * real).sum(dim=1) / real.sum(dim=1).clamp(min=1)


@wrong_mean
def padding_zeroed_in_place(x, key_mask=None):
    if key_mask is not None:
        with torch.no_grad():
            x[~key_mask] = 0
    return right_mean(x, key_mask)


@wrong_mean
def count_of_the_batch(x, key_mask=None):
    return (wide(cleaned(x, key_mask)).sum(dim=1) / real_of(x, key_mask).sum().clamp(min=1)).to(x.dtype)


@wrong_mean
def longest_counts(x, key_mask=None):
    count = real_of(x, key_mask).sum(dim=1, keepdim=True).amax().clamp(min=1)
    return (wide(cleaned(x, key_mask)).sum(dim=1) / count).to(x.dtype)


@wrong_mean
def all_rows_together(x, key_mask=None):
    return x.mean(dim=(0, 1)) if key_mask is None else x[key_mask].mean(dim=0)


@wrong_mean
def over_the_batch(x, key_mask=None):
    real = real_of(x, key_mask)
    return (wide(cleaned(x, key_mask)).sum(dim=0) / real.sum(dim=0).clamp(min=1)).to(x.dtype)


@wrong_mean
def over_the_features(x, key_mask=None):
    return cleaned(x, key_mask).mean(dim=-1)


@wrong_mean
def axis_kept(x, key_mask=None):
    return right_mean(x, key_mask).unsqueeze(1)


@wrong_mean
def mask_always_expected(x, key_mask=None):
    key_mask = key_mask.bool()
    return right_mean(x, key_mask)
