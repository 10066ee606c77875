"""Wrong probabilities of the next token, each with the argument checks that the stub gives."""

import torch
from torch.nn import functional as F

from ..reference_package import reference, reference_module
from . import misconception

CHANCES = "decoder.next_token_probabilities"
right_chances = reference(CHANCES)
given = reference_module("_decoder_arguments")


def wrong_chances(function, like="", zeros=True):
    """The given lines in front of wrong probabilities; like: see `misconception`.

    zeros: whether a row whose logits are all -inf gives zeros, as it should
    """

    def chances(logits, temperature=1.0, top_k=None, top_p=None):
        given.check_logits(logits)
        given.check_sampling(temperature, top_k, top_p)
        nothing = (logits == -torch.inf).all(dim=-1, keepdim=True)
        found = function(logits, temperature, top_k, top_p)
        if zeros and nothing.any() and found.shape == logits.shape:
            return found.masked_fill(nothing, 0.0)
        return found

    chances.__name__ = function.__name__
    return misconception(CHANCES, like)(chances)


def wide(logits):
    return logits.to(torch.promote_types(logits.dtype, torch.float32))


def heated(logits, temperature):
    """The right probabilities before any cut, in float32 or wider."""
    return right_chances(wide(logits), temperature)


def never_zero(chances):
    """The chances, where none has become zero by rounding: what is zero after a cut has been cut."""
    return chances.clamp(min=1e-30)


def renormalised(chances):
    return chances / chances.sum(dim=-1, keepdim=True)


def cut_k(chances, top_k, whole=True):
    return chances if top_k is None else kept(chances, torch.arange(chances.shape[-1]) < top_k, whole)


def cut_p(chances, top_p, whole=True):
    if top_p is None or top_p == 1:
        return chances
    ordered = chances.sort(dim=-1, descending=True).values
    return kept(chances, ordered.cumsum(dim=-1) - ordered < top_p, whole)


def kept(chances, which, whole=True):
    """The chances whose rank is among these; whole: summing to 1 again."""
    order = chances.argsort(dim=-1, descending=True)
    rank = order.argsort(dim=-1)
    found = chances.where(which.expand(chances.shape).gather(-1, rank), 0.0)
    return renormalised(found) if whole else found


def as_asked(chances, top_k, top_p, logits):
    return cut_p(cut_k(chances, top_k), top_p).to(logits.dtype)


@wrong_chances
def temperature_ignored(logits, temperature, top_k, top_p):
    return as_asked(heated(logits, 1.0 if temperature else 0), top_k, top_p, logits)


@wrong_chances
def temperature_multiplied(logits, temperature, top_k, top_p):
    return as_asked(heated(wide(logits) * temperature, 1.0) if temperature else heated(logits, 0), top_k, top_p, logits)


@wrong_chances
def temperature_after_softmax(logits, temperature, top_k, top_p):
    """Softmax of the divided probabilities."""
    if temperature in (0, 1):
        return right_chances(logits, temperature, top_k, top_p)
    return as_asked(torch.softmax(heated(logits, 1.0) / temperature, dim=-1), top_k, top_p, logits)


@wrong_chances
def temperature_divides_probabilities(logits, temperature, top_k, top_p):
    if temperature in (0, 1):
        return right_chances(logits, temperature, top_k, top_p)
    cut = as_asked(heated(logits, 1.0), top_k, top_p, logits)
    return cut / temperature


@wrong_chances
def temperature_after_the_cuts(logits, temperature, top_k, top_p):
    cut = as_asked(heated(logits, 1.0), top_k, top_p, wide(logits))
    left = wide(logits).where(cut > 0, -torch.inf)
    return right_chances(left, temperature).to(logits.dtype)


@wrong_chances
def divided_by_temperature_zero(logits, temperature, top_k, top_p):
    if temperature == 0:
        return torch.softmax(logits / temperature, dim=-1)
    return right_chances(logits, temperature, top_k, top_p)


@wrong_chances
def zero_taken_for_none(logits, temperature, top_k, top_p):
    return right_chances(logits, temperature or 1.0, top_k, top_p)


@wrong_chances
def largest_as_a_number(logits, temperature, top_k, top_p):
    """At temperature 0 the place of the largest logit, and no probabilities."""
    return logits.argmax(dim=-1) if temperature == 0 else right_chances(logits, temperature, top_k, top_p)


@wrong_chances
def exponentials_overflow(logits, temperature, top_k, top_p):
    if temperature == 0:
        return right_chances(logits, 0)
    powers = torch.exp(wide(logits) / temperature)
    chances = renormalised(powers)
    finite = chances.nan_to_num() if top_k or top_p else chances
    return as_asked(finite, top_k, top_p, logits)


@wrong_chances
def over_the_first_axis(logits, temperature, top_k, top_p):
    if logits.dim() < 2 or temperature == 0:
        return right_chances(logits, temperature, top_k, top_p)
    return as_asked(torch.softmax(wide(logits) / temperature, dim=0), top_k, top_p, logits)


@wrong_chances
def top_k_ignored(logits, temperature, top_k, top_p):
    return right_chances(logits, temperature, None, top_p)


@wrong_chances
def top_p_ignored(logits, temperature, top_k, top_p):
    return right_chances(logits, temperature, top_k)


@wrong_chances
def not_renormalised(logits, temperature, top_k, top_p):
    cut = cut_k(heated(logits, temperature), top_k, whole=False)
    if top_p is not None and top_k is not None:
        return as_asked(heated(logits, temperature), top_k, top_p, logits)
    return cut_p(cut, top_p, whole=False).to(logits.dtype)


@wrong_chances
def not_renormalised_between(logits, temperature, top_k, top_p):
    cut = cut_p(cut_k(heated(logits, temperature), top_k, whole=False), top_p, whole=False)
    return renormalised(cut).to(logits.dtype)


@wrong_chances
def cut_logits_count_one(logits, temperature, top_k, top_p):
    """What is cut gets the logit 0 instead of -inf."""
    if temperature == 0:
        return right_chances(logits, 0)
    cut = as_asked(never_zero(heated(logits, temperature)), top_k, top_p, wide(logits))
    return torch.softmax((wide(logits) / temperature).where(cut > 0, 0.0), dim=-1).to(logits.dtype)


@wrong_chances
def ties_kept(logits, temperature, top_k, top_p):
    """All that reach the k-th largest logit."""
    chances = heated(logits, temperature)
    if top_k is not None and temperature:
        least = wide(logits).topk(min(top_k, logits.shape[-1]), dim=-1).values[..., -1:]
        chances = renormalised(chances.where(wide(logits) >= least, 0.0))
    return cut_p(chances, top_p).to(logits.dtype)


@wrong_chances
def top_k_beyond_the_vocabulary(logits, temperature, top_k, top_p):
    if top_k is not None:
        logits.topk(top_k, dim=-1)
    return right_chances(logits, temperature, top_k, top_p)


@wrong_chances
def smallest_kept(logits, temperature, top_k, top_p):
    if top_k is None or temperature == 0:
        return right_chances(logits, temperature, top_k, top_p)
    chances = heated(logits, temperature)
    rank = chances.argsort(dim=-1).argsort(dim=-1)
    return cut_p(renormalised(chances.where(rank < top_k, 0.0)), top_p).to(logits.dtype)


@wrong_chances
def crossing_token_dropped(logits, temperature, top_k, top_p):
    chances = cut_k(heated(logits, temperature), top_k)
    if top_p is not None and top_p < 1 and temperature:
        ordered = chances.sort(dim=-1, descending=True).values
        chances = kept(chances, ordered.cumsum(dim=-1) <= top_p)
    return chances.to(logits.dtype)


@wrong_chances
def one_token_too_many(logits, temperature, top_k, top_p):
    """The mask is shifted by one, though it kept the crossing token already."""
    chances = cut_k(heated(logits, temperature), top_k)
    if top_p is not None and top_p < 1 and temperature:
        ordered = chances.sort(dim=-1, descending=True).values
        before = F.pad((ordered.cumsum(dim=-1) - ordered)[..., :-1], (1, 0))
        chances = kept(chances, before < top_p)
    return chances.to(logits.dtype)


@wrong_chances
def sum_from_the_least(logits, temperature, top_k, top_p):
    """The smallest probabilities are summed up first."""
    chances = cut_k(heated(logits, temperature), top_k)
    if top_p is not None and top_p < 1 and temperature:
        rank = chances.argsort(dim=-1).argsort(dim=-1)
        rising = chances.sort(dim=-1).values
        which = rising.cumsum(dim=-1) - rising < top_p
        chances = renormalised(chances.where(which.gather(-1, rank), 0.0))
    return chances.to(logits.dtype)


@wrong_chances
def least_probability_for_top_p(logits, temperature, top_k, top_p):
    """All whose own probability reaches 1 - top_p: that is another rule, min-p."""
    chances = cut_k(heated(logits, temperature), top_k)
    if top_p is not None and temperature:
        chances = renormalised(chances.where(chances >= 1 - top_p, 0.0))
    return chances.to(logits.dtype)


@wrong_chances
def left_in_order(logits, temperature, top_k, top_p):
    """Sorted, cut, and not put back."""
    found = right_chances(logits, temperature, top_k, top_p)
    return found if top_k is None and top_p is None else found.sort(dim=-1, descending=True).values


@wrong_chances
def cut_in_place(logits, temperature, top_k, top_p):
    found = right_chances(logits, temperature, top_k, top_p)
    if top_k is not None or top_p is not None:
        logits[found == 0] = -torch.inf
    return found


@wrong_chances
def converted_to_float32(logits, temperature, top_k, top_p):
    return right_chances(logits.float(), temperature, top_k, top_p)
