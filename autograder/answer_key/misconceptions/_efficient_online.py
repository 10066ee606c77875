"""Wrong ways to take a softmax in one pass."""

import functools

import torch

from ..reference_package import reference, reference_module
from . import misconception

SOFTMAX = "efficient.online_softmax"
right = reference(SOFTMAX)
given = reference_module("_arguments")


def finite(largest):
    return largest.where(largest != -torch.inf, 0.0)


class Online:
    """The right answer in pieces that a subclass replaces."""

    def answer(self, chunks):
        shift = total = None
        parts = []
        for chunk in chunks:
            new = self.shift(shift, chunk)
            part = torch.exp(chunk - finite(new))
            added = part.sum(dim=-1, keepdim=True)
            total = added if total is None else self.carried(total, shift, finite(new)) + added
            shift = new
            parts.append(self.kept(part, new, total))
        return self.joined(parts, total, finite(shift))

    def shift(self, largest, chunk):
        highest = self.highest(chunk).detach()
        return highest if largest is None else torch.maximum(largest, highest)

    def highest(self, chunk):
        return chunk.amax(dim=-1, keepdim=True)

    def carried(self, total, old, new):
        return total * torch.exp(old - new)

    def kept(self, part, shift, total):
        return part, shift

    def joined(self, parts, total, last):
        total = total.where(total != 0, 1.0)
        return torch.cat([part * torch.exp(shift - last) / total for part, shift in parts], dim=-1)


def wrong(kind, like=""):
    """Register a subclass, behind the checks that the stub gives: the chunks are looked at as they come."""

    @functools.wraps(kind, updated=())
    def function(chunks):
        held = list(chunks)
        with torch.no_grad():
            right(held)
        return kind().answer(given.checked_chunks(iter(held)))

    misconception(SOFTMAX, like)(function)
    return kind


@wrong
class not_divided(Online):
    def joined(self, parts, total, last):
        return torch.cat([part * torch.exp(shift - last) for part, shift in parts], dim=-1)


@wrong
class sum_not_rescaled(Online):
    def carried(self, total, old, new):
        return total


@wrong
class parts_not_rescaled(Online):
    def joined(self, parts, total, last):
        return torch.cat([part / total.where(total != 0, 1.0) for part, _ in parts], dim=-1)


@wrong
class nothing_rescaled(parts_not_rescaled, sum_not_rescaled):
    pass


@wrong
class sum_rescaled_upside_down(Online):
    def carried(self, total, old, new):
        return total * torch.exp(new - finite(old))


@wrong
class first_largest_kept(Online):
    def shift(self, largest, chunk):
        return self.highest(chunk).detach() if largest is None else largest


@wrong
class no_largest(Online):
    def highest(self, chunk):
        return torch.zeros_like(chunk[..., :1])


@wrong
class largest_starts_at_zero(Online):
    def shift(self, largest, chunk):
        return super().shift(torch.zeros_like(chunk[..., :1]) if largest is None else largest, chunk)


@wrong
class largest_of_all_slices(Online):
    def highest(self, chunk):
        return chunk.max().expand(*chunk.shape[:-1], 1)


@wrong
class largest_of_all_slices_alone(largest_of_all_slices):
    def joined(self, parts, total, last):
        return torch.cat([part * torch.exp(shift - last) / total for part, shift in parts], dim=-1)


@wrong
class no_largest_alone(no_largest, largest_of_all_slices_alone):
    pass


@wrong
class largest_of_the_chunk_alone(Online):
    def shift(self, largest, chunk):
        return self.highest(chunk).detach()


@wrong
class largest_of_the_chunk_not_rescaled(largest_of_the_chunk_alone, nothing_rescaled):
    pass


@wrong
class one_chunk_rescaled(Online):
    def joined(self, parts, total, last):
        shifts = [shift for _, shift in parts]
        total = total.where(total != 0, 1.0)
        after = [*map(finite, shifts[1:]), last]
        moved = [part * torch.exp(old - new) for (part, old), new in zip(parts, after, strict=True)]
        return torch.cat(moved, dim=-1) / total


@wrong
class divided_on_the_way(Online):
    def kept(self, part, shift, total):
        return part / total.where(total != 0, 1.0)

    def joined(self, parts, total, last):
        return torch.cat(parts, dim=-1)


def by_hand(scores):
    powers = torch.exp(scores - finite(scores.amax(dim=-1, keepdim=True)))
    total = powers.sum(dim=-1, keepdim=True)
    return powers / total.where(total != 0, 1.0)


@wrong
class softmax_per_chunk(Online):
    def answer(self, chunks):
        return torch.cat([by_hand(chunk) for chunk in chunks], dim=-1)


@wrong
class softmax_per_chunk_shared_out(Online):
    def answer(self, chunks):
        parts = [by_hand(chunk) for chunk in chunks]
        return torch.cat(parts, dim=-1) / len(parts)


@wrong
class walked_twice(Online):
    def answer(self, chunks):
        largest = functools.reduce(torch.maximum, (self.highest(chunk) for chunk in chunks))
        return by_hand(torch.cat([chunk - finite(largest) for chunk in chunks], dim=-1))


@wrong
class joined_along_the_first_axis(Online):
    def joined(self, parts, total, last):
        total = total.where(total != 0, 1.0)
        return torch.cat([part * torch.exp(shift - last) / total for part, shift in parts])


@wrong
class minus_infinity_from_itself(Online):
    def answer(self, chunks):
        largest = total = None
        parts = []
        for chunk in chunks:
            highest = chunk.amax(dim=-1, keepdim=True)
            if largest is None:
                largest, total = torch.full_like(highest, -torch.inf), torch.zeros_like(highest)
            new = torch.maximum(largest, highest)
            part = torch.exp(chunk - new)
            total = total * torch.exp(largest - new) + part.sum(dim=-1, keepdim=True)
            largest = new
            parts.append((part, new))
        return torch.cat([part * torch.exp(shift - largest) / total for part, shift in parts], dim=-1)


@wrong
class nan_replaced_afterwards(minus_infinity_from_itself):
    def answer(self, chunks):
        return torch.nan_to_num(super().answer(chunks))


@wrong
class zero_divided_by_zero(Online):
    def joined(self, parts, total, last):
        return torch.cat([part * torch.exp(shift - last) / total for part, shift in parts], dim=-1)


@wrong
class gradient_cut(Online):
    @torch.no_grad()
    def answer(self, chunks):
        return super().answer(chunks)


@wrong
class sum_detached(Online):
    def joined(self, parts, total, last):
        return super().joined(parts, total.detach(), last)


@wrong
class converted_to_float32(Online):
    def answer(self, chunks):
        return super().answer(chunk.float() for chunk in chunks)


@wrong
class chunks_overwritten(Online):
    def answer(self, chunks):
        held, largest = [], None
        for chunk in chunks:
            new = self.shift(largest, chunk)
            chunk -= finite(new)
            held.append((chunk, finite(new)))
            largest = new
        return by_hand(torch.cat([chunk + shift - finite(largest) for chunk, shift in held], dim=-1))
