"""Wrong merges of two parts of attention, each with the argument checks that the stub gives."""

import torch

from ._given import behind_given_checks

PARTIALS = "efficient.merge_partials"


class Merge:
    """The right answer in pieces that a subclass replaces."""

    def answer(self, first, second):
        maximum = self.maximum(first[0], second[0])
        return self.results(maximum, *self.sums(first, second, *self.factors(first[0], second[0], maximum)))

    def maximum(self, mine, other):
        return torch.maximum(mine, other)

    def factors(self, mine, other, maximum):
        shift = maximum.where(maximum != -torch.inf, 0.0)
        return torch.exp(mine - shift), torch.exp(other - shift)

    def sums(self, first, second, mine, other):
        total = first[1] * mine + second[1] * other
        return total, first[2] * mine[..., None] + second[2] * other[..., None]

    def results(self, maximum, total, summed):
        return maximum, total, summed


def wrong(kind, like=""):
    """Register a subclass."""

    @behind_given_checks(PARTIALS, kind.__name__, like)
    def function(first, second):
        return kind().answer(first, second)

    return kind


@wrong
class nothing_rescaled(Merge):
    def sums(self, first, second, mine, other):
        return first[1] + second[1], first[2] + second[2]


@wrong
class total_not_rescaled(Merge):
    def sums(self, first, second, mine, other):
        return first[1] + second[1], super().sums(first, second, mine, other)[1]


@wrong
class summed_not_rescaled(Merge):
    def sums(self, first, second, mine, other):
        return super().sums(first, second, mine, other)[0], first[2] + second[2]


@wrong
class rescaled_upside_down(Merge):
    def factors(self, mine, other, maximum):
        shift = maximum.where(maximum != -torch.inf, 0.0)
        mine, other = (x.where(x != -torch.inf, shift) for x in (mine, other))
        return torch.exp(shift - mine), torch.exp(shift - other)


@wrong
class factors_exchanged(Merge):
    def factors(self, mine, other, maximum):
        return super().factors(other, mine, maximum)


@wrong
class first_rescaled_only(Merge):
    def factors(self, mine, other, maximum):
        return super().factors(mine, other, maximum)[0], torch.ones_like(other)


@wrong
class second_rescaled_only(Merge):
    def factors(self, mine, other, maximum):
        return torch.ones_like(mine), super().factors(mine, other, maximum)[1]


@wrong
class first_maximum_kept(Merge):
    def maximum(self, mine, other):
        return mine


@wrong
class second_maximum_kept(Merge):
    def maximum(self, mine, other):
        return other


@wrong
class smaller_maximum_kept(Merge):
    def maximum(self, mine, other):
        return torch.minimum(mine, other)


@wrong
class no_maximum(Merge):
    """Everything is brought back to exp(score), and the larger maximum is returned beside it."""

    def factors(self, mine, other, maximum):
        return torch.exp(mine), torch.exp(other)


@wrong
class one_maximum_for_all_queries(Merge):
    def maximum(self, mine, other):
        return torch.maximum(mine, other).amax().expand(mine.shape)


@wrong
class powers_of_two(Merge):
    def factors(self, mine, other, maximum):
        shift = maximum.where(maximum != -torch.inf, 0.0)
        return torch.exp2(mine - shift), torch.exp2(other - shift)


@wrong
class minus_infinity_from_itself(Merge):
    def factors(self, mine, other, maximum):
        return torch.exp(mine - maximum), torch.exp(other - maximum)


@wrong
class nan_replaced_afterwards(Merge):
    def factors(self, mine, other, maximum):
        return torch.nan_to_num(torch.exp(mine - maximum)), torch.nan_to_num(torch.exp(other - maximum))


@wrong
class empty_part_counts_as_zero(Merge):
    def maximum(self, mine, other):
        return torch.maximum(mine.where(mine != -torch.inf, 0.0), other.where(other != -torch.inf, 0.0))


@wrong
class divided_on_the_way(Merge):
    def results(self, maximum, total, summed):
        return maximum, total, summed / total.where(total != 0, 1.0)[..., None]


@wrong
class outputs_averaged(Merge):
    """The two outputs are weighted by their totals, as if both had been taken against one maximum."""

    def sums(self, first, second, mine, other):
        total = first[1] * mine + second[1] * other
        outputs = [part[2] / part[1].where(part[1] != 0, 1.0)[..., None] for part in (first, second)]
        return total, (outputs[0] + outputs[1]) / 2 * total[..., None]


@wrong
class output_alone(Merge):
    def results(self, maximum, total, summed):
        return summed / total.where(total != 0, 1.0)[..., None]


@wrong
class total_and_summed_exchanged(Merge):
    def results(self, maximum, total, summed):
        return maximum, summed, total


@wrong
class converted_to_float32(Merge):
    def results(self, maximum, total, summed):
        return maximum.float(), total.float(), summed.float()


@wrong
class first_overwritten(Merge):
    def answer(self, first, second):
        merged = super().answer(first, second)
        with torch.no_grad():
            for mine, new in zip(first, merged, strict=True):
                mine.copy_(new)
        return merged
