"""Blockwise attention's two passes over blocks of queries and keys."""

# solution: begin (drop)
import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor

from ._whole import whole_gradients

MUCH = 2.0**10  # a sum of a block's weights up to which its queries' largest score so far will do for it, too
ENTRIES = 2**18  # scores that are there at a time: 1 MiB in float32, which the second-level cache of a core holds


class Hidden(NamedTuple):
    """What is hidden in a block (n, rows, columns): masked, bool (n or 1, rows, columns), and what lies in the future.

    last_seen: the last column that the first row sees; each row sees one more. None where every row sees all.
    """

    masked: Tensor | None
    last_seen: int | None

    def fill(self, scores: Tensor) -> Tensor:
        """The scores, -inf in place of what is hidden."""
        if self.last_seen is not None:
            seen = torch.ones(scores.shape[1:], dtype=torch.bool, device=scores.device).tril_(self.last_seen)
            scores.masked_fill_(~seen, -math.inf)
        return self._fill_masked(scores)

    def powers(self, scores: Tensor) -> Tensor:
        """2 to the power of each score, 0 in place of what is hidden: the future takes no mask, it is written over."""
        powers = self._fill_masked(scores).exp2_()
        return powers if self.last_seen is None else powers.tril_(self.last_seen)

    def _fill_masked(self, scores: Tensor) -> Tensor:
        return scores if self.masked is None else scores.masked_fill_(self.masked.to(scores.device), -math.inf)


class Blocks:
    """Which blocks of queries and keys meet, and what is hidden where they do."""

    def __init__(
        self, batch: torch.Size, length: int, keys: int, size: int, is_causal: bool, attn_mask: Tensor | None
    ) -> None:
        self.batch, self.length, self.keys, self.is_causal = batch or torch.Size([1]), length, keys, is_causal
        self.count, self.shift = math.prod(self.batch), keys - length  # query i is at position i + shift
        self.columns = size
        self.rows = max(1, min(length, max(size, ENTRIES // size)))  # many queries share each block of keys
        entries = 2 * ENTRIES if is_causal else ENTRIES  # of which about half are hidden
        self.heads = max(1, min(self.count, entries // max(1, self.rows * min(size, keys))))
        self.entries = self.heads * self.rows * min(size, keys)
        self.mask, self.which = None, None
        if attn_mask is not None:
            lead = attn_mask.shape[:-2]
            whole = attn_mask.expand(*lead, length, keys)  # nothing is copied
            self.mask = whole.reshape(math.prod(lead), length, keys)
            which = torch.arange(len(self.mask), device=attn_mask.device).reshape(lead)
            self.which = which.expand(self.batch).reshape(-1)  # each sequence's mask

    @property
    def masks(self) -> Tensor | None:
        """The mask of each sequence, (N, L, S): too large for anything but a second derivative or a transform."""
        return None if self.mask is None else self.mask[self.which]

    def of_queries(self) -> Iterator[tuple[slice, slice]]:
        """The blocks of queries: of which sequences, each with its heads, and which positions."""
        for head in range(0, self.count, self.heads):
            for start in range(0, self.length, self.rows):
                yield slice(head, min(head + self.heads, self.count)), slice(start, min(start + self.rows, self.length))

    def of_keys(self, heads: slice, rows: slice) -> Iterator[tuple[slice, slice, Hidden]]:
        """The blocks of keys that these queries may see: by which of the queries, which keys, and what is hidden."""
        seen = rows.stop + self.shift if self.is_causal else self.keys
        for start in range(0, seen, self.columns):
            stop, first, last_seen, masked = min(start + self.columns, seen), rows.start, None, None
            if self.is_causal:
                first = max(first, start - self.shift)  # the first query that sees any of these keys
                if first + self.shift < stop - 1:  # and does not see all of them
                    last_seen = first + self.shift - start
            if self.mask is not None:
                masked = ~self.mask[:, first : rows.stop, start:stop]
                if len(masked) > 1:
                    masked = masked[self.which[heads]]
                if not torch.compiler.is_compiling() and masked.device.type != "meta" and masked.all():
                    continue
            yield slice(first - rows.start, None), slice(start, stop), Hidden(masked, last_seen)


class Blockwise(torch.autograd.Function):
    """Forward keeps two numbers per query, a large score and a sum; backward computes the weights again from them.

    (Many kernels keep one, largest + log2(sum). Its rounding, of a larger number, then is in every weight of the row.)

    What is subtracted from a query's scores is the last feature of the query, and that of every key is 1: the product
    does it. It is the largest score of the first block, and is replaced only where a block's weights come to MUCH.

    Powers are taken of 2, the scores times log2(e): torch's exp takes several times as long as exp2 on a CPU.
    """

    @staticmethod
    def forward(ctx: Any, query: Tensor, key: Tensor, value: Tensor, blocks: Blocks) -> Tensor:
        wide = torch.float64 if query.dtype == torch.float64 else torch.float32  # what sums are kept in
        output = query.new_zeros(*query.shape[:2], value.shape[-1], dtype=wide)
        lowest = torch.finfo(wide).min  # finite: hidden - largest stays -inf
        maxima = query.new_full((*query.shape[:2], 1), lowest, dtype=wide)
        sums, room = torch.zeros_like(maxima), query.new_empty(blocks.entries, dtype=wide)
        eager = _is_eager(query)
        for heads, rows in blocks.of_queries():
            keys, values = _with_last(key[heads].to(wide), 1.0), value[heads].to(wide)
            asked = _with_last(query[heads, rows].to(wide), 0.0)
            asked.mul_(math.log2(math.e) / math.sqrt(query.shape[-1]))
            block, settled = (asked, *(x[heads, rows] for x in (maxima, sums, output))), False
            for some, columns, hidden in blocks.of_keys(heads, rows):
                scaled, largest, total, summed = _of_rows(some, block)
                if settled:
                    weights = hidden.powers(_scores(scaled, keys[:, columns], room))
                    added = weights.sum(dim=-1, keepdim=True)
                    settled = added.max().item() <= MUCH  # neither too much nor NaN
                if not settled:
                    weights = hidden.fill(_scores(scaled[..., :-1], keys[:, columns, :-1], room))
                    new = torch.maximum(largest, weights.amax(dim=-1, keepdim=True))
                    shrink = torch.exp2(largest - new)
                    largest.copy_(new)
                    scaled[..., -1:] = -new
                    total.mul_(shrink)
                    summed.mul_(shrink)
                    added = weights.sub_(new).exp2_().sum(dim=-1, keepdim=True)
                    settled = eager and bool(new.min() > lowest)  # each of these queries has seen a key
                total.add_(added)
                summed.baddbmm_(weights, values[:, columns])
        sums.masked_fill_(sums == 0, 1.0)  # a query without keys
        output.div_(sums)
        ctx.save_for_backward(query, key, value, output, maxima, sums)
        ctx.blocks = blocks
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
        upstream = _with_last(upstream, -row_sums)
        scale = 1.0 / math.sqrt(query.shape[-1])
        room, more_room = query.new_empty(2, blocks.entries, dtype=wide)
        for heads, rows in blocks.of_queries():
            asked = query[heads, rows].to(wide)
            keys, values = (_with_last(x[heads].to(wide), 1.0) for x in (key, value))
            key_sums, value_sums = of_key[heads], of_value[heads]
            scaled = _with_last(asked * (math.log2(math.e) * scale), -maxima[heads, rows])
            block = asked, scaled, upstream[heads, rows], of_query[heads, rows]
            for some, columns, hidden in blocks.of_keys(heads, rows):
                queries, scaled, above, of_queries = _of_rows(some, block)
                some_keys = keys[:, columns]
                weights = hidden.powers(_scores(scaled, some_keys, room))  # not yet divided
                value_sums[:, columns].baddbmm_(weights.mT, above[..., :-1])
                of_scores = _scores(above, values[:, columns], more_room).mul_(weights)
                of_queries.baddbmm_(of_scores, some_keys[..., :-1])
                key_sums[:, columns].baddbmm_(of_scores.mT, queries, alpha=scale)
        return of_query * scale, of_key, of_value, None  # autograd gives each the dtype of its argument


def _with_last(x: Tensor, last: Tensor | float) -> Tensor:
    """x (n, length, d) with one more feature: (n, length, 1), or a number."""
    more = last if isinstance(last, Tensor) else x.new_full((*x.shape[:-1], 1), last)
    return torch.cat([x, more], dim=-1)


def _of_rows(some: slice, block: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    """Some rows of each tensor (n, rows, features); all of them cost nothing."""
    return tuple(x[:, some] for x in block) if some.start else block


def _is_eager(x: Tensor) -> bool:
    """Whether it costs next to nothing to look at a number of x: not on a GPU, in a graph or without values."""
    return x.device.type == "cpu" and not torch.compiler.is_compiling()


def _scores(query: Tensor, key: Tensor, room: Tensor) -> Tensor:
    """query · keyᵀ (n, rows, columns), written into room."""
    return torch.bmm(query, key.mT, out=_view(room, (len(query), query.shape[1], key.shape[1])))


def _view(room: Tensor, shape: tuple[int, ...]) -> Tensor:
    """The first entries of a flat tensor, in a shape."""
    return room[: math.prod(shape)].view(shape)


# solution: end
