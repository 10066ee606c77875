"""Wrong merges of two parts of attention: an axis, a part without a key, a dtype or a gradient is lost."""

import functools

import torch

from ._efficient_partials import PARTIALS, Merge, wrong
from ._given import behind_given_checks


@wrong
class no_axis_for_the_features(Merge):
    def sums(self, first, second, mine, other):
        return first[1] * mine + second[1] * other, first[2] * mine + second[2] * other


@wrong
class axis_one_for_the_features(Merge):
    def sums(self, first, second, mine, other):
        total = first[1] * mine + second[1] * other
        return total, first[2] * mine.unsqueeze(1) + second[2] * other.unsqueeze(1)


@wrong
class nothing_counted_from_zero(Merge):
    """Maxima below 0 are taken for 0 when they are subtracted."""

    def factors(self, mine, other, maximum):
        shift = maximum.clamp(min=0.0)
        return torch.exp(mine - shift), torch.exp(other - shift)


@wrong
class zero_maximum_of_nothing(Merge):
    def results(self, maximum, total, summed):
        return maximum.where(maximum != -torch.inf, 0.0), total, summed


@wrong
class one_total_of_nothing(Merge):
    def results(self, maximum, total, summed):
        return maximum, total.where(total != 0, 1.0), summed


@wrong
class whole_part_returned(Merge):
    """Where any query of a part has no key, the other part is returned for all."""

    def answer(self, first, second):
        if (first[0] == -torch.inf).any():
            return second
        if (second[0] == -torch.inf).any():
            return first
        return super().answer(first, second)


@wrong
class one_comparison_for_all_queries(Merge):
    def factors(self, mine, other, maximum):
        factors = super().factors(mine, other, maximum)
        if (mine >= other).all():
            return torch.ones_like(mine), factors[1]
        if (other >= mine).all():
            return factors[0], torch.ones_like(other)
        return torch.ones_like(mine), torch.ones_like(other)


@wrong
class measured_against_each_other(Merge):
    def factors(self, mine, other, maximum):
        return torch.exp(mine - other), torch.exp(other - mine)


@wrong
class maxima_added(Merge):
    def maximum(self, mine, other):
        return mine + other


@wrong
class larger_part_kept(Merge):
    """The part with the larger maximum, and nothing of the other."""

    def factors(self, mine, other, maximum):
        return (mine >= other).to(mine.dtype), (other > mine).to(mine.dtype)


@wrong
class summed_with_the_other_factor(Merge):
    def sums(self, first, second, mine, other):
        total = super().sums(first, second, mine, other)[0]
        return total, super().sums(first, second, other, mine)[1]


@wrong
class summed_weighted_by_total(Merge):
    def sums(self, first, second, mine, other):
        total, _ = super().sums(first, second, mine, other)
        return total, super().sums(first, second, mine * first[1], other * second[1])[1]


@wrong
class sums_halved(Merge):
    def results(self, maximum, total, summed):
        return maximum, total / 2, summed / 2


@wrong
class total_left_at_one(Merge):
    def results(self, maximum, total, summed):
        safe = total.where(total != 0, 1.0)
        return maximum, torch.ones_like(total), summed / safe[..., None]


@wrong
class divided_by_zero_on_the_way(Merge):
    def results(self, maximum, total, summed):
        return maximum, total, summed / total[..., None]


@wrong
class equal_maxima_lost(Merge):
    """Larger and smaller are thought of, equal is not."""

    def maximum(self, mine, other):
        return torch.where(mine > other, mine, torch.where(other > mine, other, 0.0))


@wrong
class nan_of_the_sums_replaced(Merge):
    def factors(self, mine, other, maximum):
        return torch.exp(mine - maximum), torch.exp(other - maximum)

    def results(self, maximum, total, summed):
        return maximum, torch.nan_to_num(total), torch.nan_to_num(summed)


@wrong
class gradient_cut(Merge):
    @torch.no_grad()
    def answer(self, first, second):
        return super().answer(first, second)


@wrong
class total_detached(Merge):
    def results(self, maximum, total, summed):
        return maximum, total.detach(), summed


@wrong
class widened_to_float64(Merge):
    def results(self, maximum, total, summed):
        return maximum.double(), total.double(), summed.double()


@wrong
class first_scaled_in_place(Merge):
    def sums(self, first, second, mine, other):
        total, summed = first[1], first[2]
        total *= mine
        summed *= mine[..., None]
        return total + second[1] * other, summed + second[2] * other[..., None]


@wrong
class joined_in_one_tensor(Merge):
    def results(self, maximum, total, summed):
        return torch.cat([maximum[..., None], total[..., None], summed], dim=-1)


@wrong
class logarithm_of_the_sum_returned(Merge):
    def results(self, maximum, total, summed):
        return maximum + torch.log(total), total, summed


@wrong
class difference_for_the_factor(Merge):
    def factors(self, mine, other, maximum):
        shift = maximum.where(maximum != -torch.inf, 0.0)
        return mine - shift, other - shift


@behind_given_checks(PARTIALS, like="one_maximum_for_all_queries")
def returned_as_one_number(first, second):
    maximum = torch.cat([first[0].flatten(), second[0].flatten()]).max() if first[0].numel() else first[0].sum()
    mine, other = Merge().factors(first[0], second[0], maximum)
    return maximum, *Merge().sums(first, second, mine, other)


@wrong
class log_sum_for_the_maximum(Merge):
    def answer(self, first, second):
        log_sums = (maximum + torch.log(total) for maximum, total, _ in (first, second))
        reference = torch.logaddexp(*log_sums)
        return self.results(reference, *self.sums(first, second, *self.factors(first[0], second[0], reference)))


@wrong
class smallest_number_of_nothing(Merge):
    def maximum(self, mine, other):
        return super().maximum(mine, other).clamp(min=torch.finfo(mine.dtype).min)


@functools.partial(wrong, like="smallest_number_of_nothing")
class round_number_of_nothing(Merge):
    def maximum(self, mine, other):
        return super().maximum(mine, other).clamp(min=-1e30)


@functools.partial(wrong, like="smallest_number_of_nothing")
class minus_1e9_of_nothing(Merge):
    def maximum(self, mine, other):
        return super().maximum(mine, other).clamp(min=-1e9)


@wrong
class factors_of_a_softmax(Merge):
    """The two factors sum to 1, so that neither is 1."""

    def factors(self, mine, other, maximum):
        return tuple(torch.nan_to_num(torch.stack([mine, other]).softmax(dim=0)))


@wrong
class logarithm_of_the_sum_for_the_total(Merge):
    def sums(self, first, second, mine, other):
        return torch.logaddexp(first[0], second[0]), super().sums(first, second, mine, other)[1]


@functools.partial(wrong, like="log_sum_for_the_maximum")
class where_there_is_a_key(Merge):
    """A part without a key stays what it is, without NaN."""

    def results(self, maximum, total, summed):
        some = total.where(total > 0, 1.0)
        return maximum + some.log(), total / some, summed / some[..., None]


@functools.partial(wrong, like="first_maximum_kept")
class unless_the_first_has_no_key(Merge):
    def maximum(self, mine, other):
        return mine.where(mine != -torch.inf, other)
