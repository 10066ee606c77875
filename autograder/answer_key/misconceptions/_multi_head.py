"""A whole multi-head attention in small parts: a wrong one replaces one of them."""

from __future__ import annotations

import math

from torch import nn
from torch.nn import functional as F

from ..reference_package import reference, reference_module

reference("multi_head.MultiHeadAttention")  # imports the package
given = reference_module("_arguments")
masked_softmax = reference("masks.masked_softmax")


def split(x, num_heads):
    """(B, L, d_model) → (B, H, L, d_head)."""
    return x.reshape(*x.shape[:2], num_heads, -1).transpose(1, 2)


def merge(x):
    """(B, H, L, d_head) → (B, L, d_model)."""
    return x.transpose(1, 2).flatten(-2)


class Parts(nn.Module):
    """The argument checks that the stub gives, and each step of the answer as a method of its own."""

    def __init__(self, d_model, num_heads, dropout=0.0, bias=True):
        super().__init__()
        given.check_heads(d_model, num_heads)
        given.check_probability("dropout", dropout)
        self.d_model, self.num_heads, self.d_head = d_model, num_heads, d_model // num_heads
        self.dropout = dropout
        self.build(d_model, bias)

    def build(self, d_model, bias):
        for name in ("q_proj", "k_proj", "v_proj", "out_proj"):
            setattr(self, name, nn.Linear(d_model, d_model, bias=bias))

    def forward(self, query, key, value, attn_mask=None, key_mask=None):
        given.check_floating(query=query, key=key, value=value)
        given.check_batched(query=query, key=key, value=value)
        given.check_width(self, self.d_model, query=query, key=key, value=value)
        if key.shape[:2] != value.shape[:2] or query.shape[0] != key.shape[0]:
            raise ValueError("all must have one batch size, key and value one length")
        if attn_mask is not None:
            shape = (len(query), self.num_heads, query.shape[1], key.shape[1])
            given.check_mask("attn_mask", attn_mask, shape)
        if key_mask is not None:
            given.check_key_mask(key_mask, key.shape[:2])
        return self.attend(query, key, value, attn_mask, key_mask)

    def attend(self, query, key, value, attn_mask, key_mask):
        q, k, v = (self.split(x) for x in self.project(query, key, value))
        weights = self.weigh(self.score(q, k), self.join(attn_mask, key_mask))
        output = self.mix(weights, v)
        return self.finish(self.merge(output)), weights

    def project(self, query, key, value):
        return self.q_proj(query), self.k_proj(key), self.v_proj(value)

    def split(self, x):
        return split(x, self.num_heads)

    def score(self, q, k):
        return q @ k.mT / math.sqrt(q.shape[-1])

    def join(self, attn_mask, key_mask):
        if key_mask is None:
            return attn_mask
        key_mask = key_mask[:, None, None, :]
        return key_mask if attn_mask is None else attn_mask & key_mask

    def weigh(self, scores, mask):
        return masked_softmax(scores, mask)

    def drop(self, weights):
        return F.dropout(weights, self.dropout, self.training)

    def mix(self, weights, v):
        return self.drop(weights) @ v

    def merge(self, x):
        return merge(x)

    def finish(self, merged):
        return self.out_proj(merged)
