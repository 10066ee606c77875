"""Wrong blockwise attention whose numbers, dtypes or gradients are not kept."""

import torch

from ._efficient_blockwise import Blockwise, finite, seen, wrong


@wrong
class minus_infinity_from_itself(Blockwise):
    def shift(self, new):
        return new


@wrong
class nan_replaced_afterwards(minus_infinity_from_itself):
    def finish(self, largest, total, summed):
        return torch.nan_to_num(super().finish(largest, total, summed))


@wrong
class zero_divided_by_zero(Blockwise):
    def finish(self, largest, total, summed):
        return summed / total


@wrong
class zero_replaced_afterwards(Blockwise):
    def finish(self, largest, total, summed):
        return torch.where(total == 0, 0.0, summed / total)


@wrong
class minus_1e9(Blockwise):
    def hidden(self):
        return -1e9


@wrong
class shaped_like_query(Blockwise):
    def begin(self, query, key, value):
        largest = torch.full_like(query[..., :1], -torch.inf)
        return largest, torch.zeros_like(largest), query.new_zeros(*query.shape[:-1], value.shape[-1])

    def step(self, largest, total, summed, scores, values):
        new = torch.maximum(largest, scores.amax(dim=-1, keepdim=True).detach())
        weights, shrink = torch.exp(scores - finite(new)), torch.exp(largest - finite(new))
        summed *= shrink
        summed += weights @ values
        return new, total * shrink + weights.sum(dim=-1, keepdim=True), summed


@wrong
class whole_score_matrix(Blockwise):
    def answer(self, query, key, value, block_size, is_causal, attn_mask):
        self.whole = query @ key.mT  # blocks are then cut out of this
        return super().answer(query, key, value, block_size, is_causal, attn_mask)


@wrong
class whole_causal_mask(Blockwise):
    def causal(self, start, stop, mask):
        return seen(self.length, self.keys, self.keys - self.length)[:, start:stop]


@wrong
class whole_attn_mask(Blockwise):
    def mask(self, attn_mask):
        return super().mask(attn_mask).contiguous()


@wrong
class whole_mask_in_every_call(Blockwise):
    def answer(self, query, key, value, block_size, is_causal, attn_mask):
        rows, columns = query.shape[-2], key.shape[-2]
        allowed = seen(rows, columns, columns - rows if is_causal else columns)
        attn_mask = allowed if attn_mask is None else allowed & attn_mask
        return super().answer(query, key, value, block_size, False, attn_mask)


@wrong
class sums_in_half_precision(Blockwise):
    def answer(self, query, *rest):
        self.narrow = query.dtype
        return super().answer(query, *rest)

    def kept(self):
        return self.narrow


@wrong
class float32_returned(Blockwise):
    pass


@wrong
class gradient_cut(Blockwise):
    @torch.no_grad()
    def answer(self, *arguments):
        return super().answer(*arguments)


@wrong
class sum_detached(Blockwise):
    def finish(self, largest, total, summed):
        return super().finish(largest, total.detach(), summed)


@wrong
class query_divided_in_place(Blockwise):
    def answer(self, query, *rest):
        query *= self.scale(query, None)
        self.scale = lambda query, value: 1.0
        return super().answer(query, *rest)


@wrong
class largest_starts_at_zero(Blockwise):
    def begin(self, query, key, value):
        largest, total, summed = super().begin(query, key, value)
        return torch.zeros_like(largest), total, summed


@wrong
class output_rescaled_after_adding(Blockwise):
    def step(self, largest, total, summed, scores, values):
        new, total, added = super().step(largest, total, torch.zeros_like(summed), scores, values)
        return new, total, (summed + added) * torch.exp(largest - self.shift(new))


@wrong
class sum_rescaled_after_adding(Blockwise):
    def step(self, largest, total, summed, scores, values):
        new, added, summed = super().step(largest, torch.zeros_like(total), summed, scores, values)
        return new, (total + added) * torch.exp(largest - self.shift(new)), summed
