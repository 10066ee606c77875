"""More wrong additive scores: another function of the hidden units, other parts of W1 and w2."""

import torch

from ._given import behind_given_checks
from ._score_products import ADDITIVE, hidden_units

FUNCTIONS = {
    "sigmoid_for_tanh": torch.sigmoid,
    "gelu_for_tanh": torch.nn.functional.gelu,
    "softplus_for_tanh": torch.nn.functional.softplus,
    "cut_off_at_one": lambda hidden: hidden.clamp(-1, 1),
    "tanh_twice": lambda hidden: hidden.tanh().tanh(),
    "softmax_for_tanh": lambda hidden: hidden.softmax(dim=-1),
}


def _with_function(name, function):
    @behind_given_checks(ADDITIVE, name)
    def wrong(query, key, w1, w2):
        return function(hidden_units(query, key, w1)) @ w2


for _name, _function in FUNCTIONS.items():
    _with_function(_name, _function)


@behind_given_checks(ADDITIVE)
def tanh_at_the_end_too(query, key, w1, w2):
    return torch.tanh(torch.tanh(hidden_units(query, key, w1)) @ w2)


@behind_given_checks(ADDITIVE)
def tanh_before_w1(query, key, w1, w2):
    return hidden_units(query.tanh(), key.tanh(), w1) @ w2


@behind_given_checks(ADDITIVE)
def units_not_added(query, key, w1, w2):
    return torch.tanh(hidden_units(query, key, w1)) * w2


@behind_given_checks(ADDITIVE)
def w2_in_front(query, key, w1, w2):
    return w2 @ torch.tanh(hidden_units(query, key, w1))


@behind_given_checks(ADDITIVE)
def halves_multiplied(query, key, w1, w2):
    d_q = query.shape[-1]
    return torch.tanh((query @ w1[:, :d_q].mT).unsqueeze(-2) * (key @ w1[:, d_q:].mT).unsqueeze(-3)) @ w2


@behind_given_checks(ADDITIVE)
def halves_subtracted(query, key, w1, w2):
    d_q = query.shape[-1]
    return torch.tanh((query @ w1[:, :d_q].mT).unsqueeze(-2) - (key @ w1[:, d_q:].mT).unsqueeze(-3)) @ w2


@behind_given_checks(ADDITIVE)
def keys_left_out(query, key, w1, w2):
    scores = torch.tanh(query @ w1[:, : query.shape[-1]].mT) @ w2
    batch = torch.broadcast_shapes(query.shape[:-2], key.shape[:-2])
    return scores.unsqueeze(-1).expand(*batch, query.shape[-2], key.shape[-2])


@behind_given_checks(ADDITIVE)
def queries_left_out(query, key, w1, w2):
    scores = torch.tanh(key @ w1[:, query.shape[-1] :].mT) @ w2
    batch = torch.broadcast_shapes(query.shape[:-2], key.shape[:-2])
    return scores.unsqueeze(-2).expand(*batch, query.shape[-2], key.shape[-2])


def with_parts(query, key, part_query, part_key, w2):
    return torch.tanh((query @ part_query).unsqueeze(-2) + (key @ part_key).unsqueeze(-3)) @ w2


@behind_given_checks(ADDITIVE)
def w1_cut_after_d_k(query, key, w1, w2):
    d_k = key.shape[-1]
    return with_parts(query, key, w1[:, :d_k].mT, w1[:, d_k:].mT, w2)


@behind_given_checks(ADDITIVE)
def w1_cut_across_its_rows(query, key, w1, w2):
    d_q = query.shape[-1]
    return with_parts(query, key, w1[:d_q].mT, w1[d_q:].mT, w2)


@behind_given_checks(ADDITIVE)
def w1_cut_across_its_rows_and_not_transposed(query, key, w1, w2):
    d_q = query.shape[-1]
    return with_parts(query, key, w1[:d_q], w1[d_q:], w2)


@behind_given_checks(ADDITIVE)
def w1_not_transposed(query, key, w1, w2):
    d_q = query.shape[-1]
    return with_parts(query, key, w1[:, :d_q], w1[:, d_q:], w2)


@behind_given_checks(ADDITIVE)
def first_part_for_both(query, key, w1, w2):
    part = w1[:, : query.shape[-1]].mT
    return with_parts(query, key, part, part, w2)


@behind_given_checks(ADDITIVE)
def axes_for_a_batch_alone(query, key, w1, w2):
    d_q = query.shape[-1]
    return torch.tanh((query @ w1[:, :d_q].mT).unsqueeze(2) + (key @ w1[:, d_q:].mT).unsqueeze(1)) @ w2


@behind_given_checks(ADDITIVE)
def two_axes_expected(query, key, w1, w2):
    length, _ = query.shape
    return torch.stack([torch.tanh(hidden_units(query[i : i + 1], key, w1)) @ w2 for i in range(length)])


@behind_given_checks(ADDITIVE)
def three_axes_expected(query, key, w1, w2):
    batch, _, _ = query.shape
    return torch.stack([torch.tanh(hidden_units(query[b], key[b], w1)) @ w2 for b in range(batch)])


@behind_given_checks(ADDITIVE)
def batches_not_broadcast(query, key, w1, w2):
    queries = query.unsqueeze(-2).expand(*query.shape[:-1], key.shape[-2], -1)
    keys = key.unsqueeze(-3).expand(*key.shape[:-2], query.shape[-2], *key.shape[-2:])
    return torch.tanh(torch.cat([queries, keys], dim=-1) @ w1.mT) @ w2


@behind_given_checks(ADDITIVE)
def joined_behind_each_other(query, key, w1, w2):
    return torch.tanh(torch.cat([query, key], dim=-2) @ w1.T) @ w2
