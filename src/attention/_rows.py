# Generated: given, with nothing to write in it. As it was handed out: 6879ae1c34d2
"""Attention for some queries at a time: the weights of all queries are never there at once."""

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from .dot_product import scaled_dot_product_attention

ROWS = 128  # queries at a time


def in_transform() -> bool:
    """Whether torch.vmap or another transform of torch.func is at work, which has to see each operation."""
    return bool(torch._C._are_functorch_transforms_active())


def attention_by_rows(
    query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None = None, dropout_p: float = 0.0
) -> tuple[Tensor, None]:
    """scaled_dot_product_attention's output, and None in place of its weights.

    Nothing of size (L, S) is made, nor kept for the backward pass, which computes the weights again (Chen et al. 2016).
    A graph is left whole: its compiler decides what is kept.
    """
    length = query.shape[-2]
    if torch.compiler.is_compiling() or length <= ROWS:
        return scaled_dot_product_attention(query, key, value, attn_mask, dropout_p)[0], None
    mask = None if attn_mask is None else attn_mask.expand(*query.shape[:-1], key.shape[-2])
    # torch.func does not know of tensors that are computed again.
    again = torch.is_grad_enabled() and not in_transform()
    parts = []
    for start in range(0, length, ROWS):
        rows = slice(start, start + ROWS)
        given = query[..., rows, :], key, value, None if mask is None else mask[..., rows, :], dropout_p
        parts.append(checkpoint(_output, *given, use_reentrant=False) if again else _output(*given))
    return torch.cat(parts, dim=-2), None


def _output(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, dropout_p: float) -> Tensor:
    return scaled_dot_product_attention(query, key, value, mask, dropout_p)[0]
