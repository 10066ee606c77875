"""Attention that scales: softmax in one pass, attention in blocks, shared key heads, a cache, a GPU kernel."""

import math
import os
from collections.abc import Iterable, Iterator
from typing import Any

import torch
from torch import Tensor

from ._arguments import (
    check_batch,
    check_floating,
    check_length,
    check_mask,
    check_partials,
    check_same_width,
    check_sequence,
    checked_chunks,
)

# solution: begin (drop)
from ._rows import in_transform
from ._whole import whole_attention, whole_gradients
from .dot_product import scaled_dot_product_attention

# solution: end

__all__ = [
    "KeyValueCache",
    "blockwise_attention",
    "grouped_query_attention",
    "merge_partials",
    "online_softmax",
    "triton_attention",
]


def online_softmax(chunks: Iterable[Tensor]) -> Tensor:
    """softmax of the concatenation, from one pass over its chunks   (Milakov and Gimelshein 2018).

    chunks: score tensors (..., S_i), the same but for S_i, with at least one score; each is seen once, in order
    Running along: the largest score so far, and the sum of exp(score - largest), rescaled when a larger one comes.
    Returns weights (..., S_1 + S_2 + …). A slice whose scores are all -inf gives zeros.
    Raises ValueError where there is no score or the shapes do not fit, TypeError for a wrong dtype.
    """
    chunks = checked_chunks(chunks)
    # solution: begin
    largest = total = None
    parts = []  # exp(score - largest at that time), with that largest
    for chunk in chunks:
        highest = chunk.detach().amax(dim=-1, keepdim=True)  # softmax is the same for every shift: it needs no gradient
        new = highest if largest is None else torch.maximum(largest, highest)
        finite = new.where(new != -torch.inf, 0.0)  # nothing to see so far: -inf - 0 stays -inf
        part = torch.exp(chunk - finite)  # (..., S_i)
        added = part.sum(dim=-1, keepdim=True)
        total = added if total is None else total * torch.exp(largest - finite) + added
        largest = new
        parts.append((part, largest))  # -inf where nothing is to be seen: later it counts for 0, whatever comes
    total = total.where(total != 0, 1.0)
    return torch.cat([part * (torch.exp(then - finite) / total) for part, then in parts], dim=-1)
    # solution: end


def merge_partials(
    first: tuple[Tensor, Tensor, Tensor], second: tuple[Tensor, Tensor, Tensor]
) -> tuple[Tensor, Tensor, Tensor]:
    """What attention over two parts of the keys has come to, from what it came to over each   (Dao et al. 2022, § 3.1).

    first, second: a triple each: maximum (...,), the part's largest score; total (...,), its sum of
        exp(score - maximum); summed (..., d), its sum of exp(score - maximum) · value
    Returns the triple of both parts together. A part without a key is (-inf, 0, 0) and changes nothing.
    summed / total is attention's output. The order of the parts, and of several merges, changes no more than rounding.
    Raises ValueError where the shapes do not fit, TypeError for a wrong dtype.
    """
    check_partials(first=first, second=second)
    # solution: begin
    maximum = torch.maximum(first[0], second[0])
    shift = maximum.where(maximum != -torch.inf, 0.0)  # no key in either part: exp(-inf - 0) is 0, in its gradient too
    mine, others = (torch.exp(part[0] - shift) for part in (first, second))
    total = first[1] * mine + second[1] * others
    summed = first[2] * mine[..., None] + second[2] * others[..., None]
    return maximum, total, summed
    # solution: end


def blockwise_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    block_size: int = 128,
    is_causal: bool = False,
    attn_mask: Tensor | None = None,
) -> Tensor:
    """softmax(Q Kᵀ / √d_k) V, block by block, never with an (L, S) matrix   (Rabe and Staats 2021; Dao et al. 2022).

    query: (..., L, d_k); key: (..., S, d_k); value: (..., S, d_v)
    block_size: how many keys are looked at in one step
    is_causal: True hides the future, aligned to the end: the last query sees every key (torch's own aligns the start)
    attn_mask: bool, broadcastable to (..., L, S), True = attend; with is_causal both must allow
    Returns the output (..., L, d_v). A query that may attend to nothing gets zeros.
    Raises ValueError where the shapes do not fit, TypeError for a wrong dtype.
    """
    check_floating(query=query, key=key, value=value)
    check_sequence(query=query, key=key, value=value)
    check_same_width(query, key)
    check_length("block_size", block_size, least=1)
    if key.shape[-2] != value.shape[-2]:
        raise ValueError(
            f"key and value must have the same length S, got shapes {tuple(key.shape)} and {tuple(value.shape)}"
        )
    batch = check_batch(query=query, key=key, value=value)
    if attn_mask is not None:
        check_mask("attn_mask", attn_mask, (*batch, query.shape[-2], key.shape[-2]))
    # solution: begin
    count = math.prod(batch)
    flat = [x.expand(*batch, -1, -1).reshape(count, *x.shape[-2:]) for x in (query, key, value)]  # (N, L or S, d)
    blocks = _Blocks(batch, query.shape[-2], key.shape[-2], block_size, is_causal, attn_mask)
    output = whole_attention(blocks.mask, is_causal, *flat) if in_transform() else _Blockwise.apply(*flat, blocks)
    return output.reshape(*batch, query.shape[-2], value.shape[-1])
    # solution: end


# solution: begin (drop)
ENTRIES = 2**18  # scores that are there at a time: 1 MiB in float32, which the second-level cache of a core holds
SMALL = 32.0  # a base-2 exponent: no sum of 2^±32 overflows in float32, nor becomes zero


class _Blocks:
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
                chosen = torch.unravel_index(torch.arange(heads.start, heads.stop), self.batch)
                masked = ~self.mask[(*chosen, slice(first, rows.stop), keys)]
                if not torch.compiler.is_compiling() and masked.device.type != "meta" and masked.all():
                    continue
                hidden.append(masked)
            yield slice(first - rows.start, None), keys, hidden


class _Blockwise(torch.autograd.Function):
    """Forward keeps two numbers per query, largest score and sum; backward computes the weights again from them.

    (Many kernels keep one, largest + log2(sum). Its rounding, of a larger number, then is in every weight of the row.)

    Powers are taken of 2 and not of e, the scores times log2(e): torch's exp is slow on the CPU where its answer is
    0 or nearly so, as it is at every hidden entry; exp2 is not.
    """

    @staticmethod
    def forward(ctx: Any, query: Tensor, key: Tensor, value: Tensor, blocks: _Blocks) -> Tensor:
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


def grouped_query_attention(
    query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Attention in which several query heads share one key and value head   (Ainslie et al. 2023; G = 1: Shazeer 2019).

    query: (B, H, L, d_k); key: (B, G, S, d_k); value: (B, G, S, d_v), H a multiple of G
    Query head h uses key and value head h // (H / G): neighbours share.
    attn_mask: bool, broadcastable to (B, H, L, S), True = attend
    Returns output (B, H, L, d_v) and weights (B, H, L, S).
    Raises ValueError where the shapes do not fit, TypeError for a wrong dtype.
    """
    check_floating(query=query, key=key, value=value)
    for name, one in {"query": query, "key": key, "value": value}.items():
        if one.dim() != 4:
            raise ValueError(f"{name} must be (B, heads, length, features), got shape {tuple(one.shape)}")
    check_same_width(query, key)
    batch, heads, length, _ = query.shape
    groups, keys = key.shape[1:3]
    if key.shape[:3] != value.shape[:3] or key.shape[0] != batch:
        listed = f"query {tuple(query.shape)}, key {tuple(key.shape)}, value {tuple(value.shape)}"
        raise ValueError(f"all must have one batch size, key and value as many heads and positions, got {listed}")
    if groups == 0 or heads % groups:
        raise ValueError(f"the number of query heads must be a multiple of the key heads', got {heads} and {groups}")
    if attn_mask is not None:
        check_mask("attn_mask", attn_mask, (batch, heads, length, keys))
    # solution: begin
    grouped = query.unflatten(1, (groups, heads // groups))  # (B, G, H / G, L, d_k)
    if attn_mask is not None:
        attn_mask = attn_mask.expand(batch, heads, length, keys).unflatten(1, (groups, heads // groups))
    output, weights = scaled_dot_product_attention(grouped, key.unsqueeze(2), value.unsqueeze(2), attn_mask)
    return output.flatten(1, 2), weights.flatten(1, 2)
    # solution: end


class KeyValueCache:
    """The keys and values of all steps so far, so that decoding computes each of them once.

    max_length: how many positions it holds at most
    Raises ValueError for a max_length below 1.
    """

    def __init__(self, max_length: int) -> None:
        check_length("max_length", max_length, least=1)
        self.max_length = max_length
        # solution: begin
        self.key: Tensor | None = None
        self.value: Tensor | None = None
        # solution: end

    @property
    def length(self) -> int:
        """How many positions it holds so far: 0 when new."""
        # solution: begin
        return 0 if self.key is None else self.key.shape[-2]
        # solution: end

    def append(self, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """Add the keys (..., T, d_k) and values (..., T, d_v) of the next T positions.

        Returns all keys and all values so far, along dim -2. What was returned earlier never changes.
        Raises ValueError where there is no room left, which leaves the cache as it was, or where the shapes do not fit;
        TypeError for a wrong dtype.
        """
        check_floating(key=key, value=value)
        check_sequence(key=key, value=value)
        if key.shape[:-1] != value.shape[:-1]:
            raise ValueError(
                f"key and value must agree but for their last axis, got {tuple(key.shape)} and {tuple(value.shape)}"
            )
        # solution: begin
        keys, values = (key,), (value,)
        if self.key is not None:
            for name, came, held in (("key", key, self.key), ("value", value, self.value)):
                if (came.shape[:-2], came.shape[-1]) != (held.shape[:-2], held.shape[-1]):
                    raise ValueError(
                        f"{name} must be like those in the cache but for its length, {tuple(held.shape)}, "
                        f"got {tuple(came.shape)}"
                    )
            check_floating(the_cache=self.key, key=key)
            keys, values = (self.key, key), (self.value, value)
        length = sum(one.shape[-2] for one in keys)
        if length > self.max_length:
            raise ValueError(
                f"the cache holds {self.max_length} positions, these would be {length}; give it a larger max_length"
            )
        # New tensors: a copy of the cache per step, which attention reads as a whole in any case.
        self.key, self.value = torch.cat(keys, dim=-2), torch.cat(values, dim=-2)
        return self.key.clone(), self.value.clone()  # whoever edits these does not edit the cache
        # solution: end


def triton_attention(query: Tensor, key: Tensor, value: Tensor, is_causal: bool = False) -> Tensor:
    """softmax(Q Kᵀ / √d) V in one kernel on the GPU, forward and backward   (Dao 2023).

    query: (B, H, L, d); key, value: (B, H, S, d), on a GPU, float16 or bfloat16, d one of 16, 32, 64 or 128
    is_causal: True hides the future, aligned to the end as in blockwise_attention
    Returns the output (B, H, L, d). A query that may attend to nothing gets zeros. It is no part of an exercise.
    Raises RuntimeError where there is no suitable GPU or no Triton, ValueError where the shapes do not fit, TypeError
    for another dtype.
    """
    check_floating(query=query, key=key, value=value)
    fits = query.dim() == key.dim() == 4 and key.shape == value.shape
    if not fits or (*query.shape[:2], query.shape[3]) != (*key.shape[:2], key.shape[3]):
        listed = f"query {tuple(query.shape)}, key {tuple(key.shape)}, value {tuple(value.shape)}"
        raise ValueError(f"query must be (B, H, L, d), key and value (B, H, S, d), got {listed}")
    if query.shape[3] not in (16, 32, 64, 128):
        raise ValueError(f"d must be 16, 32, 64 or 128, got {query.shape[3]}; use blockwise_attention")
    if query.dtype not in (torch.float16, torch.bfloat16):
        raise TypeError(
            f"the dtype must be float16 or bfloat16, got {query.dtype}; use blockwise_attention, or convert"
        )
    interpreted = os.environ.get("TRITON_INTERPRET") == "1"  # Triton's own way to run a kernel without a GPU, for tests
    devices = sorted({str(x.device) for x in (query, key, value)})
    if not interpreted and (len(devices) > 1 or query.device.type != "cuda"):
        raise RuntimeError(f"all must be on one CUDA GPU, got {' and '.join(devices)}; use blockwise_attention there")
    if interpreted and query.dtype == torch.bfloat16:
        raise RuntimeError("Triton's interpreter multiplies the bit patterns of bfloat16; use float16 there")
    if not interpreted and query.dtype == torch.bfloat16 and torch.cuda.get_device_capability(query.device) < (8, 0):
        name = torch.cuda.get_device_name(query.device)
        raise RuntimeError(f"bfloat16 needs a GPU of compute capability 8.0 or higher, got {name}; use float16 there")
    try:
        from ._triton_attention import attention
    except ImportError as error:
        raise RuntimeError(
            f"triton_attention needs Triton, which comes with torch for CUDA on Linux, got: {error}; use "
            "blockwise_attention"
        ) from None
    return attention(query, key, value, is_causal)
