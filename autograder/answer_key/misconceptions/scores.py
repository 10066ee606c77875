"""Wrong scores, each as somebody would really write it."""

import math

import torch
from torch.nn.functional import normalize

from . import _score_functions, _score_hidden_units, _score_scales, _score_walks  # noqa: F401  (registers them)
from ._given import behind_given_checks
from ._score_products import ADDITIVE, BILINEAR, DOT, SCALED, hidden_units


@behind_given_checks(ADDITIVE)
def halves_swapped(query, key, w1, w2):
    batch = torch.broadcast_shapes(query.shape[:-2], key.shape[:-2])
    pairs = (*batch, query.shape[-2], key.shape[-2], -1)
    stacked = torch.cat([key.unsqueeze(-3).expand(pairs), query.unsqueeze(-2).expand(pairs)], dim=-1)
    return torch.tanh(stacked @ w1.mT) @ w2


@behind_given_checks(ADDITIVE)
def no_tanh(query, key, w1, w2):
    return hidden_units(query, key, w1) @ w2


@behind_given_checks(ADDITIVE)
def tanh_at_the_end(query, key, w1, w2):
    return torch.tanh(hidden_units(query, key, w1) @ w2)


@behind_given_checks(ADDITIVE)
def tanh_on_each_half(query, key, w1, w2):
    d_q = query.shape[-1]
    from_query, from_key = torch.tanh(query @ w1[:, :d_q].mT), torch.tanh(key @ w1[:, d_q:].mT)
    return (from_query.unsqueeze(-2) + from_key.unsqueeze(-3)) @ w2


@behind_given_checks(ADDITIVE)
def relu_for_tanh(query, key, w1, w2):
    return torch.relu(hidden_units(query, key, w1)) @ w2


@behind_given_checks(ADDITIVE)
def w2_left_out(query, key, w1, w2):
    return torch.tanh(hidden_units(query, key, w1)).sum(dim=-1)


@behind_given_checks(ADDITIVE, "one_score_per_position")
def additive_without_pairs(query, key, w1, w2):
    d_q = query.shape[-1]
    return torch.tanh(query @ w1[:, :d_q].mT + key @ w1[:, d_q:].mT) @ w2


@behind_given_checks(ADDITIVE)
def concatenated_per_position(query, key, w1, w2):
    return torch.tanh(torch.cat([query, key], dim=-1) @ w1.mT) @ w2


@behind_given_checks(ADDITIVE)
def w1_cut_in_the_middle(query, key, w1, w2):
    half_query, half_key = w1.chunk(2, dim=1)
    return torch.tanh((query @ half_query.mT).unsqueeze(-2) + (key @ half_key.mT).unsqueeze(-3)) @ w2


@behind_given_checks(ADDITIVE)
def axes_counted_from_the_front(query, key, w1, w2):
    d_q = query.shape[-1]
    return torch.tanh((query @ w1[:, :d_q].mT).unsqueeze(1) + (key @ w1[:, d_q:].mT).unsqueeze(0)) @ w2


@behind_given_checks(BILINEAR)
def weight_transposed(query, key, weight):
    return query @ weight.mT @ key.mT


@behind_given_checks(BILINEAR)
def query_and_key_exchanged(query, key, weight):
    return key @ weight @ query.mT


@behind_given_checks(BILINEAR)
def weight_on_both(query, key, weight):
    return (query @ weight) @ (key @ weight).mT


@behind_given_checks(BILINEAR)
def weight_left_out(query, key, weight):
    return query @ key.mT


@behind_given_checks(BILINEAR, "t_reverses_all_axes")
def bilinear_with_t(query, key, weight):
    return query @ weight @ key.T


@behind_given_checks(DOT, "t_reverses_all_axes")
def dot_with_t(query, key):
    return query @ key.T


@behind_given_checks(DOT)
def cosine(query, key):
    return normalize(query, dim=-1) @ normalize(key, dim=-1).mT


@behind_given_checks(DOT)
def through_numpy(query, key):
    return torch.from_numpy(query.numpy() @ key.numpy().swapaxes(-1, -2))


@behind_given_checks(SCALED)
def divided_by_each_norm(query, key):
    return query @ (key / key.norm(dim=-1, keepdim=True)).mT


@behind_given_checks(SCALED, "t_reverses_all_axes")
def scaled_with_t(query, key):
    return query @ key.T / math.sqrt(key.shape[-1])


@behind_given_checks(SCALED)
def query_divided_in_place(query, key):
    query /= math.sqrt(query.shape[-1])
    return query @ key.mT


@behind_given_checks(SCALED)
def key_divided_in_place(query, key):
    key /= math.sqrt(key.shape[-1])
    return query @ key.mT


@behind_given_checks(SCALED)
def root_asked_of_torch(query, key):
    return query @ key.mT / torch.sqrt(key.shape[-1])


@behind_given_checks(SCALED)
def root_as_a_wider_tensor(query, key):
    return query @ key.mT / torch.tensor([float(key.shape[-1])]).sqrt()


@behind_given_checks(SCALED)
def divided_by_the_norm_of_all(query, key):
    return query @ key.mT / key.norm()


@behind_given_checks(SCALED)
def divided_by_both_norms(query, key):
    return normalize(query, dim=-1) @ normalize(key, dim=-1).mT


# 3.2, 3.3: what else meets


@behind_given_checks(BILINEAR)
def tanh_of_the_query(query, key, weight):
    return torch.tanh(query @ weight) @ key.mT


@behind_given_checks(BILINEAR)
def symmetric_weight(query, key, weight):
    return query @ (weight + weight.mT) @ key.mT / 2


@behind_given_checks(BILINEAR)
def weight_softmaxed(query, key, weight):
    return query @ weight.softmax(dim=-1) @ key.mT


@behind_given_checks(BILINEAR)
def keys_dropped(query, key, weight):
    return query @ weight


@behind_given_checks(BILINEAR)
def weight_detached(query, key, weight):
    return query @ weight.detach() @ key.mT


@behind_given_checks(DOT)
def queries_with_themselves(query, key):
    return query @ query.mT


@behind_given_checks(DOT)
def distances(query, key):
    return torch.cdist(query, key)


@behind_given_checks(DOT)
def cosine_of_the_key(query, key):
    return query @ normalize(key, dim=-1).mT


@behind_given_checks(DOT)
def cosine_of_the_query(query, key):
    return normalize(query, dim=-1) @ key.mT
