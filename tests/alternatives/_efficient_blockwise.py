"""Right blockwise attention in other styles."""

import functools
import math

import torch

from attention._arguments import check_batch, check_floating, check_length, check_mask, check_same_width, check_sequence

from . import alternative


def below_given_checks(function):
    @functools.wraps(function)
    def whole(query, key, value, block_size=128, is_causal=False, attn_mask=None):
        check_floating(query=query, key=key, value=value)
        check_sequence(query=query, key=key, value=value)
        check_same_width(query, key)
        check_length("block_size", block_size, least=1)
        if key.shape[-2] != value.shape[-2]:
            raise ValueError("key and value must have the same length")
        batch = check_batch(query=query, key=key, value=value)
        if attn_mask is not None:
            check_mask("attn_mask", attn_mask, (*batch, query.shape[-2], key.shape[-2]))
        return function(query, key, value, block_size, is_causal, attn_mask)

    return alternative("efficient.blockwise_attention")(whole)


def wide(x):
    return x if x.dtype == torch.float64 else x.float()


def cut(mask, axis, start, stop):
    """Part of a mask along an axis counted from the end; an axis of length 1, or none, stays as it is."""
    if mask.dim() < -axis or mask.shape[axis] == 1:
        return mask
    return mask.narrow(axis, start, stop - start)


@below_given_checks
def keys_in_blocks_with_plain_autograd(query, key, value, block_size, is_causal, attn_mask):
    batch = torch.broadcast_shapes(query.shape[:-2], key.shape[:-2], value.shape[:-2])
    L, S = query.shape[-2], key.shape[-2]
    q, k, v = wide(query) / math.sqrt(query.shape[-1]), wide(key), wide(value)
    m = torch.full((*batch, L, 1), -math.inf, dtype=q.dtype)
    d = torch.zeros((*batch, L, 1), dtype=q.dtype)
    acc = torch.zeros((*batch, L, v.shape[-1]), dtype=q.dtype)
    rows = torch.arange(L)[:, None] + S - L
    for start in range(0, S, block_size):
        stop = min(start + block_size, S)
        s = q @ k[..., start:stop, :].transpose(-1, -2)
        if is_causal:
            s = s.masked_fill(torch.arange(start, stop) > rows, -math.inf)
        if attn_mask is not None:
            s = s.masked_fill(~cut(attn_mask, -1, start, stop), -math.inf)
        new = torch.maximum(m, s.max(dim=-1, keepdim=True).values)
        safe = torch.where(new == -math.inf, torch.zeros_like(new), new)
        p, c = torch.exp(s - safe), torch.exp(m - safe)
        d, acc, m = d * c + p.sum(-1, keepdim=True), acc * c + p @ v[..., start:stop, :], new
    return (acc / torch.where(d == 0, torch.ones_like(d), d)).to(query.dtype)


@below_given_checks
def queries_in_blocks_keys_at_once(query, key, value, block_size, is_causal, attn_mask):
    from attention.masks import masked_softmax

    L, S = query.shape[-2], key.shape[-2]
    batch = torch.broadcast_shapes(query.shape[:-2], key.shape[:-2], value.shape[:-2])
    found = []
    for start in range(0, L, block_size):
        stop = min(start + block_size, L)
        scores = wide(query[..., start:stop, :]) @ wide(key).mT / math.sqrt(key.shape[-1])
        scores = scores.expand(*batch, -1, -1)
        seen = torch.ones(stop - start, S, dtype=torch.bool)
        if is_causal:
            seen = seen.tril(start + S - L)
        if attn_mask is not None:
            seen = seen & cut(attn_mask, -2, start, stop)
        found.append(masked_softmax(scores, seen) @ wide(value))
    return torch.cat(found, dim=-2).to(query.dtype) if found else query.new_zeros(*batch, 0, value.shape[-1])


@below_given_checks
def blocks_merged_by_their_logarithms(query, key, value, block_size, is_causal, attn_mask):
    """Each block answers by itself; the answers are mixed by their sums, in logarithms."""
    L, S = query.shape[-2], key.shape[-2]
    q = wide(query) * query.shape[-1] ** -0.5
    outputs, logs = [], []
    for number, (k, v) in enumerate(
        zip(wide(key).split(block_size, -2), wide(value).split(block_size, -2), strict=True)
    ):
        start = number * block_size
        s = torch.einsum("...ld,...sd->...ls", q, k)
        hidden = torch.zeros(L, k.shape[-2], dtype=torch.bool)
        if is_causal:
            hidden = hidden | torch.ones_like(hidden).triu(S - L - start + 1)
        if attn_mask is not None:
            hidden = hidden | ~cut(attn_mask, -1, start, start + k.shape[-2])
        nobody = hidden.all(-1, keepdim=True)
        s = s.masked_fill(hidden & ~nobody, -math.inf).masked_fill(nobody, 0.0)
        log = s.logsumexp(-1, keepdim=True)
        outputs.append(torch.exp(s - log).masked_fill(nobody, 0.0) @ v)
        logs.append(log.masked_fill(nobody, -1e300 if log.dtype == torch.float64 else -1e38))
    shares = torch.cat(torch.broadcast_tensors(*logs), -1).softmax(-1)  # (..., L, blocks)
    outputs = torch.broadcast_tensors(*outputs)
    return sum(shares[..., n, None] * one for n, one in enumerate(outputs)).to(query.dtype)


@below_given_checks
def tiles_of_queries_and_keys(query, key, value, block_size, is_causal, attn_mask):
    L, S, scale = query.shape[-2], key.shape[-2], 1 / math.sqrt(key.shape[-1])
    batch = torch.broadcast_shapes(query.shape[:-2], key.shape[:-2], value.shape[:-2])
    rows = []
    for top in range(0, L, block_size):
        bottom = min(top + block_size, L)
        q = wide(query)[..., top:bottom, :]
        m = None
        total, summed = 0.0, 0.0
        for left in range(0, S, block_size):
            right = min(left + block_size, S)
            if is_causal and left > bottom - 1 + S - L:
                break
            s = scale * q @ wide(key)[..., left:right, :].mT
            s = s.expand(*batch, *s.shape[-2:])
            if is_causal:
                i = torch.arange(top, bottom).unsqueeze(1)
                s = s.where(torch.arange(left, right) <= i + (S - L), -math.inf)
            if attn_mask is not None:
                tile = cut(cut(attn_mask, -1, left, right), -2, top, bottom)
                s = torch.where(tile, s, torch.tensor(-math.inf, dtype=s.dtype))
            # A maximum that is never -inf: exp of what is hidden is then 0, and nothing is subtracted from itself.
            best = s.detach().amax(-1, keepdim=True).clamp(min=-1e30)
            new = best if m is None else torch.maximum(m, best)
            p = torch.exp(s - new)
            shrink = 1.0 if m is None else torch.exp(m - new)
            total = total * shrink + p.sum(-1, keepdim=True)
            summed = summed * shrink + p @ wide(value)[..., left:right, :]
            m = new
        if m is None:
            rows.append(wide(query).new_zeros(*batch, bottom - top, value.shape[-1]))
            continue
        rows.append(summed / (total + (total == 0)))
    return torch.cat(rows, dim=-2).to(query.dtype)


@below_given_checks
def whole_batch_query_by_query(query, key, value, block_size, is_causal, attn_mask):
    """One query at a time over blocks of keys, with the online softmax of the exercise before."""
    from attention.efficient import online_softmax

    batch = torch.broadcast_shapes(query.shape[:-2], key.shape[:-2], value.shape[:-2])
    L, S = query.shape[-2], key.shape[-2]
    keys, values = wide(key), wide(value)
    mask = None if attn_mask is None else attn_mask.expand(*batch, L, S)
    found = []
    for i in range(L):
        q = wide(query)[..., i : i + 1, :] / math.sqrt(key.shape[-1])
        chunks = []
        for start in range(0, S, block_size):
            s = (q @ keys[..., start : start + block_size, :].mT)[..., 0, :]
            s = s.expand(*batch, s.shape[-1])
            if is_causal:
                s = s.masked_fill(torch.arange(start, start + s.shape[-1]) > i + S - L, -math.inf)
            if mask is not None:
                s = s.masked_fill(~mask[..., i, start : start + block_size], -math.inf)
            chunks.append(s)
        found.append((online_softmax(chunks)[..., None, :] @ values)[..., 0, :])
    return torch.stack(found, dim=-2).to(query.dtype)
