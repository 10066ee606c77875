"""More wrong scores: other functions of the hidden units, of queries and of keys, and triangles cut out."""

import torch
from torch.nn import functional as F

from ._given import behind_given_checks
from ._score_products import ADDITIVE, BILINEAR, RIGHT, hidden_units

#: Functions that some take for tanh, by name; the first is the misconception, the others its forms.
FUNCTIONS = {
    "leaky_relu": F.leaky_relu,
    "elu": F.elu,
    "selu": F.selu,
    "silu": F.silu,
    "mish": F.mish,
    "arctan": torch.atan,
    "sine": torch.sin,
    "erf": torch.erf,
    "halved": lambda hidden: torch.tanh(hidden / 2),
    "sigmoid_moved": lambda hidden: torch.sigmoid(hidden) - 0.5,
}


def _with_function(name, function):
    @behind_given_checks(ADDITIVE, name, "another_function")
    def wrong(query, key, w1, w2):
        return function(hidden_units(query, key, w1)) @ w2

    @behind_given_checks(BILINEAR, name, "another_function_of_the_query")
    def bent(query, key, weight):
        return function(query @ weight) @ key.mT


@behind_given_checks(ADDITIVE)
def another_function(query, key, w1, w2):
    return F.hardswish(hidden_units(query, key, w1)) @ w2


@behind_given_checks(BILINEAR)
def another_function_of_the_query(query, key, weight):
    return torch.relu(query @ weight) @ key.mT


for _name, _function in FUNCTIONS.items():
    _with_function(_name, _function)


def parts(query, key, w1):
    d_q = query.shape[-1]
    return (query @ w1[:, :d_q].mT).unsqueeze(-2), (key @ w1[:, d_q:].mT).unsqueeze(-3)


@behind_given_checks(ADDITIVE)
def tanh_of_both_halves_and_of_their_sum(query, key, w1, w2):
    from_query, from_key = parts(query, key, w1)
    return torch.tanh(torch.tanh(from_query) + torch.tanh(from_key)) @ w2


@behind_given_checks(ADDITIVE)
def tanhs_multiplied(query, key, w1, w2):
    from_query, from_key = parts(query, key, w1)
    return (torch.tanh(from_query) * torch.tanh(from_key)) @ w2


@behind_given_checks(ADDITIVE)
def w2_inside_tanh(query, key, w1, w2):
    return torch.tanh(hidden_units(query, key, w1) * w2).sum(dim=-1)


@behind_given_checks(ADDITIVE)
def sign_of_w2_lost(query, key, w1, w2):
    return torch.tanh(hidden_units(query, key, w1)) @ w2.abs()


@behind_given_checks(ADDITIVE)
def w1_cut_one_too_early(query, key, w1, w2):
    d_q = query.shape[-1]
    from_query, _ = parts(query, key, w1)
    return torch.tanh(from_query + (key @ w1[:, d_q - 1 : -1].mT).unsqueeze(-3)) @ w2


@behind_given_checks(ADDITIVE, like="batches_not_broadcast")
def pair_by_pair(query, key, w1, w2):
    scores = torch.empty(*query.shape[:-1], key.shape[-2], dtype=query.dtype)
    for i in range(query.shape[-2]):
        for j in range(key.shape[-2]):
            scores[..., i, j] = torch.tanh(torch.cat([query[..., i, :], key[..., j, :]], dim=-1) @ w1.T) @ w2
    return scores


def _cut(exercise):
    @behind_given_checks(exercise, "future_zeroed")
    def wrong(*args, **kwargs):
        return RIGHT[exercise](*args, **kwargs).tril()

    @behind_given_checks(exercise, "mean_subtracted")
    def centred(*args, **kwargs):
        scores = RIGHT[exercise](*args, **kwargs)
        return scores - scores.mean(dim=-1, keepdim=True)


for _exercise in RIGHT:
    _cut(_exercise)


@behind_given_checks(ADDITIVE)
def w2_added_inside_tanh(query, key, w1, w2):
    return torch.tanh(hidden_units(query, key, w1) + w2).sum(dim=-1)


@behind_given_checks(ADDITIVE)
def tanh_on_one_half_alone(query, key, w1, w2):
    from_query, from_key = parts(query, key, w1)
    return (torch.tanh(from_query) + from_key) @ w2


@behind_given_checks(ADDITIVE, like="tanh_on_one_half_alone")
def of_the_keys(query, key, w1, w2):
    from_query, from_key = parts(query, key, w1)
    return (from_query + torch.tanh(from_key)) @ w2


@behind_given_checks(ADDITIVE)
def hidden_units_multiplied(query, key, w1, w2):
    from_query, from_key = parts(query, key, w1)
    return torch.tanh((from_query * from_key).sum(dim=-1)) * w2.sum()


for _name, _power in {"tanh_squared": 2, "tanh_cubed": 3}.items():

    @behind_given_checks(ADDITIVE, _name, "another_function")
    def to_a_power(query, key, w1, w2, power=_power):
        return torch.tanh(hidden_units(query, key, w1)) ** power @ w2


@behind_given_checks(BILINEAR, like="symmetric_weight")
def sum_of_both(query, key, weight):
    square = weight.shape[0] == weight.shape[1]
    return query @ (weight + weight.T if square else weight) @ key.mT


@behind_given_checks(BILINEAR, like="first_axis_walked")
def side_by_side(query, key, weight):
    return torch.stack([one @ weight @ other.T for one, other in zip(query, key, strict=False)])
