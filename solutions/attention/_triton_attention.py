"""FlashAttention as Triton kernels: forward, and backward from the saved log-sum-exp   (Dao 2023).

One program of `_forward` owns a block of queries and walks along the keys with an online softmax. Backward computes the
weights again: `_of_queries` owns a block of queries, `_of_keys` a block of keys, and each walks along the other.
Powers are taken of 2, the scores times log2(e), for that is what the GPU has an instruction for. Sums are float32.
Blocks move through tensor descriptors: beyond the end of a head zeros are read and nothing is written. From Hopper on
the tensor memory accelerator copies them. No padding mask: it would be loaded block by block, where two comparisons do
now. No shared heads of keys: `_of_keys` would walk along several heads of queries; repeat_interleave gives the same.
"""

import math
from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor
from triton.tools.tensor_descriptor import TensorDescriptor

INTERPRETED = triton.knobs.runtime.interpret  # TRITON_INTERPRET=1: NumPy carries the kernels out, on the CPU
LN_2 = tl.constexpr(math.log(2.0))
LOWEST = tl.constexpr(-1e38)  # below every score, yet finite: -inf - LOWEST is -inf and not NaN


def attention(query: Tensor, key: Tensor, value: Tensor, is_causal: bool = False) -> Tensor:
    """See `attention.efficient.triton_attention`, which has checked the arguments."""
    if 0 in query.shape or 0 in key.shape:
        return (query @ key.mT) @ value  # no query gives nothing, no key gives zeros; a kernel has nothing to do
    return _Attention.apply(query, key, value, bool(is_causal))


@triton.jit
def _load(block, head, start, heads, SIZE: tl.constexpr, WIDTH: tl.constexpr):
    return block.load([head // heads, head % heads, start, 0]).reshape(SIZE, WIDTH)


@triton.jit
def _store(block, head, start, heads, rows, SIZE: tl.constexpr, WIDTH: tl.constexpr):
    block.store([head // heads, head % heads, start, 0], rows.to(block.dtype).reshape(1, 1, SIZE, WIDTH))


@triton.jit
def _described(source, strides, batch, heads, length, SIZE: tl.constexpr, WIDTH: tl.constexpr):
    """(batch, heads, length, WIDTH) by blocks of SIZE rows: the host's descriptor, or one of a pointer and strides."""
    if isinstance(source, tl.tensor_descriptor):
        return source
    else:
        return tl.make_tensor_descriptor(
            source, [batch, heads, length, WIDTH], [strides[0], strides[1], strides[2], 1], [1, 1, SIZE, WIDTH]
        )  # the 1 stands here: in a variable it would be no constant


@triton.jit
def _place(length, SIZE: tl.constexpr, LAST_FIRST: tl.constexpr):
    """Which head this program works for, and where its block begins; with LAST_FIRST the last blocks start first."""
    blocks = tl.cdiv(length, SIZE)
    head, block = tl.program_id(0) // blocks, tl.program_id(0) % blocks
    # The last see most keys: so none of them is left over when the others are done.
    return head, ((blocks - 1 - block) if LAST_FIRST else block) * SIZE


@triton.jit
def _seen(rows, columns, keys, shift, CAUSAL: tl.constexpr):
    """True where row may attend to column; both broadcast. Causal is aligned to the end: shift = S - L."""
    seen = columns < keys
    if CAUSAL:
        seen = seen & (columns <= rows + shift)
    return seen


@triton.jit
def _key_ranges(start, keys, shift, ROWS: tl.constexpr, COLUMNS: tl.constexpr, CAUSAL: tl.constexpr):
    """Of the keys that rows start … start + ROWS - 1 see: where whole blocks seen by all of them end, where all end."""
    whole = tl.maximum(tl.minimum(start + shift + 1, keys), 0) if CAUSAL else keys
    end = tl.maximum(tl.minimum(start + shift + ROWS, keys), 0) if CAUSAL else keys
    return whole // COLUMNS * COLUMNS, end


@triton.jit
def _attend(total, largest, summed, query, key, value, head, heads, rows, start, end, keys, shift, scale,
            MASKED: tl.constexpr, CAUSAL: tl.constexpr, COLUMNS: tl.constexpr, WIDTH: tl.constexpr):  # fmt: skip
    """The online softmax over the keys from start to end."""
    for column in tl.range(start, end, COLUMNS):
        scores = tl.dot(query, _load(key, head, column, heads, COLUMNS, WIDTH).T)  # (ROWS, COLUMNS), not scaled yet
        if MASKED:
            seen = _seen(rows[:, None], (column + tl.arange(0, COLUMNS))[None, :], keys, shift, CAUSAL)
            scores = tl.where(seen, scores, -float("inf"))
        new = tl.maximum(largest, tl.max(scores, 1) * scale)
        weights = tl.exp2(scores * scale - new[:, None])  # scaled and shifted in one instruction
        shrink = tl.exp2(largest - new)
        total = total * shrink + tl.sum(weights, 1)
        values = _load(value, head, column, heads, COLUMNS, WIDTH)
        summed = tl.dot(weights.to(values.dtype), values, summed * shrink[:, None])
        largest = new
    return total, largest, summed


@triton.jit(do_not_specialize=["batch", "heads", "length", "keys", "bucket", "kind"])
def _forward(query, key, value, output, log_sum, batch, heads, length, keys, bucket, kind, scale, strides,
             CAUSAL: tl.constexpr, WIDTH: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):  # fmt: skip
    head, start = _place(length, ROWS, CAUSAL)
    query = _described(query, strides[0], batch, heads, length, ROWS, WIDTH)
    output = _described(output, strides[3], batch, heads, length, ROWS, WIDTH)
    key = _described(key, strides[1], batch, heads, keys, COLUMNS, WIDTH)
    value = _described(value, strides[2], batch, heads, keys, COLUMNS, WIDTH)
    rows, shift = start + tl.arange(0, ROWS), keys - length
    whole, end = _key_ranges(start, keys, shift, ROWS, COLUMNS, CAUSAL)
    total, largest = tl.zeros([ROWS], tl.float32), tl.full([ROWS], LOWEST, tl.float32)
    summed = tl.zeros([ROWS, WIDTH], tl.float32)
    q = _load(query, head, start, heads, ROWS, WIDTH)
    total, largest, summed = _attend(total, largest, summed, q, key, value, head, heads, rows, 0, whole, keys,
                                     shift, scale, False, CAUSAL, COLUMNS, WIDTH)  # fmt: skip
    total, largest, summed = _attend(total, largest, summed, q, key, value, head, heads, rows, whole, end, keys,
                                     shift, scale, True, CAUSAL, COLUMNS, WIDTH)  # fmt: skip
    some = total > 0  # a query that sees no key gives zeros, and in backward exp2(score - inf) = 0
    total = tl.where(some, total, 1.0)
    _store(output, head, start, heads, summed / total[:, None], ROWS, WIDTH)
    logarithm = tl.where(some, largest + tl.log2(total), float("inf"))
    tl.store(log_sum + head.to(tl.int64) * length + rows, logarithm, rows < length)


@triton.jit
def _gather_queries(of_query, q, above, logarithm, row_sums, key, value, head, heads, rows, start, end, keys, shift,
    scale, MASKED: tl.constexpr, CAUSAL: tl.constexpr, COLUMNS: tl.constexpr, WIDTH: tl.constexpr):  # fmt: skip
    """What the keys from start to end add to the gradient of a block of queries."""
    for column in tl.range(start, end, COLUMNS):
        k, v = _load(key, head, column, heads, COLUMNS, WIDTH), _load(value, head, column, heads, COLUMNS, WIDTH)
        weights = tl.exp2(tl.dot(q, k.T) * scale - logarithm[:, None])
        if MASKED:
            seen = _seen(rows[:, None], (column + tl.arange(0, COLUMNS))[None, :], keys, shift, CAUSAL)
            weights = tl.where(seen, weights, 0.0)
        of_scores = weights * (tl.dot(above, v.T) - row_sums[:, None])
        of_query = tl.dot(of_scores.to(k.dtype), k, of_query)
    return of_query


@triton.jit(do_not_specialize=["batch", "heads", "length", "keys", "bucket", "kind"])
def _of_queries(query, key, value, output, upstream, log_sum, sums, of_query, batch, heads, length, keys, bucket, kind,
                scale, strides,
                CAUSAL: tl.constexpr, WIDTH: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):  # fmt: skip
    """Also writes the row sums, Σ over the features of output · upstream, that `_of_keys` reads."""
    head, start = _place(length, ROWS, CAUSAL)
    query = _described(query, strides[0], batch, heads, length, ROWS, WIDTH)
    output = _described(output, strides[3], batch, heads, length, ROWS, WIDTH)
    upstream = _described(upstream, strides[4], batch, heads, length, ROWS, WIDTH)
    of_query = _described(of_query, strides[7], batch, heads, length, ROWS, WIDTH)
    key = _described(key, strides[1], batch, heads, keys, COLUMNS, WIDTH)
    value = _described(value, strides[2], batch, heads, keys, COLUMNS, WIDTH)
    rows, shift = start + tl.arange(0, ROWS), keys - length
    places = head.to(tl.int64) * length + rows
    logarithm = tl.load(log_sum + places, rows < length, float("inf"))
    q, above = _load(query, head, start, heads, ROWS, WIDTH), _load(upstream, head, start, heads, ROWS, WIDTH)
    row_sums = tl.sum(_load(output, head, start, heads, ROWS, WIDTH).to(tl.float32) * above.to(tl.float32), 1)
    tl.store(sums + places, row_sums, rows < length)
    whole, end = _key_ranges(start, keys, shift, ROWS, COLUMNS, CAUSAL)
    dq = tl.zeros([ROWS, WIDTH], tl.float32)
    dq = _gather_queries(dq, q, above, logarithm, row_sums, key, value, head, heads, rows, 0, whole, keys,
                         shift, scale, False, CAUSAL, COLUMNS, WIDTH)  # fmt: skip
    dq = _gather_queries(dq, q, above, logarithm, row_sums, key, value, head, heads, rows, whole, end, keys,
                         shift, scale, True, CAUSAL, COLUMNS, WIDTH)  # fmt: skip
    _store(of_query, head, start, heads, dq * (scale * LN_2), ROWS, WIDTH)


@triton.jit
def _gather_keys(of_key, of_value, k, v, query, upstream, log_sum, sums, head, heads, columns, start, end, length, keys,
    shift, scale, MASKED: tl.constexpr, CAUSAL: tl.constexpr, ROWS: tl.constexpr, WIDTH: tl.constexpr):  # fmt: skip
    """What the queries from start to end add to the gradients of a block of keys; all matrices (COLUMNS, ROWS)."""
    for row in tl.range(start, end, ROWS):
        rows = row + tl.arange(0, ROWS)
        q, above = _load(query, head, row, heads, ROWS, WIDTH), _load(upstream, head, row, heads, ROWS, WIDTH)
        logarithm = tl.load(log_sum + rows, rows < length, float("inf"))  # beyond the end every weight is 0
        weights = tl.exp2(tl.dot(k, q.T) * scale - logarithm[None, :])
        if MASKED:
            weights = tl.where(_seen(rows[None, :], columns[:, None], keys, shift, CAUSAL), weights, 0.0)
        of_value = tl.dot(weights.to(above.dtype), above, of_value)
        of_scores = weights * (tl.dot(v, above.T) - tl.load(sums + rows, rows < length, 0.0)[None, :])
        of_key = tl.dot(of_scores.to(q.dtype), q, of_key)
    return of_key, of_value


@triton.jit(do_not_specialize=["batch", "heads", "length", "keys", "bucket", "kind"])
def _of_keys(query, key, value, upstream, log_sum, sums, of_key, of_value, batch, heads, length, keys, bucket, kind,
             scale, strides,
             CAUSAL: tl.constexpr, WIDTH: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):  # fmt: skip
    head, start = _place(keys, COLUMNS, False)  # the first keys, which most queries see, come first
    query = _described(query, strides[0], batch, heads, length, ROWS, WIDTH)
    upstream = _described(upstream, strides[3], batch, heads, length, ROWS, WIDTH)
    key = _described(key, strides[1], batch, heads, keys, COLUMNS, WIDTH)
    value = _described(value, strides[2], batch, heads, keys, COLUMNS, WIDTH)
    of_key = _described(of_key, strides[6], batch, heads, keys, COLUMNS, WIDTH)
    of_value = _described(of_value, strides[7], batch, heads, keys, COLUMNS, WIDTH)
    k, v = _load(key, head, start, heads, COLUMNS, WIDTH), _load(value, head, start, heads, COLUMNS, WIDTH)
    log_sum, sums = log_sum + head.to(tl.int64) * length, sums + head.to(tl.int64) * length
    columns, shift = start + tl.arange(0, COLUMNS), keys - length
    dk, dv = tl.zeros([COLUMNS, WIDTH], tl.float32), tl.zeros([COLUMNS, WIDTH], tl.float32)
    whole = 0  # from this query on, all of them see the whole block
    if CAUSAL:
        first = tl.maximum(start - shift, 0) // ROWS * ROWS
        whole = tl.minimum(tl.cdiv(tl.maximum(start + COLUMNS - 1 - shift, 0), ROWS) * ROWS, length)
        dk, dv = _gather_keys(dk, dv, k, v, query, upstream, log_sum, sums, head, heads, columns, first, whole, length,
                              keys, shift, scale, True, CAUSAL, ROWS, WIDTH)  # fmt: skip
    dk, dv = _gather_keys(dk, dv, k, v, query, upstream, log_sum, sums, head, heads, columns, whole, length, length,
                          keys, shift, scale, False, CAUSAL, ROWS, WIDTH)  # fmt: skip
    _store(of_key, head, start, heads, dk * (scale * LN_2), COLUMNS, WIDTH)
    _store(of_value, head, start, heads, dv, COLUMNS, WIDTH)


def _fit(arguments: dict[str, Any]) -> None:
    """Give the host's descriptors the block that the configuration asks for."""
    for name, source in arguments.items():
        if isinstance(source, TensorDescriptor):
            rows = arguments["ROWS" if name in ("query", "output", "upstream", "of_query") else "COLUMNS"]
            source.block_shape = [1, 1, rows, arguments["WIDTH"]]


# What is tried, as (rows, columns, warps, stages), on GPUs below 8.0 (T4), of 8.x (A100, L4) and from 9.0 on (Hopper),
# for heads up to 64 wide and for 128. None spills with Triton 3.9. Hopper's are the fastest of 135 on an H200.
_TWO, _SMALL, _TALL, _WIDE = (64, 64, 4, 2), (64, 64, 4, 3), (128, 64, 8, 3), (64, 128, 4, 3)
_EVEN, _LOW = (64, 64, 8, 2), (64, 32, 4, 3)
CHOICES: dict[str, dict[tuple[int, int], tuple[tuple[int, int, int, int], ...]]] = {
    "_forward": {
        (7, 64): ((64, 32, 8, 1),), (7, 128): ((32, 32, 8, 1),),
        (8, 64): (_SMALL, _TALL, (128, 32, 4, 3)), (8, 128): (_EVEN, (128, 32, 8, 3), _LOW),
        (9, 64): (_TWO, _SMALL, _WIDE, (64, 128, 4, 2), (128, 64, 4, 3)),
        (9, 128): (_TWO, _SMALL, _TALL, (128, 64, 4, 2), (128, 128, 8, 3)),
    },
    "_of_queries": {
        (7, 64): ((32, 32, 8, 1),), (7, 128): ((16, 16, 8, 1),),
        (8, 64): (_LOW, (128, 32, 8, 3)), (8, 128): (_EVEN, _LOW),
        (9, 64): (_TWO, _WIDE, _TALL, (128, 64, 4, 3)), (9, 128): (_TWO, _WIDE, _TALL),
    },
    "_of_keys": {
        (7, 64): ((16, 32, 8, 1),), (7, 128): ((16, 16, 8, 1),),
        (8, 64): (_LOW, (16, 64, 4, 3), (16, 128, 8, 3)), (8, 128): (_EVEN, (32, 64, 8, 3)),
        (9, 64): (_TWO, (128, 64, 4, 2), (32, 128, 4, 2)), (9, 128): (_TWO, (64, 128, 8, 2), (64, 128, 8, 3)),
    },
}  # fmt: skip


def _tuned(kernel: Any) -> Any:
    """The kernel; the fastest of its choices is found anew for each width, dtype and order of magnitude of length."""
    mine = CHOICES[kernel.__name__]

    def here(configs: list[triton.Config], given: dict[str, Any], **named: Any) -> list[triton.Config]:
        generation = min(max(torch.cuda.get_device_capability()[0], 7), 9)
        chosen = mine[generation, 64 if (given | named)["WIDTH"] <= 64 else 128]
        return [one for one in configs if (*one.kwargs.values(), one.num_warps, one.num_stages) in chosen]

    choices = [*dict.fromkeys(choice for some in mine.values() for choice in some)]
    configs = [
        triton.Config({"ROWS": rows, "COLUMNS": columns}, num_warps=warps, num_stages=stages, pre_hook=_fit)
        for rows, columns, warps, stages in (choices[:1] if INTERPRETED else choices)
    ]
    return triton.autotune(configs, ["WIDTH", "CAUSAL", "bucket", "kind"], {"early_config_prune": here})(kernel)


_forward, _of_queries, _of_keys = _tuned(_forward), _tuned(_of_queries), _tuned(_of_keys)


def _aligned(x: Tensor) -> Tensor:
    """x itself where a descriptor can describe it, as what split_heads gives; else a copy."""
    fits = x.stride(3) == 1 and all(step and step % 8 == 0 for step in x.stride()[:3]) and x.data_ptr() % 16 == 0
    return x if fits else x.clone(memory_format=torch.contiguous_format)


def _launch(kernel: Any, over: str, is_causal: bool, *tensors: Tensor) -> None:
    """Run a kernel, one program for each block of each head: over "ROWS" of queries or "COLUMNS" of keys."""
    query, (batch, heads, length, width), keys = tensors[0], tensors[0].shape, tensors[1].shape[2]
    count, scale = length if over == "ROWS" else keys, math.log2(math.e) / math.sqrt(width)
    strides = tuple(tuple(x.stride()[:3]) for x in tensors)  # tuned anew per dtype and where a side is 4 times as long
    bucket, kind = min(max((max(length, keys) - 1).bit_length(), 8), 14) // 2, int(query.dtype == torch.bfloat16)
    if not INTERPRETED and torch.cuda.get_device_capability(query.device) >= (9, 0):
        tensors = [TensorDescriptor.from_tensor(x, [1, 1, 1, width]) if x.dim() == 4 else x for x in tensors]
    with torch.cuda.device_of(query):
        kernel[lambda chosen: (batch * heads * triton.cdiv(count, chosen[over]),)](
            *tensors, batch, heads, length, keys, bucket, kind, scale, strides, CAUSAL=is_causal, WIDTH=width
        )


class _Attention(torch.autograd.Function):
    @staticmethod
    def forward(ctx, query: Tensor, key: Tensor, value: Tensor, is_causal: bool) -> Tensor:
        query, key, value = (_aligned(x) for x in (query, key, value))
        output, log_sum = torch.empty_like(query), query.new_empty(query.shape[:3], dtype=torch.float32)
        _launch(_forward, "ROWS", is_causal, query, key, value, output, log_sum)
        ctx.save_for_backward(query, key, value, output, log_sum)
        ctx.is_causal = is_causal
        return output

    @staticmethod
    def backward(ctx, upstream: Tensor) -> tuple[Tensor | None, ...]:
        if torch.is_grad_enabled():  # create_graph=True
            text = "the kernels have no second derivative, which create_graph asks for; use blockwise_attention"
            raise RuntimeError(text)
        query, key, value, output, log_sum = ctx.saved_tensors
        upstream, sums = _aligned(upstream), torch.empty_like(log_sum)
        of_query, of_key, of_value = (torch.empty_like(x) for x in (query, key, value))
        _launch(_of_queries, "ROWS", ctx.is_causal, query, key, value, output, upstream, log_sum, sums, of_query)
        _launch(_of_keys, "COLUMNS", ctx.is_causal, query, key, value, upstream, log_sum, sums, of_key, of_value)
        return of_query, of_key, of_value, None
