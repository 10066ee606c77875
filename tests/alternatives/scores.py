"""Right scores in other styles."""

import math

import torch
from torch.nn import functional as F

from ._given import below_given_checks


@below_given_checks("scores.additive_scores")
def concatenated_pairs(query, key, w1, w2):
    L, S = query.shape[-2], key.shape[-2]
    batch = torch.broadcast_shapes(query.shape[:-2], key.shape[:-2])
    q = query.unsqueeze(-2).expand(*batch, L, S, query.shape[-1])
    k = key.unsqueeze(-3).expand(*batch, L, S, key.shape[-1])
    return (torch.tanh(torch.cat([q, k], dim=-1) @ w1.T) * w2).sum(dim=-1)


@below_given_checks("scores.additive_scores")
def einsum_and_linear(query, key, w1, w2):
    w_query, w_key = w1.split([query.shape[-1], key.shape[-1]], dim=1)
    from_query, from_key = F.linear(query, w_query), F.linear(key, w_key)
    return torch.einsum("...lsh,h->...ls", (from_query[..., :, None, :] + from_key[..., None, :, :]).tanh(), w2)


@below_given_checks("scores.additive_scores")
def one_pair_at_a_time(query, key, w1, w2):
    rows = []
    for i in range(query.shape[-2]):
        row = []
        for j in range(key.shape[-2]):
            q, k = torch.broadcast_tensors(query[..., i, :1], key[..., j, :1])  # for the batch dimensions
            q = query[..., i, :].expand(*q.shape[:-1], -1)
            k = key[..., j, :].expand(*k.shape[:-1], -1)
            row.append(torch.tanh(torch.cat((q, k), -1) @ w1.T) @ w2)
        rows.append(torch.stack(row, dim=-1))
    return torch.stack(rows, dim=-2)


@below_given_checks("scores.additive_scores")
def tanh_from_a_sigmoid(query, key, w1, w2):
    d_q = query.shape[-1]
    inside = torch.matmul(query, w1[:, :d_q].t()).unsqueeze(-2) + torch.matmul(key, w1[:, d_q:].t()).unsqueeze(-3)
    return F.linear(2 * torch.sigmoid(2 * inside) - 1, w2.unsqueeze(0)).squeeze(-1)


@below_given_checks("scores.bilinear_scores")
def einsum_of_three(query, key, weight):
    return torch.einsum("...ld,de,...se->...ls", query, weight, key)


@below_given_checks("scores.bilinear_scores")
def weight_on_the_key(query, key, weight):
    return query @ (key @ weight.T).mT


@below_given_checks("scores.bilinear_scores")
def linear_then_sum(query, key, weight):
    projected = F.linear(query, weight.T)
    return (projected.unsqueeze(-2) * key.unsqueeze(-3)).sum(-1)


@below_given_checks("scores.bilinear_scores")
def a_loop_over_queries(query, key, weight):
    rows = [(key @ (query[..., i, :] @ weight).unsqueeze(-1)).squeeze(-1) for i in range(query.size(-2))]
    return torch.stack(rows, dim=-2)


@below_given_checks("scores.dot_scores")
def einsum(query, key):
    return torch.einsum("...ld,...sd->...ls", query, key)


@below_given_checks("scores.dot_scores")
def products_summed(query, key):
    return (query[..., :, None, :] * key[..., None, :, :]).sum(dim=-1)


@below_given_checks("scores.dot_scores")
def keys_times_queries_turned(query, key):
    return torch.matmul(key, query.swapaxes(-1, -2)).swapaxes(-1, -2)


@below_given_checks("scores.dot_scores")
def filled_entry_by_entry(query, key):
    batch = torch.broadcast_shapes(query.shape[:-2], key.shape[:-2])
    scores = torch.empty(*batch, query.shape[-2], key.shape[-2], dtype=query.dtype, device=query.device)
    for i in range(query.shape[-2]):
        for j in range(key.shape[-2]):
            scores[..., i, j] = (query[..., i, :] * key[..., j, :]).sum(-1)
    return scores


@below_given_checks("scores.scaled_dot_scores")
def divided_afterwards(query, key):
    return query @ key.transpose(-2, -1) / math.sqrt(key.size(-1))


@below_given_checks("scores.scaled_dot_scores")
def divided_in_place_afterwards(query, key):
    scores = torch.matmul(query, key.mT)
    scores /= key.shape[-1] ** 0.5
    return scores


@below_given_checks("scores.scaled_dot_scores")
def a_fourth_root_on_each(query, key):
    factor = query.shape[-1] ** -0.25
    return (query * factor) @ (key * factor).mT


@below_given_checks("scores.scaled_dot_scores")
def the_root_as_a_tensor(query, key):
    d_k = torch.tensor(key.shape[-1])
    return torch.einsum("...id,...jd->...ij", query, key) / torch.sqrt(d_k)
