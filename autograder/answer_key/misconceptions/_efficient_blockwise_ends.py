"""Wrong blockwise attention at the ends of a block: what stands behind the last key, and what a block hands on."""

import functools

import torch
from torch.nn import functional as F

from ._efficient_blockwise import Attached, Blockwise, divided_in_every_block, finite, last_block_dropped, wrong


@functools.partial(wrong, like="divided_in_every_block")
class divided_in_the_loop_alone(divided_in_every_block):
    def finish(self, largest, total, summed):
        return summed


@functools.partial(wrong, like="divided_in_every_block")
class divided_in_the_loop_alone_with_gradients(Attached, divided_in_the_loop_alone):
    pass


@functools.partial(wrong, like="last_block_dropped")
class one_block_at_least(last_block_dropped):
    def end(self, block_size):
        return max(self.keys // block_size, 1) * block_size if self.keys else 0


class Padded(Blockwise):
    """Keys and values are filled up with zeros, so that every block is full."""

    def answer(self, query, key, value, block_size, is_causal, attn_mask):
        self.real = key.shape[-2]
        self.more = -self.real % block_size
        key, value = (F.pad(x, (0, 0, 0, self.more)) for x in (key, value))
        return super().answer(query, key, value, block_size, is_causal, attn_mask)

    def mask(self, attn_mask):
        lead = attn_mask.shape[:-2] if attn_mask.dim() > 1 else ()
        return F.pad(attn_mask.expand(*lead, self.length, self.real), (0, self.more), value=self.filling_allowed)

    def causal(self, start, stop, mask):
        return torch.arange(start, stop) <= torch.arange(self.length)[:, None] + self.real - self.length


@wrong
class filling_seen(Padded):
    filling_allowed = True


@functools.partial(wrong, like="filling_seen")
class where_no_mask_is_given(Padded):
    filling_allowed = False


@wrong
class begun_anew_in_every_block(Blockwise):
    def step(self, largest, total, summed, scores, values):
        nothing = torch.full_like(largest, -torch.inf), torch.zeros_like(total), torch.zeros_like(summed)
        return super().step(*nothing, scores, values)


@functools.partial(wrong, like="begun_anew_in_every_block")
class begun_anew_with_gradients(Attached, begun_anew_in_every_block):
    pass


class Grown(Attached):
    """What was summed up before a larger score came is multiplied by e^(new - old)."""

    grown: tuple[str, ...] = ("sum", "output")

    def step(self, largest, total, summed, scores, values):
        new = self.largest(largest, scores)
        self.factor = torch.exp(finite(new) - finite(largest))
        return super().step(largest, total, summed, scores, values)

    def carried(self, old, shrink, which):
        return old * (self.factor if which in self.grown else shrink)


@wrong
class rescaled_upside_down(Grown):
    pass


@functools.partial(wrong, like="rescaled_upside_down")
class sum_alone(Grown):
    grown = ("sum",)


@functools.partial(wrong, like="rescaled_upside_down")
class output_alone(Grown):
    grown = ("output",)


@functools.partial(wrong, like="rescaled_upside_down")
class output_divided(Attached):
    """The output is divided by e^(old - new), the sum multiplied by it."""

    def carried(self, old, shrink, which):
        return old / shrink.where(shrink != 0, 1.0) if which == "output" else old * shrink


@wrong
class own_largest_of_the_block(Attached):
    """Exponentials of a block against its own largest score, as in a first step, and the second left out."""

    def step(self, largest, total, summed, scores, values):
        new = self.largest(largest, scores)
        own = scores.amax(dim=-1, keepdim=True)
        weights, shrink = torch.exp(scores - finite(own)), torch.exp(largest - finite(new))
        return new, total * shrink + weights.sum(dim=-1, keepdim=True), summed * shrink + weights @ values


@wrong
class stopped_at_the_first_future_block(Blockwise):
    """Under is_causal the loop ends where the first query sees no more keys."""

    def causal(self, start, stop, mask):
        self.over = start > self.keys - self.length
        return super().causal(start, stop, mask)

    def step(self, largest, total, summed, scores, values):
        if getattr(self, "over", False):
            return largest, total, summed
        return super().step(largest, total, summed, scores, values)


@wrong
class split_along_axis_one(Blockwise):
    """Keys and values are split along axis 1: with two axes features, with four heads."""

    def answer(self, query, key, value, block_size, is_causal, attn_mask):
        self.wide = torch.float64 if query.dtype == torch.float64 else torch.float32
        self.length, self.keys = query.shape[-2], key.shape[-2]
        query, key, value = query.to(self.wide), key.to(self.wide), value.to(self.wide)
        state, start = self.begin(query, key, value), 0
        for keys, values in zip(key.split(block_size, dim=1), value.split(block_size, dim=1), strict=False):
            stop = start + keys.shape[1]
            scores = query @ keys.mT * self.scale(query, value)
            if is_causal:
                last = torch.arange(self.length)[:, None] + (self.keys - self.length)
                scores = scores.masked_fill(torch.arange(start, stop) > last, -torch.inf)
            if attn_mask is not None:
                scores = scores.masked_fill(~self.mask(attn_mask)[..., start:stop], -torch.inf)
            state, start = self.step(*state, scores, values), stop
        return self.finish(*state)
