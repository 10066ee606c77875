"""Attention with its whole matrix, in operations that torch can map and differentiate as often as it likes."""

# solution: begin (drop)
import torch
from torch import Tensor

from .dot_product import scaled_dot_product_attention
from .masks import causal_mask, combine_masks


def whole_attention(mask: Tensor | None, is_causal: bool, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """query: (N, L, d_k); key: (N, S, d_k); value: (N, S, d_v); mask: bool, as many entries as (N, L, S)

    is_causal: aligned to the end. Returns the output (N, L, d_v).
    """
    length, keys = query.shape[-2], key.shape[-2]
    if mask is not None:
        mask = mask.reshape(len(query), length, keys)
    if is_causal:
        mask = combine_masks(mask, causal_mask(length, keys, query.device))
    return scaled_dot_product_attention(query, key, value, mask)[0]


def whole_gradients(
    mask: Tensor | None, is_causal: bool, upstream: Tensor, query: Tensor, key: Tensor, value: Tensor
) -> tuple[Tensor, ...]:
    """The gradients of whole_attention's query, key and value, which have derivatives themselves."""

    def output(*given: Tensor) -> Tensor:
        return whole_attention(mask, is_causal, *given)

    return tuple(torch.func.vjp(output, query, key, value)[1](upstream))


# solution: end
