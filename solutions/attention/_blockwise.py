"""Blockwise attention's two passes over blocks of queries and keys."""

# solution: begin (drop)
import math
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from ._whole import whole_gradients

ENTRIES = 2**18  # scores that are there at a time: 1 MiB in float32, which the second-level cache of a core holds
SMALL = 44.0  # no sum of exp(±44), some 10^±19, overflows in float32, even times a value, nor becomes zero


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
        self.mask, self.which = None, None
        if attn_mask is not None:
            lead = attn_mask.shape[:-2]
            whole = attn_mask.expand(*lead, length, keys)  # nothing is copied
            self.mask = whole.reshape(math.prod(lead), length, keys)
            which = torch.arange(len(self.mask), device=attn_mask.device).reshape(lead)
            self.which = which.expand(self.batch).reshape(-1)  # each sequence's mask
        self._triangle: tuple[tuple[int, int, int], Tensor] | None = None

    @property
    def masks(self) -> Tensor | None:
        """The mask of each sequence, (N, L, S): too large for anything but a second derivative or a transform."""
        return None if self.mask is None else self.mask[self.which]

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
            stop, first, hidden = min(start + self.columns, seen), rows.start, []
            if self.is_causal:
                first = max(first, start - self.shift)  # the first query that sees any of these keys
                partly = min(stop - self.shift - 1, rows.stop) - first  # queries that do not see all of them
                if partly > 0:
                    hidden.append(self._future(partly, stop - start, first + self.shift - start + 1))
            if self.mask is not None:
                masked = ~self.mask[:, first : rows.stop, start:stop]
                if len(masked) > 1:
                    masked = masked[self.which[heads]]
                if not torch.compiler.is_compiling() and masked.device.type != "meta" and masked.all():
                    continue
                hidden.append(masked)
            yield slice(first - rows.start, None), slice(start, stop), hidden

    def _future(self, rows: int, columns: int, diagonal: int) -> Tensor:
        """True on and above a diagonal, (1, rows, columns): most blocks have the same, so the last is kept."""
        asked = rows, columns, diagonal
        if torch.compiler.is_compiling():  # a graph keeps nothing
            return torch.ones(1, rows, columns, dtype=torch.bool).triu(diagonal)
        if self._triangle is None or self._triangle[0] != asked:
            self._triangle = asked, torch.ones(1, rows, columns, dtype=torch.bool).triu(diagonal)
        return self._triangle[1]


class Blockwise(torch.autograd.Function):
    """Forward keeps two numbers per query, largest score and sum; backward computes the weights again from them.

    (Many kernels keep one, largest + log2(sum). Its rounding, of a larger number, then is in every weight of the row.)

    Where scores are small, their exponentials are taken as they are. Else powers are taken of 2, the scores times
    log2(e): torch's exp is slow on the CPU where its answer is 0 or nearly so; exp2 is not.
    """

    @staticmethod
    def forward(ctx: Any, query: Tensor, key: Tensor, value: Tensor, blocks: Blocks) -> Tensor:
        small = _surely_small(query, key)
        found = None
        if small or _may_look(query):  # a bound on the scores may be far above them
            found = _sums(query, key, value, blocks, watched=not small)
        small = found is not None
        output, maxima, sums = found or _online_sums(query, key, value, blocks)
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
            return *whole_gradients(blocks.masks, blocks.is_causal, upstream, query, key, value), None
        of_query, of_key, of_value = (torch.zeros_like(x, dtype=wide) for x in (query, key, value))
        upstream = upstream / sums  # every product with a weight would be divided by its query's sum
        row_sums = (upstream * output).sum(dim=-1, keepdim=True)  # Σ_j w_ij (g_i · v_j), all that softmax needs
        scale = 1.0 / math.sqrt(query.shape[-1])
        room, more_room = query.new_empty(2, blocks.entries, dtype=wide)
        for heads, rows in blocks.of_queries():
            asked = query[heads, rows].to(wide)
            scaled = asked * (scale if ctx.small else math.log2(math.e) * scale)
            block = asked, scaled, *(x[heads, rows] for x in (maxima, upstream, row_sums))
            for some, columns, hidden in blocks.of_keys(heads, rows):
                queries, scaled, largest, above, subtracted = (x[:, some] for x in block)
                keys, values = key[heads, columns].to(wide), value[heads, columns].to(wide)
                weights = _scores(scaled, keys, room)  # as in forward, to the last digit
                if ctx.small:
                    _fill(weights.exp_(), hidden, 0.0)  # not yet divided
                else:
                    _fill(weights.sub_(largest), hidden, -math.inf).exp2_()
                of_value[heads, columns].baddbmm_(weights.mT, above)
                of_scores = torch.bmm(above, values.mT, out=_view(more_room, weights.shape))
                of_scores.sub_(subtracted).mul_(weights)
                of_query[heads, rows][:, some].baddbmm_(of_scores, keys)
                of_key[heads, columns].baddbmm_(of_scores.mT, queries, alpha=scale)
        return of_query * scale, of_key, of_value, None  # autograd gives each the dtype of its argument


def _sums(
    query: Tensor, key: Tensor, value: Tensor, blocks: Blocks, watched: bool
) -> tuple[Tensor, Tensor, Tensor] | None:
    """For each query the sum of its values with their weights, 0, and the sum of the weights exp(score).

    Nothing is subtracted from the scores, which spares half of what is not a matrix product.
    watched: whether to look if scores are small indeed; None where one is not
    """
    output, maxima, sums, room = _beginning(query, value, blocks, 0.0)
    for heads, rows in blocks.of_queries():
        scaled = query[heads, rows].to(output.dtype) / math.sqrt(query.shape[-1])
        total, summed = sums[heads, rows], output[heads, rows]
        for some, columns, hidden in blocks.of_keys(heads, rows):
            weights = _scores(scaled[:, some], key[heads, columns].to(output.dtype), room)
            if watched and not _lie_within(weights, SMALL):
                return None
            _fill(weights.exp_(), hidden, 0.0)
            total[:, some].add_(weights.sum(dim=-1, keepdim=True))
            summed[:, some].baddbmm_(weights, value[heads, columns].to(output.dtype))
    return output, maxima, sums


def _online_sums(query: Tensor, key: Tensor, value: Tensor, blocks: Blocks) -> tuple[Tensor, Tensor, Tensor]:
    """As `_sums` for scores of any size: what is summed is rescaled when a larger score comes, which is returned."""
    output, maxima, sums, room = _beginning(query, value, blocks, None)
    for heads, rows in blocks.of_queries():
        block = [x[heads, rows] for x in (query, maxima, sums, output)]
        block[0] = block[0].to(output.dtype) * (math.log2(math.e) / math.sqrt(query.shape[-1]))
        for some, columns, hidden in blocks.of_keys(heads, rows):
            scaled, largest, total, summed = (x[:, some] for x in block)
            weights = _fill(_scores(scaled, key[heads, columns].to(output.dtype), room), hidden, -math.inf)
            new = torch.maximum(largest, weights.amax(dim=-1, keepdim=True))
            shrink = torch.exp2(largest - new)
            largest.copy_(new)
            total.mul_(shrink).add_(weights.sub_(new).exp2_().sum(dim=-1, keepdim=True))
            summed.mul_(shrink).baddbmm_(weights, value[heads, columns].to(output.dtype))
    return output, maxima, sums


def _beginning(
    query: Tensor, value: Tensor, blocks: Blocks, largest: float | None
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Room for the output, the largest scores, the sums of weights, and for the scores of a block."""
    wide = torch.float64 if query.dtype == torch.float64 else torch.float32  # what sums are kept in
    lowest = torch.finfo(wide).min if largest is None else largest  # finite: hidden - largest stays -inf
    output = query.new_zeros(*query.shape[:2], value.shape[-1], dtype=wide)
    maxima = query.new_full((*query.shape[:2], 1), lowest, dtype=wide)
    return output, maxima, torch.zeros_like(maxima), query.new_empty(blocks.entries, dtype=wide)


def _may_look(x: Tensor) -> bool:
    """Whether numbers can be looked at on the way, and cost little to look at."""
    return x.device.type == "cpu" and not torch.compiler.is_compiling()


def _surely_small(query: Tensor, key: Tensor) -> bool:
    """Whether no score can be so large that its exponential needs the largest one subtracted (Cauchy and Schwarz)."""
    if torch.compiler.is_compiling() or query.device.type == "meta" or not query.numel() or not key.numel():
        return False
    lengths = [x.float().norm(dim=-1).amax() for x in (query, key)]
    return bool(lengths[0] * lengths[1] / math.sqrt(query.shape[-1]) < SMALL)


def _lie_within(scores: Tensor, bound: float) -> bool:
    if not scores.numel():
        return True
    lowest, highest = torch.aminmax(scores)
    return bool(-bound < lowest) and bool(highest < bound)


def _scores(query: Tensor, key: Tensor, room: Tensor) -> Tensor:
    """query · keyᵀ (n, rows, columns), written into room."""
    return torch.bmm(query, key.mT, out=_view(room, (len(query), query.shape[1], key.shape[1])))


def _fill(scores: Tensor, hidden: list[Tensor], number: float) -> Tensor:
    """A number in place of what is hidden."""
    for some in hidden:
        scores[:, : some.shape[-2]].masked_fill_(some.to(scores.device), number)
    return scores


def _view(room: Tensor, shape: tuple[int, ...]) -> Tensor:
    """The first entries of a flat tensor, in a shape."""
    return room[: math.prod(shape)].view(shape)


# solution: end
