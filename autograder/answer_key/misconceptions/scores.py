"""Wrong scores, each as somebody would really write it."""

import math

import torch
from torch.nn.functional import normalize

from ._given import behind_given_checks

ADDITIVE, BILINEAR, DOT, SCALED = (f"scores.{name}_scores" for name in ("additive", "bilinear", "dot", "scaled_dot"))


def hidden_units(query, key, w1):
    """W1 [q; k] of every pair: (..., L, S, d_hidden)."""
    d_q = query.shape[-1]
    return (query @ w1[:, :d_q].mT).unsqueeze(-2) + (key @ w1[:, d_q:].mT).unsqueeze(-3)


RIGHT = {
    ADDITIVE: lambda query, key, w1, w2: torch.tanh(hidden_units(query, key, w1)) @ w2,
    BILINEAR: lambda query, key, weight: query @ weight @ key.mT,
    DOT: lambda query, key: query @ key.mT,
    SCALED: lambda query, key: query @ key.mT / math.sqrt(key.shape[-1]),
}


def keys_in_rows(scores):
    return scores.mT


def softmax_included(scores):
    return scores.softmax(dim=-1)


def gradient_cut(scores):
    return scores.detach()


def default_dtype(scores):
    found = torch.zeros(scores.shape)
    for i in range(scores.shape[-2]):
        found[..., i, :] = scores[..., i, :]
    return found


def _spoil(exercise, right, change):
    @behind_given_checks(exercise, change.__name__)
    def wrong(*args, **kwargs):
        return change(right(*args, **kwargs))


for _exercise, _right in RIGHT.items():
    for _change in (keys_in_rows, softmax_included, gradient_cut, default_dtype):
        _spoil(_exercise, _right, _change)


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


@behind_given_checks(BILINEAR, "scaled_too")
def bilinear_scaled(query, key, weight):
    return query @ weight @ key.mT / math.sqrt(key.shape[-1])


@behind_given_checks(BILINEAR, "t_reverses_all_axes")
def bilinear_with_t(query, key, weight):
    return query @ weight @ key.T


@behind_given_checks(DOT, "one_score_per_position")
def dot_without_pairs(query, key):
    return (query * key).sum(dim=-1)


@behind_given_checks(DOT, "t_reverses_all_axes")
def dot_with_t(query, key):
    return query @ key.T


@behind_given_checks(DOT)
def first_two_axes_swapped(query, key):
    return query @ key.transpose(0, 1)


@behind_given_checks(DOT)
def axes_one_and_two(query, key):
    return query @ key.transpose(1, 2)


@behind_given_checks(DOT)
def every_batch_with_every(query, key):
    return torch.inner(query, key)


@behind_given_checks(DOT, "scaled_too")
def dot_scaled(query, key):
    return query @ key.mT / math.sqrt(key.shape[-1])


@behind_given_checks(DOT)
def cosine(query, key):
    return normalize(query, dim=-1) @ normalize(key, dim=-1).mT


@behind_given_checks(DOT)
def through_numpy(query, key):
    return torch.from_numpy(query.numpy() @ key.numpy().swapaxes(-1, -2))


@behind_given_checks(SCALED)
def no_scale(query, key):
    return query @ key.mT


@behind_given_checks(SCALED)
def divided_by_width(query, key):
    return query @ key.mT / key.shape[-1]


@behind_given_checks(SCALED)
def multiplied_by_root(query, key):
    return query @ key.mT * math.sqrt(key.shape[-1])


@behind_given_checks(SCALED)
def root_of_query_length(query, key):
    return query @ key.mT / math.sqrt(query.shape[-2])


@behind_given_checks(SCALED)
def root_of_key_length(query, key):
    return query @ key.mT / math.sqrt(key.shape[-2])


@behind_given_checks(SCALED)
def root_of_axis_one(query, key):
    return query @ key.mT / math.sqrt(query.shape[1])


@behind_given_checks(SCALED)
def root_rounded_down(query, key):
    return query @ key.mT / math.isqrt(key.shape[-1])


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
