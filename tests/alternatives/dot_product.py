"""Right attention in other styles, with and without a mask; each keeps the argument checks that the stub gives."""

import functools
import math

import torch
from torch import nn
from torch.nn import functional as F

from attention._arguments import check_batch, check_floating, check_mask, check_same_width, check_sequence

from . import alternative


def below_given_checks(function):
    @functools.wraps(function)
    def whole(query, key, value, attn_mask=None, dropout_p=0.0):
        check_floating(query=query, key=key, value=value)
        check_sequence(query=query, key=key, value=value)
        check_same_width(query, key)
        if key.shape[-2] != value.shape[-2]:
            raise ValueError("key and value must have the same length")
        batch = check_batch(query=query, key=key, value=value)
        if attn_mask is not None:
            check_mask("attn_mask", attn_mask, (*batch, query.shape[-2], key.shape[-2]))
        if not 0.0 <= dropout_p <= 1.0:
            raise ValueError("dropout_p must be a probability")
        return function(query, key, value, attn_mask, dropout_p)

    return alternative("dot_product.scaled_dot_product_attention")(whole)


@below_given_checks
def filled_and_repaired(query, key, value, attn_mask, dropout_p):
    scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(query.size(-1))
    if attn_mask is not None:
        scores = scores.masked_fill(attn_mask == 0, float("-inf"))
    weights = F.softmax(scores, dim=-1)
    weights = torch.nan_to_num(weights, nan=0.0)  # masked_fill's own backward pass stops the NaN
    return torch.matmul(F.dropout(weights, p=dropout_p), value), weights


@below_given_checks
def einsum_and_softmax_by_hand(query, key, value, attn_mask, dropout_p):
    scores = torch.einsum("...ld,...sd->...ls", query * key.shape[-1] ** -0.5, key)
    allowed = torch.ones_like(scores, dtype=torch.bool) if attn_mask is None else attn_mask.expand_as(scores)
    highest = scores.masked_fill(~allowed, torch.finfo(scores.dtype).min).amax(dim=-1, keepdim=True).detach()
    powers = torch.where(allowed, (scores - highest).clamp(max=0).exp(), torch.zeros_like(scores))
    total = powers.sum(dim=-1, keepdim=True)
    weights = powers / torch.where(total == 0, torch.ones_like(total), total)
    return torch.einsum("...ls,...sv->...lv", nn.Dropout(dropout_p)(weights), value), weights


@below_given_checks
def one_query_at_a_time(query, key, value, attn_mask, dropout_p):
    L, S = query.shape[-2], key.shape[-2]
    outputs, all_weights = [], []
    if attn_mask is not None:
        attn_mask = attn_mask.expand(*attn_mask.shape[:-2], L, S) if attn_mask.dim() > 1 else attn_mask.expand(L, S)
    for i in range(L):
        scores = (key @ query[..., i, :, None]).squeeze(-1) / math.sqrt(key.shape[-1])  # (..., S)
        if attn_mask is None:
            weights = scores.softmax(-1)
        else:
            visible = attn_mask[..., i, :]
            someone = visible.any(dim=-1, keepdim=True)
            weights = torch.where(visible | ~someone, scores, -torch.inf).softmax(-1) * someone
        keep = (torch.rand(weights.shape) >= dropout_p).to(weights.dtype)
        used = weights * keep / (1 - dropout_p) if dropout_p < 1 else torch.zeros_like(weights)
        outputs.append((used[..., None, :] @ value).squeeze(-2))
        all_weights.append(weights)
    return torch.stack(outputs, dim=-2), torch.stack(all_weights, dim=-2)


@below_given_checks
def built_from_earlier_exercises(query, key, value, attn_mask, dropout_p):
    from attention.masks import masked_softmax
    from attention.scores import scaled_dot_scores

    weights = masked_softmax(scaled_dot_scores(query, key), attn_mask)
    used = weights
    if dropout_p == 1:
        used = torch.zeros_like(used)
    elif dropout_p > 0:
        used = used * torch.empty_like(used).bernoulli_(1 - dropout_p) / (1 - dropout_p)
    return used @ value, weights


@below_given_checks
def batches_flattened(query, key, value, attn_mask, dropout_p):
    batch = torch.broadcast_shapes(query.shape[:-2], key.shape[:-2], value.shape[:-2])
    L, S = query.shape[-2], key.shape[-2]
    q, k, v = (x.expand(*batch, *x.shape[-2:]).reshape(-1, *x.shape[-2:]) for x in (query, key, value))
    logits = torch.bmm(q, k.transpose(1, 2)) / k.shape[2] ** 0.5  # (N, L, S)
    if attn_mask is not None:
        seen = attn_mask.expand(*batch, L, S).reshape(-1, L, S)
        empty = ~seen.any(dim=2, keepdim=True)
        logits = logits.masked_fill(~seen & ~empty, -torch.inf)
        weights = logits.softmax(dim=2).masked_fill(empty, 0)
    else:
        weights = logits.softmax(dim=2)
    output = torch.bmm(torch.dropout(weights, dropout_p, True), v)
    return output.reshape(*batch, L, v.shape[2]), weights.reshape(*batch, L, S)
