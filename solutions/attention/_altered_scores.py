"""Attention whose scores are changed before the softmax: given to learners, no part of any exercise."""

import math
from collections.abc import Callable

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from ._argument_kinds import check_callable
from ._arguments import (
    check_batch,
    check_flag,
    check_floating,
    check_mask,
    check_number,
    check_same_width,
    check_sequence,
)
from ._rows import ROWS, in_transform
from .masks import combine_masks, masked_softmax

Bias = Tensor | Callable[[Tensor, Tensor], Tensor]


def modified_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    is_causal: bool = False,
    attn_mask: Tensor | None = None,
    *,
    scale: float | None = None,
    softcap: float | None = None,
    bias: Bias | None = None,
) -> Tensor:
    """softmax(softcap · tanh(scale · Q Kᵀ / softcap) + bias) V, for some queries at a time, never as an (L, S) matrix.

    query: (..., L, d_k); key: (..., S, d_k); value: (..., S, d_v); is_causal, attn_mask: as in blockwise_attention
    scale: what scores are multiplied by, 1 / √d_k where it is None
    softcap: no score is larger than this   (Gemma 2, 2024); None leaves them as they are
    bias: what is added then, broadcastable to (..., L, S); or a function of the positions i (n, 1) of some queries and
        j (S,) of all keys that gives it, (..., n, S), so that nothing of size (L, S) is made. The last query is at the
        last key's position. ALiBi: `lambda i, j: -slopes[:, None, None] * (i - j).abs()`
    Returns the output (..., L, d_v). A query that may attend to nothing gets zeros; a bias of -inf hides as well.
    Raises ValueError where the shapes do not fit or softcap is not positive, TypeError for a wrong dtype.
    """
    check_floating(query=query, key=key, value=value)
    check_sequence(query=query, key=key, value=value)
    check_same_width(query, key)
    if key.shape[-2] != value.shape[-2]:
        shapes = f"{tuple(key.shape)} and {tuple(value.shape)}"
        raise ValueError(f"key and value must have the same length S, got shapes {shapes}")
    shape = (*check_batch(query=query, key=key, value=value), query.shape[-2], key.shape[-2])
    if attn_mask is not None:
        check_mask("attn_mask", attn_mask, shape)
        attn_mask = attn_mask.expand(shape)
    check_flag("is_causal", is_causal)
    for name, number in (("scale", scale), ("softcap", softcap)):
        if number is not None:
            check_number(name, number)
    if softcap is not None and not softcap > 0:
        raise ValueError(f"softcap must be positive, got {softcap}; None leaves the scores as they are")
    if isinstance(bias, Tensor):
        bias = _spread(bias, shape)
    elif bias is not None:
        check_callable("bias", bias, "from positions i (n, 1) and j (S,) to (..., n, S), or a tensor")
    length, keys = shape[-2:]
    factor = 1.0 / math.sqrt(query.shape[-1]) if scale is None else scale

    def places(start: int, stop: int) -> tuple[Tensor, Tensor]:
        positions = torch.arange(start, stop, device=query.device) + (keys - length)
        return positions[:, None], torch.arange(keys, device=query.device)

    def of_rows(start: int, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        stop, wide = start + query.shape[-2], torch.promote_types(query.dtype, torch.float32)
        mask, (i, j) = None if attn_mask is None else attn_mask[..., start:stop, :], places(start, stop)
        if is_causal:
            mask = combine_masks(mask, j <= i)
        scores = (query.to(wide) * factor) @ key.to(wide).mT
        if softcap is not None:
            scores = softcap * torch.tanh(scores / softcap)
        if isinstance(bias, Tensor):
            scores = scores + bias[..., start:stop, :]
        elif bias is not None:
            scores = scores + _spread(bias(i, j), (*shape[:-2], stop - start, keys))
        return (masked_softmax(scores, mask) @ value.to(wide)).to(value.dtype)

    again = torch.is_grad_enabled() and not (torch.compiler.is_compiling() or in_transform())
    parts = []
    for start in range(0, max(length, 1), ROWS):
        given = start, query[..., start : start + ROWS, :], key, value
        parts.append(checkpoint(of_rows, *given, use_reentrant=False) if again else of_rows(*given))
    return torch.cat(parts, dim=-2)


def _spread(bias: Tensor, shape: tuple[int, ...]) -> Tensor:
    """A bias with all its axes, nothing copied; ValueError or TypeError where it does not fit."""
    check_floating(bias=bias)
    try:
        return bias.expand(shape)
    except RuntimeError:
        raise ValueError(f"bias must broadcast to {tuple(shape)}, got {tuple(bias.shape)}") from None
