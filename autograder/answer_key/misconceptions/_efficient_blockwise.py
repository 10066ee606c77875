"""Wrong blockwise attention, each with the argument checks that the stub gives."""

import math

import torch

from ._given import behind_given_checks

BLOCKWISE = "efficient.blockwise_attention"


def finite(largest):
    return largest.where(largest != -torch.inf, 0.0)


def seen(rows, columns, diagonal=0):
    return torch.ones(rows, columns, dtype=torch.bool).tril(diagonal)


class Blockwise:
    """The right answer in pieces that a subclass replaces: all queries at once, one block of keys after the other."""

    def answer(self, query, key, value, block_size, is_causal, attn_mask):
        self.wide = torch.float64 if query.dtype == torch.float64 else torch.float32
        self.length, self.keys = query.shape[-2], key.shape[-2]
        mask = None if attn_mask is None else self.mask(attn_mask)
        query, key, value = query.to(self.kept()), key.to(self.kept()), value.to(self.kept())
        scaled = query * self.scale(query, value)
        state = self.begin(query, key, value)
        for start in range(0, self.end(block_size), block_size):
            stop = min(start + block_size, self.keys)
            scores = scaled @ key[..., start:stop, :].mT  # (..., L, at most block_size)
            if is_causal:
                scores = scores.masked_fill(~self.causal(start, stop, mask), self.hidden())
            if mask is not None:
                scores = scores.masked_fill(~self.masked(mask, start, stop), self.hidden())
            state = self.step(*state, scores, value[..., start:stop, :])
        return self.finish(*state)

    def kept(self):
        return self.wide

    def mask(self, attn_mask):
        lead = attn_mask.shape[:-2] if attn_mask.dim() > 1 else ()
        return attn_mask.expand(*lead, self.length, self.keys)

    def scale(self, query, value):
        return 1 / math.sqrt(query.shape[-1])

    def hidden(self):
        return -torch.inf

    def end(self, block_size):
        return self.keys

    def causal(self, start, stop, mask):
        return seen(self.length, stop - start, self.keys - self.length - start)

    def masked(self, mask, start, stop):
        return mask[..., start:stop]

    def begin(self, query, key, value):
        batch = torch.broadcast_shapes(query.shape[:-2], key.shape[:-2], value.shape[:-2])
        largest = query.new_full((*batch, self.length, 1), -torch.inf)
        return largest, torch.zeros_like(largest), query.new_zeros(*batch, self.length, value.shape[-1])

    def step(self, largest, total, summed, scores, values):
        new = self.largest(largest, scores)
        weights = torch.exp(scores - self.shift(new))
        shrink = torch.exp(largest - self.shift(new))
        total = self.carried(total, shrink, "sum") + weights.sum(dim=-1, keepdim=True)
        return new, total, self.carried(summed, shrink, "output") + weights @ values

    def largest(self, largest, scores):
        return torch.maximum(largest, scores.amax(dim=-1, keepdim=True).detach())

    def shift(self, new):
        return finite(new)

    def carried(self, old, shrink, which):
        return old * shrink

    def finish(self, largest, total, summed):
        return summed / total.where(total != 0, 1.0)


class Attached(Blockwise):
    """The largest score passes gradients on, as where nobody detaches it."""

    def largest(self, largest, scores):
        return torch.maximum(largest, scores.amax(dim=-1, keepdim=True))


def wrong(kind, like=""):
    """Register a subclass."""

    @behind_given_checks(BLOCKWISE, kind.__name__, like)
    def function(query, key, value, block_size=128, is_causal=False, attn_mask=None):
        output = kind().answer(query, key, value, block_size, is_causal, attn_mask)
        return output if kind.__name__ == "float32_returned" else output.to(query.dtype)

    return kind


@wrong
class no_scale(Blockwise):
    def scale(self, query, value):
        return 1.0


@wrong
class divided_by_width(Blockwise):
    def scale(self, query, value):
        return 1 / query.shape[-1]


@wrong
class root_of_value_width(Blockwise):
    def scale(self, query, value):
        return 1 / math.sqrt(value.shape[-1])


@wrong
class nothing_rescaled(Blockwise):
    def carried(self, old, shrink, which):
        return old


@wrong
class sum_not_rescaled(Blockwise):
    def carried(self, old, shrink, which):
        return old if which == "sum" else old * shrink


@wrong
class output_not_rescaled(Blockwise):
    def carried(self, old, shrink, which):
        return old if which == "output" else old * shrink


@wrong
class new_block_rescaled(Blockwise):
    def step(self, largest, total, summed, scores, values):
        new = self.largest(largest, scores)
        weights, shrink = torch.exp(scores - finite(new)), torch.exp(largest - finite(new))
        return new, (total + weights.sum(dim=-1, keepdim=True)) * shrink, (summed + weights @ values) * shrink


@wrong
class largest_of_the_block_alone(Blockwise):
    def largest(self, largest, scores):
        return scores.amax(dim=-1, keepdim=True).detach()


@wrong
class largest_of_the_block_not_rescaled(largest_of_the_block_alone, nothing_rescaled):
    pass


@wrong
class first_largest_kept(Blockwise):
    def largest(self, largest, scores):
        first = scores.amax(dim=-1, keepdim=True).detach()
        return first.where(largest == -torch.inf, largest)

    def step(self, largest, total, summed, scores, values):
        state = super().step(largest, total, summed, scores, values)
        return (finite(state[0]), *state[1:])

    def carried(self, old, shrink, which):
        return old


@wrong
class no_largest(Blockwise):
    def largest(self, largest, scores):
        return torch.zeros_like(scores[..., :1])

    def carried(self, old, shrink, which):
        return old


def softmax(scores):
    powers = torch.exp(scores - finite(scores.amax(dim=-1, keepdim=True)))
    total = powers.sum(dim=-1, keepdim=True)
    return powers / total.where(total != 0, 1.0)


@wrong
class blocks_averaged(Blockwise):
    def step(self, largest, total, summed, scores, values):
        return largest, total + 1, summed + softmax(scores) @ values


@wrong
class blocks_added(Blockwise):
    def step(self, largest, total, summed, scores, values):
        return largest, total, summed + softmax(scores) @ values


@wrong
class divided_in_every_block(Blockwise):
    def step(self, *state):
        largest, total, summed = super().step(*state)
        return largest, total, summed / total.where(total != 0, 1.0)


@wrong
class last_block_dropped(Blockwise):
    def end(self, block_size):
        return self.keys // block_size * block_size


@wrong
class last_key_lost(Blockwise):
    def answer(self, query, key, value, block_size, is_causal, attn_mask):
        self.stop = key.shape[-2] - 1
        return super().answer(query, key, value, block_size, is_causal, attn_mask)

    def step(self, largest, total, summed, scores, values):
        rest, self.stop = max(self.stop, 0), self.stop - scores.shape[-1]
        if not rest:
            return largest, total, summed
        return super().step(largest, total, summed, scores[..., :rest], values[..., :rest, :])
