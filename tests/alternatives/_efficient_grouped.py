"""Right attention with shared key heads in other styles."""

import functools
import math

import torch

from attention._arguments import check_floating, check_mask, check_same_width

from . import alternative


def below_given_checks(function):
    @functools.wraps(function)
    def whole(query, key, value, attn_mask=None):
        check_floating(query=query, key=key, value=value)
        if not query.dim() == key.dim() == value.dim() == 4:
            raise ValueError("four axes are wanted")
        check_same_width(query, key)
        if key.shape[:3] != value.shape[:3] or key.shape[0] != query.shape[0]:
            raise ValueError("these do not fit")
        if key.shape[1] == 0 or query.shape[1] % key.shape[1]:
            raise ValueError("these do not fit")
        if attn_mask is not None:
            check_mask("attn_mask", attn_mask, (*query.shape[:3], key.shape[2]))
        return function(query, key, value, attn_mask)

    return alternative("efficient.grouped_query_attention")(whole)


@below_given_checks
def keys_repeated(query, key, value, attn_mask):
    from attention.dot_product import scaled_dot_product_attention

    times = query.shape[1] // key.shape[1]
    key, value = (x.repeat_interleave(times, dim=1) for x in (key, value))
    return scaled_dot_product_attention(query, key, value, attn_mask)


@below_given_checks
def keys_expanded_and_reshaped(query, key, value, attn_mask):
    B, H, L, d = query.shape
    G, S = key.shape[1:3]
    key = key[:, :, None].expand(B, G, H // G, S, d).reshape(B, H, S, d)
    value = value[:, :, None].expand(B, G, H // G, S, value.shape[-1]).reshape(B, H, S, -1)
    scores = query @ key.transpose(2, 3) / math.sqrt(d)
    if attn_mask is None:
        weights = scores.softmax(-1)
    else:
        weights = torch.nan_to_num(scores.masked_fill(~attn_mask, -torch.inf).softmax(-1))
    return weights @ value, weights


@below_given_checks
def einsum_over_groups(query, key, value, attn_mask):
    from attention.masks import masked_softmax

    B, H, L, d = query.shape
    G = key.shape[1]
    scores = torch.einsum("bgnld,bgsd->bgnls", query.reshape(B, G, H // G, L, d), key) * d**-0.5
    weights = masked_softmax(scores.reshape(B, H, L, -1), attn_mask)
    output = torch.einsum("bgnls,bgsv->bgnlv", weights.reshape(scores.shape), value)
    return output.reshape(B, H, L, -1), weights


@below_given_checks
def head_by_head(query, key, value, attn_mask):
    from attention.dot_product import scaled_dot_product_attention

    heads = query.size(1)
    mask = None if attn_mask is None else attn_mask.expand(*query.shape[:3], key.shape[2])
    found = []
    for h in range(heads):
        g = h * key.size(1) // heads
        only = None if mask is None else mask[:, h]
        found.append(scaled_dot_product_attention(query[:, h], key[:, g], value[:, g], only))
    return tuple(torch.stack(parts, dim=1) for parts in zip(*found, strict=True))


@below_given_checks
def heads_of_a_group_as_more_queries(query, key, value, attn_mask):
    B, H, L, d = query.shape
    G, S = key.shape[1:3]
    scores = (query.reshape(B, G, -1, d) @ key.mT / d**0.5).reshape(B, H, L, S)
    if attn_mask is not None:
        seen = attn_mask.expand_as(scores)
        empty = ~seen.any(-1, keepdim=True)
        weights = scores.masked_fill(~(seen | empty), -torch.inf).softmax(-1) * ~empty
    else:
        weights = scores.softmax(-1)
    return (weights.reshape(B, G, -1, S) @ value).reshape(B, H, L, -1), weights
