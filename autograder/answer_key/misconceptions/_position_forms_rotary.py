"""Further forms of wrong rotary positions."""

import math

import torch

from ._given import behind_given_checks
from ._position_rotary import ROTARY, angles_of, frequencies, turned
from ._position_rotary_more import places


def _signed(x, angles, first, second, third, fourth):
    """even · cos and odd · sin, even · sin and odd · cos, each times its sign."""
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    even, odd = x[..., 0::2], x[..., 1::2]
    both = (first * even * cos + second * odd * sin, third * even * sin + fourth * odd * cos)
    return torch.stack(both, dim=-1).flatten(-2)


def _halves(x, angles):
    """The two halves of each row, turned as pairs half a row apart."""
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    first, second = x.chunk(2, dim=-1)
    return first * cos - second * sin, first * sin + second * cos


def _halves_with(x, angles):
    """x · cos + its halves exchanged · sin, with an angle for each column."""
    first, second = x.chunk(2, dim=-1)
    return x * angles.cos().to(x.dtype) + torch.cat((-second, first), dim=-1) * angles.sin().to(x.dtype)


def _outside(x, positions, some):
    cos, sin = (positions.cos() * some).to(x.dtype), (positions.sin() * some).to(x.dtype)
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack((even * cos - odd * sin, even * sin + odd * cos), dim=-1).flatten(-2)


def _pairs(x):
    """The shape of x, its last axis counting pairs."""
    return (*x.shape[:-1], x.shape[-1] // 2)


def _exponents(x):
    return torch.arange(0, x.shape[-1], 2, dtype=torch.float64) / x.shape[-1]


# Of x and its angles as they should be: id, or id/form
RESULTS = {
    "one_cosine_negative": lambda x, angles: _signed(x, angles, 1, -1, 1, -1),
    "one_cosine_negative/first": lambda x, angles: _signed(x, angles, -1, -1, 1, 1),
    "one_cosine_negative/reflected": lambda x, angles: _signed(x, angles, 1, 1, 1, -1),
    "halves_as_pairs/woven": lambda x, angles: torch.stack(_halves(x, angles), dim=-1).flatten(-2),
    "angles_of_neighbours_for_halves": lambda x, angles: _halves_with(x, angles.repeat_interleave(2, dim=-1)),
    "halves_as_pairs/backward": lambda x, angles: _halves_with(x, -angles.repeat(1, 2)),
    "rounded/to_three_digits": lambda x, angles: turned(x, angles).round(decimals=3),
    "odd_column_taken_for_the_even": lambda x, angles: turned(x.unflatten(-1, (-1, 2)).flip(-1).flatten(-2), angles),
    "angle_added": lambda x, angles: x + angles.repeat_interleave(2, dim=-1).to(x.dtype),
    "sines_alone": lambda x, angles: turned(x, angles) - _signed(x, angles, 1, 0, 0, 1),
    "half_the_columns_left_out": lambda x, angles: turned(x, angles)[..., 0::2],
    "first_token_for_all": lambda x, angles: turned(x, angles[:1].expand_as(angles)),
}

# Of x, its positions as a column, and base: the angles
ANGLES = {
    "first_pair_alone": lambda x, at, base: at * (_exponents(x) == 0),
    "power_of_e": lambda x, at, base: at * (-_exponents(x)).exp(),
    "decimal_logarithm": lambda x, at, base: at * (-_exponents(x) * math.log10(base)).exp(),
    "exponent_not_divided": lambda x, at, base: at * base ** (-_exponents(x) * x.shape[-1]),
    "integer_exponent": lambda x, at, base: at * base ** -_exponents(x).ceil(),
    "exponent_over_one_less": lambda x, at, base: at * base ** (-_exponents(x) * x.shape[-1] / (x.shape[-1] - 1)),
    "exponent_positive/in_float32": lambda x, at, base: at.float() * base ** _exponents(x).float(),
    "exponent_positive/divided": lambda x, at, base: at.float() / base ** -_exponents(x).float(),
    "frequency_added": lambda x, at, base: at + base ** -_exponents(x),
}


def _with_result(result):
    return lambda x, base=10000.0, offset=0: result(x, angles_of(x, base, offset))


def _with_angles(angles):
    return lambda x, base=10000.0, offset=0: turned(x, angles(x, places(x, offset), base))


for _some, _as in ((RESULTS, _with_result), (ANGLES, _with_angles)):
    for _name, _function in _some.items():
        _like, _, _form = _name.rpartition("/")
        behind_given_checks(ROTARY, _form, _like)(_as(_function))


def form(like=""):
    return behind_given_checks(ROTARY, like=like)


@form(like="positions_along_axis_one")
def in_a_view_of_all_axes(x, base=10000.0, offset=0):
    angles = (torch.arange(x.shape[1])[:, None] + offset) * frequencies(x, base)
    return turned(x, angles.view(*(size if axis in (1, x.dim() - 1) else 1 for axis, size in enumerate(_pairs(x)))))


@form()
def frequency_outside(x, base=10000.0, offset=0):
    return _outside(x, places(x, offset), frequencies(x, base))


@form(like="offset_multiplied")
def also_by_zero(x, base=10000.0, offset=0):
    return turned(x, angles_of(x, base, 0) * offset)


@form()
def three_axes_alone(x, base=10000.0, offset=0):
    batch, length, width = x.shape
    return turned(x, angles_of(x, base, offset))


@form(like="three_axes_alone")
def with_heads(x, base=10000.0, offset=0):
    batch, heads, length, width = x.shape
    return turned(x, angles_of(x, base, offset))


@form(like="three_axes_alone")
def two_axes(x, base=10000.0, offset=0):
    length, width = x.shape
    return turned(x, angles_of(x, base, offset))


@form()
def offset_without_a_later_end(x, base=10000.0, offset=0):
    return turned(x, torch.arange(offset, x.shape[-2])[:, None] * frequencies(x, base))


@form(like="even_column_overwritten_too_early")
def in_a_copy(x, base=10000.0, offset=0):
    angles, out = angles_of(x, base, offset), x.clone()
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    out[..., 0::2] = out[..., 0::2] * cos - out[..., 1::2] * sin
    out[..., 1::2] = out[..., 0::2] * sin + out[..., 1::2] * cos
    return out


@form(like="positions_in_the_dtype_of_x")
def counted_in_it(x, base=10000.0, offset=0):
    at = torch.arange(x.shape[-2], dtype=x.dtype)[:, None] + offset
    width = x.shape[-1]
    return turned(x, at * base ** (-torch.arange(0, width, 2, dtype=x.dtype) / width))
