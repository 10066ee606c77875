# Generated: write your answers where it raises NotImplementedError. As it was handed out: 302fa9f175af
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
    raise NotImplementedError("exercise 11.1: Softmax in one pass")


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
    raise NotImplementedError("exercise 11.4: Two parts of the keys become one")


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
    raise NotImplementedError("exercise 11.2: Attention block by block")


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
    raise NotImplementedError("exercise 11.3: The backward pass, block by block")


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
    raise NotImplementedError("exercise 11.5: Heads that share keys and values")


class KeyValueCache:
    """The keys and values of all steps so far, so that decoding computes each of them once.

    max_length: how many positions it holds at most
    Raises ValueError for a max_length below 1.
    """

    def __init__(self, max_length: int) -> None:
        check_length("max_length", max_length, least=1)
        self.max_length = max_length
        raise NotImplementedError("exercise 10.1: A cache of keys and values")

    @property
    def length(self) -> int:
        """How many positions it holds so far: 0 when new."""
        raise NotImplementedError("exercise 10.1: A cache of keys and values")

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
        raise NotImplementedError("exercise 10.1: A cache of keys and values")


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
