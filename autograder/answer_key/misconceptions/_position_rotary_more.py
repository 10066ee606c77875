"""Wrong rotary positions whose angles, signs or parts are the wrong ones."""

import math

import torch

from ._given import behind_given_checks
from ._position_rotary import ROTARY, angles_of, frequencies, turned


def places(x, offset):
    """(L, 1): the positions, in float64."""
    return torch.arange(x.shape[-2], dtype=torch.float64)[:, None] + offset


def last_pair_at_the_base(x, base):
    """Frequencies from 1 down to 1 / base, the last included."""
    pairs = x.shape[-1] // 2
    return base ** (-torch.arange(pairs, dtype=torch.float64) / max(pairs - 1, 1))


# What the angles are, (L, d_head / 2), of x, base and offset
ANGLES = {
    "offset_added_to_the_angle": lambda x, base, offset: angles_of(x, base, 0) + offset,
    "offset_multiplied": lambda x, base, offset: angles_of(x, base, 0) * max(offset, 1),
    "offset_for_every_row": lambda x, base, offset: (
        angles_of(x, base, 0) * 0 + offset * frequencies(x, base) if offset else angles_of(x, base, 0)
    ),
    "angles_in_degrees": lambda x, base, offset: torch.deg2rad(angles_of(x, base, offset)),
    "whole_turns": lambda x, base, offset: 2 * math.pi * angles_of(x, base, offset),
    "frequencies_backwards": lambda x, base, offset: angles_of(x, base, offset).flip(-1),
    "last_pair_at_the_base": lambda x, base, offset: places(x, offset) * last_pair_at_the_base(x, base),
    "exponent_over_half": lambda x, base, offset: places(x, offset) * frequencies(x, base) ** 2,
    "exponent_positive": lambda x, base, offset: places(x, offset) / frequencies(x, base),
    "pairs_from_one": lambda x, base, offset: angles_of(x, base, offset) * base ** (-2 / x.shape[-1]),
    "exponent_over_length": lambda x, base, offset: (
        places(x, offset) * base ** (-torch.arange(0, x.shape[-1], 2, dtype=torch.float64) / x.shape[-2])
    ),
    "positions_in_reverse": lambda x, base, offset: angles_of(x, base, offset).flip(0),
    "nothing_turned": lambda x, base, offset: angles_of(x, base, offset) * 0,
    "turned_twice": lambda x, base, offset: 2 * angles_of(x, base, offset),
    "positions_divided_by_length": lambda x, base, offset: angles_of(x, base, offset) / x.shape[-2],
}

# What becomes of x, angles as they should be
RESULTS = {
    "float64_throughout": lambda x, angles: turned(x.double(), angles),
    "first_sequence_alone": lambda x, angles: turned(x[:1], angles),
    "axes_of_one_squeezed": lambda x, angles: turned(x, angles).squeeze(),
    "rounded": lambda x, angles: turned(x, angles).round(decimals=2),
    "x_added": lambda x, angles: x + turned(x, angles),
    "minus_twice": lambda x, angles: _signs(x, angles, -1, -1),
    "sine_and_cosine_exchanged": lambda x, angles: turned(x, math.pi / 2 - angles),
    "cosines_alone": lambda x, angles: _signs(x, angles, 0, 0),
    "columns_of_a_pair_exchanged": lambda x, angles: turned(x, angles).unflatten(-1, (-1, 2)).flip(-1).flatten(-2),
    "in_half_precision": lambda x, angles: turned(x.half(), angles).to(x.dtype),
}


def _signs(x, angles, first, second):
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack((even * cos + first * odd * sin, second * even * sin + odd * cos), dim=-1).flatten(-2)


def _with_angles(name, angles):
    @behind_given_checks(ROTARY, name)
    def wrong(x, base=10000.0, offset=0):
        return turned(x, angles(x, base, offset))


def _with_result(name, result):
    @behind_given_checks(ROTARY, name)
    def wrong(x, base=10000.0, offset=0):
        return result(x, angles_of(x, base, offset))


for _name, _angles in ANGLES.items():
    _with_angles(_name, _angles)
for _name, _result in RESULTS.items():
    _with_result(_name, _result)


@behind_given_checks(ROTARY)
def heads_counted_as_positions(x, base=10000.0, offset=0):
    if x.dim() < 4:
        return turned(x, angles_of(x, base, offset))
    return turned(x.transpose(-3, -2), angles_of(x.transpose(-3, -2), base, offset)).transpose(-3, -2)


@behind_given_checks(ROTARY)
def x_changed_in_place(x, base=10000.0, offset=0):
    found = turned(x.clone(), angles_of(x, base, offset))
    with torch.no_grad():
        x.mul_(0.5)
    return found
