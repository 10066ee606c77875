"""The argument checks that the stubs of multi-head attention give."""

import functools

from torch import nn

from attention._arguments import (
    check_batched,
    check_floating,
    check_heads,
    check_key_mask,
    check_mask,
    check_probability,
    check_width,
)


def checked_split(function):
    @functools.wraps(function)
    def whole(x, num_heads):
        check_floating(x=x)
        check_batched(x=x)
        check_heads(x.shape[-1], num_heads)
        return function(x, num_heads)

    return whole


def checked_merge(function):
    @functools.wraps(function)
    def whole(x):
        check_floating(x=x)
        if x.dim() != 4:
            raise ValueError("x must be (B, H, L, d_head)")
        return function(x)

    return whole


def refuse_layers(module, reference):
    """ValueError where torch's layer cannot be copied into the module."""
    if reference.in_proj_weight is None or module.q_proj.weight.shape[0] != reference.embed_dim:
        raise ValueError("the widths differ")
    if (module.q_proj.bias is None) != (reference.in_proj_bias is None):
        raise ValueError("one has biases")


class Checked(nn.Module):
    """The lines of the class that are given; `attend` is the learner's forward pass, `build` what __init__ adds."""

    def __init__(self, d_model, num_heads, dropout=0.0, bias=True):
        super().__init__()
        check_heads(d_model, num_heads)
        check_probability("dropout", dropout)
        self.d_model, self.num_heads = d_model, num_heads
        self.build(d_model, num_heads, dropout, bias)

    def forward(self, query, key, value, attn_mask=None, key_mask=None):
        check_floating(query=query, key=key, value=value)
        check_batched(query=query, key=key, value=value)
        check_width(self, self.d_model, query=query, key=key, value=value)
        if key.shape[:2] != value.shape[:2] or query.shape[0] != key.shape[0]:
            raise ValueError("all must have one batch size, key and value one length")
        if attn_mask is not None:
            check_mask("attn_mask", attn_mask, (len(query), self.num_heads, query.shape[1], key.shape[1]))
        if key_mask is not None:
            check_key_mask(key_mask, key.shape[:2])
        return self.attend(query, key, value, attn_mask, key_mask)
