"""Wrong scores from loops along the first axis, from turned queries, from distances; more wrong divisors."""

import math

import torch

from ._given import behind_given_checks
from ._score_products import ADDITIVE, BILINEAR, DOT, LEFT, RIGHT, SCALED, hidden_units


def queries_transposed(left, key):
    return left.mT @ key


def by_t(left, key):
    return left.T @ key


def batch_flattened(left, key):
    left, key = (of.reshape(-1, *of.shape[-2:]) for of in (left, key))
    return torch.bmm(left, key.mT)


def first_axis_walked(left, key):
    return torch.stack([torch.stack([one @ other for other in key]) for one in left])


def with_products_added(left, key):
    return torch.stack([torch.stack([(one * other).sum() for other in key]) for one in left])


WALKS = {
    "queries_transposed": queries_transposed,
    "queries_transposed/by_t": by_t,
    "batch_flattened": batch_flattened,
    "first_axis_walked": first_axis_walked,
    "first_axis_walked/with_products_added": with_products_added,
}


def _with_product(exercise, name, product):
    like, _, form = name.rpartition("/")

    @behind_given_checks(exercise, form, like)
    def wrong(query, key, **weight):
        return product(LEFT[exercise](query, key, **weight), key)


for _exercise in LEFT:
    for _name, _product in WALKS.items():
        _with_product(_exercise, _name, _product)


def walking(hidden):
    def wrong(query, key, w1, w2):
        rows = [torch.stack([torch.tanh(hidden(torch.cat([q, k]), w1)) @ w2 for k in key]) for q in query]
        return torch.stack(rows)

    return wrong


behind_given_checks(ADDITIVE, "first_axis_walked")(walking(lambda pair, w1: w1 @ pair))
behind_given_checks(ADDITIVE, "with_w1_behind", "first_axis_walked")(walking(lambda pair, w1: pair @ w1.T))


def pairing(repeat_query, repeat_key):
    def wrong(query, key, w1, w2):
        queries, keys = query.shape[-2], key.shape[-2]
        pairs = torch.cat([repeat_query(query, keys), repeat_key(key, queries)], dim=-1)
        return (torch.tanh(pairs @ w1.T) @ w2).reshape(*query.shape[:-2], queries, keys)

    return wrong


def each_in_a_row(of, times):
    return of.repeat_interleave(times, dim=-2)


def one_after_another(of, times):
    return torch.cat([of] * times, dim=-2)


behind_given_checks(ADDITIVE, "both_repeated_alike")(pairing(each_in_a_row, each_in_a_row))
behind_given_checks(ADDITIVE, "as_wholes", "both_repeated_alike")(pairing(one_after_another, one_after_another))


@behind_given_checks(ADDITIVE)
def units_scaled(query, key, w1, w2):
    return torch.tanh(hidden_units(query, key, w1) / math.sqrt(w1.shape[1])) @ w2


@behind_given_checks(ADDITIVE)
def softmax_of_w2(query, key, w1, w2):
    return torch.tanh(hidden_units(query, key, w1)) @ w2.softmax(dim=0)


@behind_given_checks(BILINEAR)
def diagonal_of_the_weight(query, key, weight):
    return torch.einsum("...ld,dd,...sd->...ls", query, weight, key)


@behind_given_checks(BILINEAR)
def tanh_of_the_key(query, key, weight):
    return query @ torch.tanh(key @ weight.mT).mT


@behind_given_checks(DOT)
def negative_distances(query, key):
    return -torch.cdist(query, key)


@behind_given_checks(DOT, like="negative_distances")
def squared(query, key):
    return -(query.unsqueeze(-2) - key.unsqueeze(-3)).square().sum(dim=-1)


@behind_given_checks(DOT, like="distances")
def squared_distances(query, key):
    return (query.unsqueeze(-2) - key.unsqueeze(-3)).square().sum(dim=-1)


DIVISORS = {
    "root_of_axis_zero/of_the_key": lambda key: math.sqrt(len(key)),
    "root_of_axis_one/of_the_key": lambda key: math.sqrt(key.shape[1]),
    "root_of_the_number_of_axes": lambda key: math.sqrt(key.dim()),
}


def _with_divisor(name, divisor):
    like, _, form = name.rpartition("/")

    @behind_given_checks(SCALED, form, like)
    def wrong(query, key):
        return RIGHT[DOT](query, key) / divisor(key)


for _name, _divisor in DIVISORS.items():
    _with_divisor(_name, _divisor)


@behind_given_checks(SCALED)
def fraction_cut_off(query, key):
    return RIGHT[DOT](query, key) // math.sqrt(key.shape[-1])
