"""Attention that scales: softmax in one pass, attention in blocks, shared key heads, a cache, a GPU kernel."""

import math
import os
from collections.abc import Iterable

import torch
from torch import Tensor

from ._altered_scores import modified_attention
from ._arguments import (
    check_backward,
    check_batch,
    check_flag,
    check_floating,
    check_length,
    check_mask,
    check_partials,
    check_same_width,
    check_sequence,
    checked_chunks,
)

# solution: begin (drop)
from ._blockwise import Blocks, Blockwise
from ._rows import in_transform
from ._whole import whole_attention
from .dot_product import scaled_dot_product_attention

# solution: end

__all__ = [
    "KeyValueCache",
    "blockwise_attention",
    "blockwise_gradients",
    "grouped_query_attention",
    "merge_partials",
    "modified_attention",
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
    Scores q · k / √d_k must stay below 2.3e38, the largest float32 divided by log2(e): powers are taken of 2.
    Raises ValueError where the shapes do not fit, TypeError for a wrong dtype.
    """
    check_floating(query=query, key=key, value=value)
    check_sequence(query=query, key=key, value=value)
    check_same_width(query, key)
    check_length("block_size", block_size, least=1)
    check_flag("is_causal", is_causal)
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
    blocks = Blocks(batch, query.shape[-2], key.shape[-2], block_size, is_causal, attn_mask)
    output = whole_attention(blocks.masks, is_causal, *flat) if in_transform() else Blockwise.apply(*flat, blocks)
    return output.reshape(*batch, query.shape[-2], value.shape[-1])
    # solution: end


def blockwise_gradients(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    output: Tensor,
    log_sums: Tensor,
    upstream: Tensor,
    block_size: int = 128,
) -> tuple[Tensor, Tensor, Tensor]:
    """The gradients of softmax(Q Kᵀ / √d_k) V, block by block, never with an (L, S) matrix   (Dao et al. 2022, § 3.1).

    query: (..., L, d_k); key: (..., S, d_k); value: (..., S, d_v), with the same leading axes
    output: (..., L, d_v), what attention gave for them; log_sums: (..., L), each query's log Σ_j exp(q · k_j / √d_k)
    upstream: (..., L, d_v), the loss's gradient at the output; block_size: how many keys are looked at in one step
    Returns the loss's gradients at query, key and value, in their shapes and dtype.
    Raises ValueError where the shapes do not fit, TypeError for a wrong dtype.
    """
    check_backward(query, key, value, output, log_sums, upstream)
    check_length("block_size", block_size, least=1)
    # solution: begin
    wide, scale = torch.promote_types(query.dtype, torch.float32), 1.0 / math.sqrt(query.shape[-1])
    q, k, v, g = (x.to(wide) for x in (query, key, value, upstream))
    row_sums = (g * output.to(wide)).sum(dim=-1, keepdim=True)  # Σ_j w_ij (g_i · v_j), without the weights
    of_query, of_key, of_value = (torch.zeros_like(x) for x in (q, k, v))
    for start in range(0, k.shape[-2], block_size):
        block = (..., slice(start, start + block_size), slice(None))
        weights = torch.exp(q @ k[block].mT * scale - log_sums[..., None].to(wide))  # (..., L, block), as in forward
        of_scores = weights * (g @ v[block].mT - row_sums) * scale
        of_query += of_scores @ k[block]
        of_key[block] = of_scores.mT @ q
        of_value[block] = weights.mT @ g
    return of_query.to(query.dtype), of_key.to(query.dtype), of_value.to(query.dtype)
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
