"""Wrong probabilities of the next token: a temperature, a cut or the form of the result is another."""

import torch

from ._decoder_chances import as_asked, cut_k, cut_p, heated, kept, renormalised, right_chances, wide, wrong_chances


@wrong_chances
def root_of_temperature(logits, temperature, top_k, top_p):
    return right_chances(logits, temperature**0.5, top_k, top_p)


@wrong_chances
def temperature_squared(logits, temperature, top_k, top_p):
    return right_chances(logits, temperature**2, top_k, top_p)


@wrong_chances
def small_temperature_raised(logits, temperature, top_k, top_p):
    """Temperatures below 0.1 are taken for 0.1, but for 0."""
    return right_chances(logits, temperature and max(temperature, 0.1), top_k, top_p)


@wrong_chances
def ties_share_at_temperature_zero(logits, temperature, top_k, top_p):
    """All weight is shared among the largest: a nearly zero temperature does the same."""
    if temperature != 0:
        return right_chances(logits, temperature, top_k, top_p)
    largest = logits == logits.amax(dim=-1, keepdim=True)
    return cut_p(cut_k(renormalised(largest.to(wide(logits).dtype)), top_k), top_p).to(logits.dtype)


@wrong_chances
def smallest_at_temperature_zero(logits, temperature, top_k, top_p):
    return right_chances(-logits if temperature == 0 else logits, temperature, top_k, top_p)


@wrong_chances
def logits_at_temperature_zero(logits, temperature, top_k, top_p):
    return logits if temperature == 0 else right_chances(logits, temperature, top_k, top_p)


@wrong_chances
def one_hot_of_integers(logits, temperature, top_k, top_p):
    found = right_chances(logits, temperature, top_k, top_p)
    return found.long() if temperature == 0 else found


@wrong_chances
def one_fewer_kept(logits, temperature, top_k, top_p):
    if top_k is None or temperature == 0:
        return right_chances(logits, temperature, top_k, top_p)
    chances = heated(logits, temperature)
    ranks = torch.arange(chances.shape[-1]) < min(top_k, chances.shape[-1] + 1) - 1
    return cut_p(kept(chances, ranks), top_p).to(logits.dtype)


@wrong_chances
def one_more_kept(logits, temperature, top_k, top_p):
    return right_chances(logits, temperature, top_k and top_k + 1, top_p)


@wrong_chances
def places_taken_for_ranks(logits, temperature, top_k, top_p):
    """argsort gives the place of the n-th largest, not the rank of the n-th entry."""
    if top_k is None or temperature == 0:
        return right_chances(logits, temperature, top_k, top_p)
    chances = heated(logits, temperature)
    places = chances.argsort(dim=-1, descending=True)
    return cut_p(renormalised(chances.where(places < top_k, 0.0)), top_p).to(logits.dtype)


@wrong_chances
def top_k_not_renormalised(logits, temperature, top_k, top_p):
    if top_p is not None:
        return right_chances(logits, temperature, top_k, top_p)
    return cut_k(heated(logits, temperature), top_k, whole=False).to(logits.dtype)


@wrong_chances
def top_p_not_renormalised(logits, temperature, top_k, top_p):
    chances = cut_k(heated(logits, temperature), top_k)
    return cut_p(chances, top_p, whole=False).to(logits.dtype)


def kept_by_sum(chances, keeps):
    """The chances that are kept by the running sum of the ordered ones, and by the sum before each."""
    ordered = chances.sort(dim=-1, descending=True).values
    total = ordered.cumsum(dim=-1)
    return kept(chances, keeps(total, total - ordered))


@wrong_chances
def token_after_the_sum_is_reached(logits, temperature, top_k, top_p):
    """Where the sum is exactly top_p one more is kept."""
    chances = cut_k(heated(logits, temperature), top_k)
    if top_p is None or top_p == 1 or temperature == 0:
        return right_chances(logits, temperature, top_k, top_p)
    return kept_by_sum(chances, lambda total, before: before <= top_p).to(logits.dtype)


@wrong_chances
def share_that_is_cut(logits, temperature, top_k, top_p):
    """top_p taken for the share that is cut away."""
    if top_p is None or top_p == 1 or temperature == 0:
        return right_chances(logits, temperature, top_k, top_p)
    chances = cut_k(heated(logits, temperature), top_k)
    return kept_by_sum(chances, lambda total, before: before < 1 - top_p).to(logits.dtype)


@wrong_chances
def sum_in_the_order_of_ids(logits, temperature, top_k, top_p):
    if top_p is None or top_p == 1 or temperature == 0:
        return right_chances(logits, temperature, top_k, top_p)
    chances = cut_k(heated(logits, temperature), top_k)
    before = chances.cumsum(dim=-1) - chances
    return renormalised(chances.where(before < top_p, 0.0)).to(logits.dtype)


@wrong_chances
def order_of_the_first_row(logits, temperature, top_k, top_p):
    if top_p is None or top_p == 1 or temperature == 0 or logits.dim() < 2:
        return right_chances(logits, temperature, top_k, top_p)
    chances = cut_k(heated(logits, temperature), top_k)
    ordered, places = chances.sort(dim=-1, descending=True)
    cut = ordered.where(ordered.cumsum(dim=-1) - ordered < top_p, 0.0)
    back = torch.zeros_like(chances).scatter(-1, places[:1].expand_as(places), cut)
    return renormalised(back).to(logits.dtype)


@wrong_chances
def gathered_for_scattered(logits, temperature, top_k, top_p):
    """The way back to the ids: gather with the places goes on instead."""
    if (top_k is None and (top_p is None or top_p == 1)) or temperature == 0:
        return right_chances(logits, temperature, top_k, top_p)
    ordered, places = heated(logits, temperature).sort(dim=-1, descending=True)
    return cut_p(cut_k(ordered, top_k), top_p).gather(-1, places).to(logits.dtype)


@wrong_chances
def top_p_only_without_top_k(logits, temperature, top_k, top_p):
    return right_chances(logits, temperature, top_k, top_p if top_k is None else None)


@wrong_chances
def logarithms_returned(logits, temperature, top_k, top_p):
    return right_chances(logits, temperature, top_k, top_p).log()


@wrong_chances
def widened_to_float64(logits, temperature, top_k, top_p):
    return right_chances(logits.double(), temperature, top_k, top_p)


@wrong_chances
def axes_of_one_lost(logits, temperature, top_k, top_p):
    return right_chances(logits, temperature, top_k, top_p).squeeze()


@wrong_chances
def divided_in_place(logits, temperature, top_k, top_p):
    if temperature == 0:
        return right_chances(logits, temperature, top_k, top_p)
    logits /= temperature
    return as_asked(heated(logits, 1.0), top_k, top_p, logits)


def overwritten_by_top_k(logits, temperature, top_k, top_p):
    """Where a temperature of 1 leaves the logits as they came, without a copy."""
    if temperature == 1 and top_k is not None:
        logits.scatter_(-1, logits.argsort(dim=-1, descending=True)[..., top_k:], -torch.inf)
    return right_chances(logits, temperature, top_k, top_p)


def sorted_always(logits, temperature, top_k, top_p):
    """Also where nothing is cut."""
    if temperature == 0:
        return right_chances(logits, temperature, top_k, top_p)
    ordered, places = heated(logits, temperature).sort(dim=-1, descending=True)
    return cut_p(cut_k(ordered, top_k), top_p).gather(-1, places).to(logits.dtype)


def as_soon_as_it_is_reached(logits, temperature, top_k, top_p):
    chances = cut_k(heated(logits, temperature), top_k)
    if top_p is not None and temperature:
        ordered = chances.sort(dim=-1, descending=True).values
        chances = kept(chances, ordered.cumsum(dim=-1) < top_p - 1e-6)  # a sum of all may be 1 but for rounding
    return chances.to(logits.dtype)


wrong_chances(sorted_always, like="gathered_for_scattered")
wrong_chances(as_soon_as_it_is_reached, like="crossing_token_dropped")


@wrong_chances
def softmax_of_what_is_left(logits, temperature, top_k, top_p):
    """A second softmax makes the sum 1 again."""
    if top_k is None or temperature == 0:
        return right_chances(logits, temperature, top_k, top_p)
    left = kept(heated(logits, temperature), torch.arange(logits.shape[-1]) < top_k, whole=False)
    return cut_p(torch.softmax(left, dim=-1), top_p).to(logits.dtype)


@wrong_chances
def largest_cut(logits, temperature, top_k, top_p):
    """ordered[..., :top_k] = 0."""
    if top_k is None or temperature == 0:
        return right_chances(logits, temperature, top_k, top_p)
    ranks = torch.arange(logits.shape[-1]) >= top_k
    return cut_p(kept(heated(logits, temperature), ranks), top_p).to(logits.dtype)


def nothing_where_none_is_left(logits, temperature, top_k, top_p):
    """Zeros, not NaN, where the first alone is above top_p."""
    chances = cut_k(heated(logits, temperature), top_k)
    if top_p is not None and top_p < 1 and temperature:
        ordered = chances.sort(dim=-1, descending=True).values
        chances = kept(chances, ordered.cumsum(dim=-1) <= top_p, whole=False)
        chances = chances / chances.sum(dim=-1, keepdim=True).clamp(min=1e-9)
    return chances.to(logits.dtype)


def of_top_p_alone(logits, temperature, top_k, top_p):
    if top_p is None or top_p == 1 or temperature == 0:
        return right_chances(logits, temperature, top_k, top_p)
    ordered, places = cut_k(heated(logits, temperature), top_k).sort(dim=-1, descending=True)
    return cut_p(ordered, top_p).gather(-1, places).to(logits.dtype)


def of_top_k_alone(logits, temperature, top_k, top_p):
    if top_k is None or temperature == 0:
        return right_chances(logits, temperature, top_k, top_p)
    ordered, places = heated(logits, temperature).sort(dim=-1, descending=True)
    return cut_p(cut_k(ordered, top_k).gather(-1, places), top_p).to(logits.dtype)


wrong_chances(nothing_where_none_is_left, like="crossing_token_dropped")
wrong_chances(of_top_p_alone, like="gathered_for_scattered")
wrong_chances(of_top_k_alone, like="gathered_for_scattered")


def cut_below(logits, temperature, top_k, top_p, least):
    """All are kept that are not below `least` of the chances."""
    if top_p is None or top_p == 1 or temperature == 0:
        return right_chances(logits, temperature, top_k, top_p)
    chances = cut_k(heated(logits, temperature), top_k)
    return renormalised(chances.where(chances >= least(chances), 0.0)).to(logits.dtype)


@wrong_chances
def compared_with_the_largest(logits, temperature, top_k, top_p):
    """min-p: what has top_p of the largest probability is kept."""
    return cut_below(logits, temperature, top_k, top_p, lambda chances: top_p * chances.amax(dim=-1, keepdim=True))


@wrong_chances
def ties_kept_by_top_p(logits, temperature, top_k, top_p):
    """All that are as probable as the one that reaches top_p."""

    def least(chances):
        ordered = chances.sort(dim=-1, descending=True).values
        return ordered.where(ordered.cumsum(dim=-1) - ordered < top_p, 2.0).amin(dim=-1, keepdim=True)

    return cut_below(logits, temperature, top_k, top_p, least)


wrong_chances(overwritten_by_top_k, like="cut_in_place")
