"""Blockwise attention's two passes over blocks of queries and keys."""

# solution: begin (drop)
import math
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from ._whole import whole_gradients

ENTRIES = 2**18  # scores that are there at a time: 1 MiB in float32, which the second-level cache of a core holds
SMALL = 32.0  # a base-2 exponent: no sum of 2^±32 overflows in float32, nor becomes zero


class Blocks:
    """Which blocks of queries and keys meet, and what is hidden where they do."""

    def __init__(
        self, batch: torch.Size, length: int, keys: int, size: int, is_causal: bool, attn_mask: Tensor | None
    ) -> None:
        self.batch, self.length, self.keys, self.is_causal = batch or torch.Size([1]), length, keys, is_causal
        self.count, self.shift = math.prod(self.batch), keys - length  # query i is at position i + shift
        self.columns = size
        self.rows = max(1, min(length, max(size, ENTRIES // size)))  # many queries share each block of keys
        self.heads = max(1, min(self.count, ENTRIES // max(1, self.rows * min(size, keys))))
        self.entries = self.heads * self.rows * min(size, keys)
        self.mask = None if attn_mask is None else attn_mask.expand(*self.batch, length, keys)  # nothing is copied
        self.is_mask_shared = attn_mask is not None and math.prod(attn_mask.shape[:-2]) == 1

    def _index(self, heads: slice) -> tuple[slice, ...] | tuple[Tensor, ...]:
        """Which part of the mask these heads have: a view of one where all share it, for a copy takes time."""
        if self.is_mask_shared:
            return tuple(slice(0, 1) for _ in self.batch)
        return torch.unravel_index(torch.arange(heads.start, heads.stop), self.batch)

    def of_queries(self) -> Iterator[tuple[slice, slice]]:
        """The blocks of queries: of which sequences, each with its heads, and which positions."""
        for head in range(0, self.count, self.heads):
            for start in range(0, self.length, self.rows):
                yield slice(head, min(head + self.heads, self.count)), slice(start, min(start + self.rows, self.length))

    def of_keys(self, heads: slice, rows: slice) -> Iterator[tuple[slice, slice, list[Tensor]]]:
        """The blocks of keys that these queries may see: by which of the queries, which keys, and what is hidden there.

        What is hidden is a list of bool tensors (n or 1, the first rows, columns), True = hidden.
        """
        seen = rows.stop + self.shift if self.is_causal else self.keys
        for start in range(0, seen, self.columns):
            keys, first, hidden = slice(start, min(start + self.columns, seen)), rows.start, []
            if self.is_causal:
                first = max(first, start - self.shift)  # the first query that sees any of these keys
                partly = min(keys.stop - self.shift - 1, rows.stop) - first  # queries that do not see all of them
                if partly > 0:
                    future = torch.ones(1, partly, keys.stop - start, dtype=torch.bool)
                    hidden.append(future.triu(first + self.shift - start + 1))
            if self.mask is not None:
                masked = ~self.mask[(*self._index(heads), slice(first, rows.stop), keys)]
                if not torch.compiler.is_compiling() and masked.device.type != "meta" and masked.all():
                    continue
                hidden.append(masked.reshape(-1, *masked.shape[-2:]))
            yield slice(first - rows.start, None), keys, hidden


class Blockwise(torch.autograd.Function):
    """Forward keeps two numbers per query, largest score and sum; backward computes the weights again from them.

    (Many kernels keep one, largest + log2(sum). Its rounding, of a larger number, then is in every weight of the row.)

    Powers are taken of 2 and not of e, the scores times log2(e): torch's exp is slow on the CPU where its answer is
    0 or nearly so, as it is at every hidden entry; exp2 is not.
    """

    @staticmethod
    def forward(ctx: Any, query: Tensor, key: Tensor, value: Tensor, blocks: Blocks) -> Tensor:
        wide = torch.float64 if query.dtype == torch.float64 else torch.float32  # what sums are kept in
        count, length, scale = *query.shape[:2], math.log2(math.e) / math.sqrt(query.shape[-1])
        small = _all_small(query, key, scale)
        output = query.new_zeros(count, length, value.shape[-1], dtype=wide)
        maxima = query.new_full((count, length, 1), 0.0 if small else torch.finfo(wide).min, dtype=wide)  # finite:
        sums = query.new_zeros(count, length, 1, dtype=wide)  # hidden - largest stays -inf
        room = query.new_empty(blocks.entries, dtype=wide)
        for heads, rows in blocks.of_queries():
            block = [x[heads, rows] for x in (query, maxima, sums, output)]
            block[0] = block[0].to(wide) * scale
            for some, columns, hidden in blocks.of_keys(heads, rows):
                scaled, largest, total, summed = (x[:, some] for x in block)
                weights = _scores(scaled, key[heads, columns].to(wide), hidden, room)
                if not small:
                    new = torch.maximum(largest, weights.amax(dim=-1, keepdim=True))
                    weights.sub_(new)
                    shrink = torch.exp2(largest - new)
                    total.mul_(shrink)
                    summed.mul_(shrink)
                    largest.copy_(new)
                weights.exp2_()
                total.add_(weights.sum(dim=-1, keepdim=True))
                summed.baddbmm_(weights, value[heads, columns].to(wide))
        sums.masked_fill_(sums == 0, 1.0)  # a query without keys
        output.div_(sums)
        ctx.save_for_backward(query, key, value, output, maxima, sums)
        ctx.blocks, ctx.small = blocks, small
        return output.to(query.dtype)

    @staticmethod
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor | None, ...]:
        query, key, value, output, maxima, sums = ctx.saved_tensors
        blocks, wide = ctx.blocks, output.dtype
        if torch.is_grad_enabled():  # create_graph=True: what is filled in place has no derivative
            return *whole_gradients(blocks.mask, blocks.is_causal, upstream, query, key, value), None
        of_query, of_key, of_value = (torch.zeros_like(x, dtype=wide) for x in (query, key, value))
        upstream = upstream / sums  # every product with a weight would be divided by its query's sum
        row_sums = (upstream * output).sum(dim=-1, keepdim=True)  # Σ_j w_ij (g_i · v_j), all that softmax needs
        scale = 1.0 / math.sqrt(query.shape[-1])
        room, more_room = query.new_empty(2, blocks.entries, dtype=wide)
        for heads, rows in blocks.of_queries():
            asked = query[heads, rows].to(wide)
            block = asked, asked * (math.log2(math.e) * scale), *(x[heads, rows] for x in (maxima, upstream, row_sums))
            for some, columns, hidden in blocks.of_keys(heads, rows):
                queries, scaled, largest, above, subtracted = (x[:, some] for x in block)
                keys, values = key[heads, columns].to(wide), value[heads, columns].to(wide)
                weights = _scores(scaled, keys, hidden, room)  # as in forward, to the last digit
                weights = (weights if ctx.small else weights.sub_(largest)).exp2_()  # not yet divided
                of_value[heads, columns].baddbmm_(weights.mT, above)
                of_scores = torch.bmm(above, values.mT, out=_view(more_room, weights.shape))
                of_scores.sub_(subtracted).mul_(weights)
                of_query[heads, rows][:, some].baddbmm_(of_scores, keys)
                of_key[heads, columns].baddbmm_(of_scores.mT, queries, alpha=scale)
        return of_query * scale, of_key, of_value, None  # autograd gives each the dtype of its argument


def _all_small(query: Tensor, key: Tensor, scale: float) -> bool:
    """Whether no score can be so large that its power of 2 needs the largest one subtracted (Cauchy and Schwarz).

    Then nothing has to be rescaled, which spares a third of what is not a matrix product.
    """
    if torch.compiler.is_compiling() or query.device.type == "meta" or not query.numel() or not key.numel():
        return False
    lengths = [x.float().norm(dim=-1).amax() for x in (query, key)]
    return bool(lengths[0] * lengths[1] * scale < SMALL)


def _scores(query: Tensor, key: Tensor, hidden: list[Tensor], room: Tensor) -> Tensor:
    """query · keyᵀ (n, rows, columns), -inf where hidden, written into room."""
    scores = torch.bmm(query, key.mT, out=_view(room, (len(query), query.shape[1], key.shape[1])))
    for some in hidden:
        scores[:, : some.shape[-2]].masked_fill_(some.to(scores.device), -math.inf)
    return scores


def _view(room: Tensor, shape: tuple[int, ...]) -> Tensor:
    """The first entries of a flat tensor, in a shape."""
    return room[: math.prod(shape)].view(shape)


# solution: end
