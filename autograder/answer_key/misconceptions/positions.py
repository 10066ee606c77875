"""Wrong answers to the exercises on positions; tables, rotary positions and the two classes have files of their own."""

import math

import torch

from . import (
    _position_distances,  # noqa: F401  it registers
    _position_forms,  # noqa: F401  it registers
    _position_forms_more,  # noqa: F401  it registers
    _position_forms_rotary,  # noqa: F401  it registers
    _position_learned,  # noqa: F401  it registers
    _position_modules,  # noqa: F401  it registers
    _position_modules_more,  # noqa: F401  it registers
    _position_powers,  # noqa: F401  it registers
    _position_rotary,  # noqa: F401  it registers
    _position_rotary_more,  # noqa: F401  it registers
    _position_slips,  # noqa: F401  it registers
    _position_tables,  # noqa: F401  it registers
    _position_tables_more,  # noqa: F401  it registers
    _position_terms,  # noqa: F401  it registers
    misconception,
)
from ._given import behind_given_checks
from ._position_distances import slopes

ALIBI = "positions.alibi_bias"
wrong = behind_given_checks(ALIBI)


def signed_distance(query_length, key_length):
    """i + (S - L) - j, above zero behind the query."""
    key_length = query_length if key_length is None else key_length
    return torch.arange(query_length)[:, None] + (key_length - query_length) - torch.arange(key_length)


# Mistakes in the slopes, as (H,).
SLOPES = {
    "powers_of_two": lambda heads: 2.0 ** -torch.arange(1.0, heads + 1),
    "heads_from_zero": lambda heads: 2.0 ** (-8.0 * torch.arange(heads) / heads),
    "slopes_reversed": lambda heads: slopes(heads).flatten().flip(0),
    "one_slope_for_all": lambda heads: torch.full((heads,), 2.0 ** (-8.0 / heads)),
    "slopes_on_a_line": lambda heads: 2.0 ** (-8.0 / heads) * torch.arange(1, heads + 1).flip(0) / heads,
}


def _with_slopes(name, slopes_of):
    @behind_given_checks(ALIBI, name)
    def wrong_slopes(num_heads, query_length, key_length=None):
        return slopes_of(num_heads)[:, None, None] * -signed_distance(query_length, key_length).abs()


for _name, _slopes in SLOPES.items():
    _with_slopes(_name, _slopes)


@wrong
def bonus_for_distance(num_heads, query_length, key_length=None):
    return slopes(num_heads) * signed_distance(query_length, key_length).abs()


@wrong
def distance_keeps_its_sign(num_heads, query_length, key_length=None):
    return slopes(num_heads) * -signed_distance(query_length, key_length)


@wrong
def sign_the_other_way(num_heads, query_length, key_length=None):
    return slopes(num_heads) * signed_distance(query_length, key_length)


@wrong
def aligned_to_start(num_heads, query_length, key_length=None):
    key_length = query_length if key_length is None else key_length
    distance = torch.arange(query_length)[:, None] - torch.arange(key_length)
    return slopes(num_heads) * -distance.abs()


@wrong
def shifted_the_wrong_way(num_heads, query_length, key_length=None):
    key_length = query_length if key_length is None else key_length
    distance = torch.arange(query_length)[:, None] + (query_length - key_length) - torch.arange(key_length)
    return slopes(num_heads) * -distance.abs()


@wrong
def future_free_of_charge(num_heads, query_length, key_length=None):
    return slopes(num_heads) * -signed_distance(query_length, key_length).clamp(min=0)


@wrong
def future_forbidden(num_heads, query_length, key_length=None):
    distance = signed_distance(query_length, key_length)
    return (slopes(num_heads) * -distance).masked_fill(distance < 0, -torch.inf)


@wrong
def heads_last(num_heads, query_length, key_length=None):
    distance = signed_distance(query_length, key_length).abs()
    return -distance[:, :, None] * slopes(num_heads).flatten()


@wrong
def keys_in_rows(num_heads, query_length, key_length=None):
    return slopes(num_heads) * -signed_distance(query_length, key_length).abs().mT


@wrong
def key_length_ignored(num_heads, query_length, key_length=None):
    return slopes(num_heads) * -signed_distance(query_length, query_length).abs()


@wrong
def position_of_the_key_alone(num_heads, query_length, key_length=None):
    key_length = query_length if key_length is None else key_length
    return slopes(num_heads) * (torch.arange(key_length) - (key_length - 1)).expand(query_length, key_length)


@wrong
def distance_squared(num_heads, query_length, key_length=None):
    return slopes(num_heads) * -signed_distance(query_length, key_length).square()


@wrong
def kept_in_float64(num_heads, query_length, key_length=None):
    return slopes(num_heads).double() * -signed_distance(query_length, key_length).abs().double()


@misconception(ALIBI)
def given_checks_removed(num_heads, query_length, key_length=None):
    key_length = query_length if key_length is None else key_length
    bias = torch.zeros(max(num_heads, 0), max(query_length, 0), max(key_length, 0))
    for h in range(num_heads):
        for i in range(query_length):
            for j in range(key_length):
                bias[h, i, j] = -math.pow(2, -8 * (h + 1) / num_heads) * abs(i + key_length - query_length - j)
    return bias
