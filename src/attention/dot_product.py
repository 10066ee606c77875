# Generated: write your answers where it raises NotImplementedError. As it was handed out: b80b598e7ca3
"""Scaled dot-product attention, the operation that every Transformer repeats."""

import torch
from torch import Tensor

from ._arguments import check_batch, check_floating, check_mask, check_probability, check_same_width, check_sequence


__all__ = ["scaled_dot_product_attention"]


def scaled_dot_product_attention(
    query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None = None, dropout_p: float = 0.0
) -> tuple[Tensor, Tensor]:
    """softmax(Q Kᵀ / √d_k) V   (Vaswani et al. 2017, eq. 1).

    query: (..., L, d_k); key: (..., S, d_k); value: (..., S, d_v)
    attn_mask: bool, broadcastable to (..., L, S), True = attend
    dropout_p: probability with which a weight used for the output is zeroed; the others are divided by 1 - dropout_p
    Returns output (..., L, d_v) and weights (..., L, S), the weights as they were before dropout.
    A query that may attend to nothing gets zero weights and a zero output.
    Raises ValueError where the shapes do not fit or dropout_p is no probability, TypeError for a wrong dtype.
    """
    check_floating(query=query, key=key, value=value)
    check_sequence(query=query, key=key, value=value)
    check_same_width(query, key)
    if key.shape[-2] != value.shape[-2]:
        raise ValueError(
            f"key and value must have the same length S, got shapes {tuple(key.shape)} and {tuple(value.shape)}"
        )
    batch = check_batch(query=query, key=key, value=value)
    if attn_mask is not None:
        check_mask("attn_mask", attn_mask, (*batch, query.shape[-2], key.shape[-2]))
    check_probability("dropout_p", dropout_p)
    raise NotImplementedError("exercise 3.5: Scaled dot-product attention")
