"""Wrong blockwise attention whose scale, blocks or masks are another's."""

import functools
import math

import torch

from ._efficient_blockwise import Blockwise, finite, wrong


@wrong
class multiplied_by_root(Blockwise):
    def scale(self, query, value):
        return math.sqrt(query.shape[-1])


class Sized(Blockwise):
    """Knows the block size when the scale is made."""

    def answer(self, query, key, value, block_size, is_causal, attn_mask):
        self.block_size = block_size
        return super().answer(query, key, value, block_size, is_causal, attn_mask)


@wrong
class root_of_block_size(Sized):
    def scale(self, query, value):
        return 1 / math.sqrt(self.block_size)


@wrong
class root_of_key_count(Blockwise):
    def scale(self, query, value):
        return 1 / math.sqrt(self.keys)


@wrong
class blocks_counted_by_queries(Blockwise):
    def end(self, block_size):
        return min(self.length, self.keys)  # beyond the keys there is nothing


@wrong
class first_block_left_out(Sized):
    def step(self, largest, total, summed, scores, values):
        first, self.block_size = self.block_size is not None, None
        return (largest, total, summed) if first else super().step(largest, total, summed, scores, values)


@wrong
class values_of_the_first_block(Blockwise):
    first = None

    def step(self, largest, total, summed, scores, values):
        self.first = values if self.first is None else self.first
        return super().step(largest, total, summed, scores, self.first[..., : scores.shape[-1], :])


@wrong
class not_divided(Blockwise):
    def finish(self, largest, total, summed):
        return summed


@wrong
class mean_for_sum(Blockwise):
    def step(self, largest, total, summed, scores, values):
        new, old = self.largest(largest, scores), total
        state = super().step(largest, total, summed, scores, values)
        added = torch.exp(scores - finite(new)).mean(dim=-1, keepdim=True)
        return new, old * torch.exp(largest - finite(new)) + added, state[2]


@wrong
class powers_of_two(Blockwise):
    def step(self, largest, total, summed, scores, values):
        new = self.largest(largest, scores)
        weights, shrink = torch.exp2(scores - finite(new)), torch.exp2(largest - finite(new))
        return new, total * shrink + weights.sum(dim=-1, keepdim=True), summed * shrink + weights @ values


@wrong
class largest_of_all_queries(Blockwise):
    def largest(self, largest, scores):
        return torch.maximum(largest, scores.max().detach())


@wrong
class value_detached(Blockwise):
    def step(self, largest, total, summed, scores, values):
        return super().step(largest, total, summed, scores, values.detach())


@wrong
class next_position_seen(Blockwise):
    def causal(self, start, stop, mask):
        rows = torch.arange(self.length)[:, None] + self.keys - self.length
        return torch.arange(start, stop) <= rows + 1


@wrong
class past_hidden(Blockwise):
    def causal(self, start, stop, mask):
        return torch.arange(start, stop) >= torch.arange(self.length)[:, None] + self.keys - self.length


@wrong
class offset_never_negative(Blockwise):
    def causal(self, start, stop, mask):
        rows = torch.arange(self.length)[:, None] + max(0, self.keys - self.length)
        return torch.arange(start, stop) <= rows


@wrong
class causal_in_first_block_only(Blockwise):
    def causal(self, start, stop, mask):
        return super().causal(start, stop, mask) if start == 0 else torch.tensor(True)


class Both(Blockwise):
    """Knows of is_causal where it masks."""

    def answer(self, query, key, value, block_size, is_causal, attn_mask):
        self.is_causal = is_causal
        return super().answer(query, key, value, block_size, is_causal, attn_mask)


@wrong
class is_causal_instead_of_mask(Both):
    def masked(self, mask, start, stop):
        return torch.tensor(True) if self.is_causal else mask[..., start:stop]


@wrong
class either_allows(Both):
    def causal(self, start, stop, mask):
        seen = super().causal(start, stop, mask)
        return seen if mask is None else seen | mask[..., start:stop]

    def masked(self, mask, start, stop):
        return torch.tensor(True) if self.is_causal else mask[..., start:stop]


@wrong
class mask_of_the_first_example(Blockwise):
    def masked(self, mask, start, stop):
        return mask[(0,) * (mask.dim() - 2)][..., start:stop]


class Cut(Blockwise):
    """Does with the scores of a block what a subclass says, by the block's part of the mask."""

    def answer(self, *arguments):
        self.part = None
        return super().answer(*arguments)

    def masked(self, mask, start, stop):
        self.part = mask[..., start:stop]
        return torch.tensor(True)


@wrong
class mask_added(Cut):
    def step(self, largest, total, summed, scores, values):
        scores = scores if self.part is None else scores + self.part
        return super().step(largest, total, summed, scores, values)


@wrong
class scores_multiplied_by_mask(Cut):
    def step(self, largest, total, summed, scores, values):
        scores = scores if self.part is None else scores * self.part
        return super().step(largest, total, summed, scores, values)


@wrong
class masked_after_the_sum(Cut):
    def step(self, largest, total, summed, scores, values):
        new = self.largest(largest, scores)
        weights, shrink = torch.exp(scores - finite(new)), torch.exp(largest - finite(new))
        kept = weights if self.part is None else weights * self.part
        return new, total * shrink + weights.sum(dim=-1, keepdim=True), summed * shrink + kept @ values


@wrong
class masked_after_the_exponential(Cut):
    def step(self, largest, total, summed, scores, values):
        new = self.largest(largest, scores)
        weights, shrink = torch.exp(scores - finite(new)), torch.exp(largest - finite(new))
        weights = weights if self.part is None else weights * self.part
        return new, total * shrink + weights.sum(dim=-1, keepdim=True), summed * shrink + weights @ values


@wrong
class last_key_of_each_block_left_out(Sized):
    def step(self, largest, total, summed, scores, values):
        held = max(self.block_size - 1, 1)
        return super().step(largest, total, summed, scores[..., :held], values[..., :held, :])


@wrong
class blocks_counted_by_queries_where_causal(Both):
    def end(self, block_size):
        return self.length if self.is_causal else self.keys

    def causal(self, start, stop, mask):
        return super().causal(min(start, stop), stop, mask)


@wrong
class leading_axes_of_the_query_alone(Blockwise):
    def begin(self, query, key, value):
        return super().begin(query, key[(0,) * (key.dim() - 2)], value[(0,) * (value.dim() - 2)])

    def step(self, largest, total, summed, scores, values):
        new = self.largest(largest, scores)
        weights, shrink = torch.exp(scores - finite(new)), torch.exp(largest - finite(new))
        total.mul_(shrink).add_(weights.sum(dim=-1, keepdim=True))
        summed.mul_(shrink).add_(weights @ values)
        return new, total, summed


@functools.partial(wrong, like="blocks_counted_by_queries_where_causal")
class no_further_than_the_keys(Both):
    def end(self, block_size):
        return min(self.length, self.keys) if self.is_causal else self.keys


@functools.partial(wrong, like="scores_multiplied_by_mask")
class zero_filled_in(Blockwise):
    def hidden(self):
        return 0.0
