"""Wrong ways to take a softmax in one pass that go wrong in an axis, a part or a dtype."""

import functools

import torch

from ._efficient_online import SOFTMAX, Online, by_hand, finite, given, misconception, wrong


@wrong
class fully_masked_slice_uniform(Online):
    def joined(self, parts, total, last):
        weights = super().joined(parts, total, last)
        return weights.where(total != 0, 1 / weights.shape[-1])


@wrong
class powers_of_two(Online):
    def answer(self, chunks):
        scores = torch.cat(list(chunks), dim=-1)
        powers = torch.exp2(scores - finite(scores.amax(dim=-1, keepdim=True).detach()))
        total = powers.sum(dim=-1, keepdim=True)
        return powers / total.where(total != 0, 1.0)


class InOrder(Online):
    """The running sum in pieces of another kind: what a chunk adds, and to what."""

    def answer(self, chunks):
        shift = total = None
        parts = []
        for chunk in chunks:
            new = self.shift(shift, chunk)
            part = torch.exp(chunk - finite(new))
            shrink = 1.0 if shift is None else torch.exp(shift - finite(new))
            total = self.summed(total, self.added(part), shrink)
            shift = new
            parts.append((part, new))
        return self.joined(parts, total, finite(shift))

    def added(self, part):
        return part.sum(dim=-1, keepdim=True)

    def summed(self, total, added, shrink):
        return added if total is None else total * shrink + added


@wrong
class means_for_sums(InOrder):
    def added(self, part):
        return part.mean(dim=-1, keepdim=True)


@wrong
class sum_of_the_last_chunk(InOrder):
    def summed(self, total, added, shrink):
        return added


@wrong
class sum_without_the_first_chunk(InOrder):
    def summed(self, total, added, shrink):
        return torch.zeros_like(added) if total is None else super().summed(total, added, shrink)


@wrong
class new_chunk_rescaled(InOrder):
    def summed(self, total, added, shrink):
        return added if total is None else (total + added) * shrink


@wrong
class parts_rescaled_upside_down(Online):
    def joined(self, parts, total, last):
        total = total.where(total != 0, 1.0)
        return torch.cat([part * torch.exp(last - finite(shift)) / total for part, shift in parts], dim=-1)


@wrong
class smallest_largest_kept(Online):
    def shift(self, largest, chunk):
        highest = self.highest(chunk).detach()
        return highest if largest is None else torch.minimum(largest, highest)


@wrong
class chunks_in_reverse(Online):
    def joined(self, parts, total, last):
        return super().joined(parts[::-1], total, last)


@wrong
class last_chunk_alone(Online):
    def joined(self, parts, total, last):
        return super().joined(parts[-1:], total, last)


@wrong
class parts_not_joined(Online):
    def joined(self, parts, total, last):
        total = total.where(total != 0, 1.0)
        return [part * torch.exp(shift - last) / total for part, shift in parts]


@wrong
class parts_detached(Online):
    def kept(self, part, shift, total):
        return part.detach(), shift


@wrong
class widened_to_float64(Online):
    def answer(self, chunks):
        return super().answer(chunk.double() for chunk in chunks)


@wrong
class everything_along_axis_one(Online):
    def answer(self, chunks):
        largest = total = None
        parts = []
        for chunk in chunks:
            highest = chunk.detach().amax(dim=1, keepdim=True)
            new = highest if largest is None else torch.maximum(largest, highest)
            part = torch.exp(chunk - finite(new))
            added = part.sum(dim=1, keepdim=True)
            total = added if total is None else total * torch.exp(largest - finite(new)) + added
            largest = new
            parts.append((part, new))
        total = total.where(total != 0, 1.0)
        return torch.cat([part * torch.exp(shift - finite(largest)) / total for part, shift in parts], dim=1)


@wrong
class one_sum_for_all_slices(Online):
    def joined(self, parts, total, last):
        powers = torch.cat([part * torch.exp(shift - last) for part, shift in parts], dim=-1)
        return powers / powers.sum().clamp(min=1e-30)


@misconception(SOFTMAX)
def axis_lost(chunks):
    """The largest score without keepdim."""
    largest = total = None
    parts = []
    for chunk in given.checked_chunks(chunks):
        highest = chunk.amax(dim=-1)
        new = highest if largest is None else torch.maximum(largest, highest)
        part = torch.exp(chunk - finite(new))
        added = part.sum(dim=-1)
        total = added if total is None else total * torch.exp(largest - finite(new)) + added
        largest = new
        parts.append((part, new))
    return torch.cat([part * torch.exp(shift - finite(largest)) / total for part, shift in parts], dim=-1)


@wrong
class natural_logarithm_returned(Online):
    def answer(self, chunks):
        return by_hand(torch.cat(list(chunks), dim=-1)).log()


@wrong
class difference_for_the_factor(Online):
    def carried(self, total, old, new):
        return total * (finite(old) - new)


@wrong
class last_exponentials_for_every_chunk(Online):
    def joined(self, parts, total, last):
        return super().joined(parts[-1:] * len(parts), total, last)


@wrong
class own_largest_remembered(Online):
    """Exponentials against the larger of the two, and then the chunk's own is kept for the next one."""

    def answer(self, chunks):
        largest = total = None
        held = []
        for chunk in chunks:
            highest = self.highest(chunk).detach()
            new = finite(highest if largest is None else torch.maximum(largest, highest))
            added = torch.exp(chunk - new).sum(dim=-1, keepdim=True)
            total = added if total is None else total * torch.exp(largest - new) + added
            largest = highest
            held.append(chunk)
        total = total.where(total != 0, 1.0)
        return torch.cat([torch.exp(chunk - finite(largest)) / total for chunk in held], dim=-1)


@wrong
class hidden_chunk_skipped(Online):
    """A chunk that is -inf throughout is passed over, and its weights are missing."""

    def answer(self, chunks):
        return super().answer([chunk for chunk in chunks if (chunk != -torch.inf).any()])


@functools.partial(wrong, like="largest_of_the_chunk_alone")
class zero_for_a_hidden_chunk(Online):
    def shift(self, largest, chunk):
        return finite(self.highest(chunk).detach())
