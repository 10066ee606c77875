"""Wrong attention with any score, each as somebody would really write it."""

import math

import torch

from ..reference_package import reference
from . import (  # noqa: F401  (registers them, and other exercises)
    _sequence_attend,
    _sequence_decoder,
    _sequence_decoder_steps,
    _sequence_forms,
    _sequence_hard,
    _sequence_hard_returns,
    _sequence_hierarchical,
    _sequence_levels,
    _sequence_local,
    _sequence_local_window,
    _sequence_modules,
    _sequence_others,
)
from ._given import behind_given_checks

ATTEND = "sequence_to_sequence.attend"
masked_softmax = reference("masks.masked_softmax")


def mixed(scores, values, mask=None):
    """Context and weights of given scores."""
    weights = masked_softmax(scores, mask)
    return weights @ values, weights


def filled(scores, mask, number):
    return scores if mask is None else scores.masked_fill(~mask, number)


@behind_given_checks(ATTEND)
def score_ignored(query, keys, values, score, mask=None):
    return mixed(query @ keys.transpose(-2, -1), values, mask)


@behind_given_checks(ATTEND)
def scaled_whatever_the_score(query, keys, values, score, mask=None):
    return mixed(query @ keys.transpose(-2, -1) / math.sqrt(keys.shape[-1]), values, mask)


@behind_given_checks(ATTEND)
def divided_by_the_root(query, keys, values, score, mask=None):
    return mixed(score(query, keys) / math.sqrt(keys.shape[-1]), values, mask)


@behind_given_checks(ATTEND)
def arguments_swapped(query, keys, values, score, mask=None):
    weights = filled(score(keys, query), mask, -torch.inf).softmax(dim=-1)
    return weights @ values, weights


@behind_given_checks(ATTEND)
def swapped_and_turned_back(query, keys, values, score, mask=None):
    return mixed(score(keys, query).transpose(-2, -1), values, mask)


@behind_given_checks(ATTEND)
def values_scored(query, keys, values, score, mask=None):
    return mixed(score(query, values), values, mask)


@behind_given_checks(ATTEND)
def keys_for_values(query, keys, values, score, mask=None):
    return mixed(score(query, keys), keys, mask)


def along(dim):
    def attend(query, keys, values, score, mask=None):
        weights = masked_softmax(score(query, keys), mask, dim=dim)
        return weights @ values, weights

    return attend


behind_given_checks(ATTEND, "softmax_over_queries")(along(-2))
behind_given_checks(ATTEND, "softmax_over_axis_one")(along(1))


@behind_given_checks(ATTEND)
def mask_ignored(query, keys, values, score, mask=None):
    return mixed(score(query, keys), values)


@behind_given_checks(ATTEND)
def mask_inverted(query, keys, values, score, mask=None):
    return mixed(score(query, keys), values, None if mask is None else ~mask)


@behind_given_checks(ATTEND)
def masked_afterwards(query, keys, values, score, mask=None):
    weights = torch.softmax(score(query, keys), dim=-1)
    weights = weights if mask is None else weights * mask
    return weights @ values, weights


@behind_given_checks(ATTEND)
def renormalised_afterwards(query, keys, values, score, mask=None):
    weights = torch.softmax(score(query, keys), dim=-1)
    if mask is not None:
        weights = weights * mask
        weights = weights / weights.sum(dim=-1, keepdim=True)
    return weights @ values, weights


@behind_given_checks(ATTEND)
def mask_added(query, keys, values, score, mask=None):
    scores = score(query, keys)
    return mixed(scores if mask is None else scores + mask, values)


@behind_given_checks(ATTEND)
def mask_multiplied(query, keys, values, score, mask=None):
    scores = score(query, keys)
    return mixed(scores if mask is None else scores * mask, values)


@behind_given_checks(ATTEND)
def filled_with_minus_1e9(query, keys, values, score, mask=None):
    weights = torch.softmax(filled(score(query, keys), mask, -1e9), dim=-1)
    return weights @ values, weights


@behind_given_checks(ATTEND)
def filled_with_the_lowest_number(query, keys, values, score, mask=None):
    scores = score(query, keys)
    weights = torch.softmax(filled(scores, mask, torch.finfo(scores.dtype).min), dim=-1)
    return weights @ values, weights


@behind_given_checks(ATTEND)
def nan_on_empty_row(query, keys, values, score, mask=None):
    weights = torch.softmax(filled(score(query, keys), mask, -torch.inf), dim=-1)
    return weights @ values, weights


@behind_given_checks(ATTEND)
def nan_repaired_afterwards(query, keys, values, score, mask=None):
    scores = score(query, keys)
    if mask is not None:
        scores = scores + torch.zeros_like(mask, dtype=scores.dtype).masked_fill(~mask, -torch.inf)
    weights = torch.softmax(scores, dim=-1).nan_to_num(0.0)
    return weights @ values, weights


@behind_given_checks(ATTEND)
def mask_always_expected(query, keys, values, score, mask=None):
    return mixed(score(query, keys).masked_fill(~mask, -torch.inf), values)


@behind_given_checks(ATTEND)
def results_exchanged(query, keys, values, score, mask=None):
    return mixed(score(query, keys), values, mask)[::-1]


@behind_given_checks(ATTEND)
def context_alone(query, keys, values, score, mask=None):
    return mixed(score(query, keys), values, mask)[0]


@behind_given_checks(ATTEND)
def scores_returned(query, keys, values, score, mask=None):
    scores = score(query, keys)
    return mixed(scores, values, mask)[0], scores


@behind_given_checks(ATTEND)
def gradient_cut(query, keys, values, score, mask=None):
    with torch.no_grad():
        return mixed(score(query, keys), values, mask)
