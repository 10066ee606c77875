# Generated: write your answers where it raises NotImplementedError. As it was handed out: d3b5d0147af2
"""Multi-head attention: several attentions side by side, each with projections of its own from all features."""

import torch
from torch import Tensor, nn

from ._argument_kinds import check_attention_layers
from ._arguments import (
    check_batched,
    check_floating,
    check_heads,
    check_key_mask,
    check_mask,
    check_probability,
    check_same_attention,
    check_width,
)


__all__ = ["MultiHeadAttention", "load_torch_weights", "merge_heads", "split_heads"]


def split_heads(x: Tensor, num_heads: int) -> Tensor:
    """Cut the features into heads: head h gets the columns h · d_head … (h + 1) · d_head - 1.

    x: (B, L, d_model); num_heads: H, a divisor of d_model
    Returns (B, H, L, d_head) with d_head = d_model / H.
    Raises ValueError for another number of axes or a d_model that H does not divide, TypeError for a wrong dtype.
    Source: Vaswani et al. 2017, section 3.2.2.
    """
    check_floating(x=x)
    check_batched(x=x)
    check_heads(x.shape[-1], num_heads)
    raise NotImplementedError("exercise 5.1: Splitting into heads")


def merge_heads(x: Tensor) -> Tensor:
    """Put the heads side by side again: the inverse of split_heads.

    x: (B, H, L, d_head)
    Returns (B, L, d_model) with d_model = H · d_head.
    Raises ValueError for another number of axes, TypeError for a wrong dtype.
    """
    check_floating(x=x)
    if x.dim() != 4:
        raise ValueError(f"x must be (B, H, L, d_head), four axes, got shape {tuple(x.shape)}")
    raise NotImplementedError("exercise 5.2: Merging heads")


class MultiHeadAttention(nn.Module):
    """concat(head_1, …, head_H) W_O, where head_h = attention(Q W_Q^h, K W_K^h, V W_V^h)   (Vaswani et al. 2017).

    The H projections W_Q^h, each (d_model, d_head), stand side by side in one linear layer `q_proj`; likewise
    `k_proj` and `v_proj`. W_O is `out_proj`. Each of the four maps d_model to d_model.

    d_model: width of queries, keys, values and output; num_heads: H, a divisor of d_model
    dropout: probability with which a weight used for the output is zeroed, in training only
    bias: whether the four projections add one
    Raises ValueError for a num_heads that does not divide d_model or a dropout that is no probability.
    """

    def __init__(self, d_model: int, num_heads: int, dropout: float = 0.0, bias: bool = True) -> None:
        super().__init__()
        check_heads(d_model, num_heads)
        check_probability("dropout", dropout)
        self.d_model, self.num_heads = d_model, num_heads
        raise NotImplementedError("exercise 5.3: Multi-head attention")

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        attn_mask: Tensor | None = None,
        key_mask: Tensor | None = None,
        *,
        need_weights: bool = True,
    ) -> tuple[Tensor, Tensor | None]:
        """Attend from each query to all keys, in every head.

        query: (B, L, d_model); key, value: (B, S, d_model)
        attn_mask: bool, broadcastable to (B, H, L, S), True = attend
        key_mask: bool (B, S), True at real tokens; with attn_mask both must allow
        need_weights: False allows None in place of the weights, which then need not all be held; no check asks for it
        Returns output (B, L, d_model) and weights (B, H, L, S), the weights as they were before dropout.
        A query that may attend to nothing gets zero weights; its output is the bias of out_proj.
        Raises ValueError where the shapes do not fit, TypeError for a wrong dtype.
        """
        check_floating(query=query, key=key, value=value)
        check_batched(query=query, key=key, value=value)
        check_width(self, self.d_model, query=query, key=key, value=value)
        if key.shape[:2] != value.shape[:2] or query.shape[0] != key.shape[0]:
            listed = f"query {tuple(query.shape)}, key {tuple(key.shape)}, value {tuple(value.shape)}"
            raise ValueError(f"all must have one batch size, key and value one length, got {listed}")
        if attn_mask is not None:
            check_mask("attn_mask", attn_mask, (len(query), self.num_heads, query.shape[1], key.shape[1]))
        if key_mask is not None:
            check_key_mask(key_mask, key.shape[:2])
        raise NotImplementedError("exercise 5.3: Multi-head attention")


def load_torch_weights(module: nn.Module, reference: nn.MultiheadAttention) -> None:
    """Copy the weights of torch's own layer in, so that the two agree to rounding.

    module: has the linear layers q_proj, k_proj, v_proj and out_proj, as MultiHeadAttention does; changed in place
    reference: its in_proj_weight (3 · d_model, d_model) holds W_Q, W_K and W_V below each other, in this order, and
        in_proj_bias (3 · d_model,) their biases; out_proj is a linear layer of its own
    Raises ValueError where widths or numbers of heads differ, where only one of the two has biases, and for a reference
    with a kdim or vdim of its own, add_bias_kv or add_zero_attn; TypeError for another kind of reference or module.
    """
    check_attention_layers(module, reference)
    d_model = reference.embed_dim
    if reference.in_proj_weight is None:
        raise ValueError(
            f"reference must have keys and values as wide as its queries, {d_model}; its kdim or vdim differs"
        )
    if module.q_proj.weight.shape != (d_model, d_model):
        raise ValueError(f"module must be as wide as reference, {d_model}, got {module.q_proj.weight.shape[0]}")
    if (module.q_proj.bias is None) != (reference.in_proj_bias is None):
        raise ValueError("module and reference must both have biases or both have none; pass the same bias=")
    check_same_attention(module, reference)
    raise NotImplementedError("exercise 5.4: Torch's packed weights")
