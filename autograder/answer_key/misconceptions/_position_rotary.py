"""Wrong rotary positions."""

import torch

from . import misconception
from ._given import behind_given_checks

ROTARY = "positions.apply_rotary"
wrong = behind_given_checks(ROTARY)


def frequencies(x, base):
    width = x.shape[-1]
    return base ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)


def angles_of(x, base, offset):
    """(L, d_head / 2)"""
    positions = torch.arange(x.shape[-2], dtype=torch.float64) + offset
    return positions[:, None] * frequencies(x, base)


def turned(x, angles):
    """Each adjacent pair of columns turned by its angle."""
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack((even * cos - odd * sin, even * sin + odd * cos), dim=-1).flatten(-2)


@wrong
def halves_as_pairs(x, base=10000.0, offset=0):
    angles = angles_of(x, base, offset)
    cos = torch.cat((angles.cos(), angles.cos()), dim=-1).to(x.dtype)
    sin = torch.cat((angles.sin(), angles.sin()), dim=-1).to(x.dtype)
    first, second = x.chunk(2, dim=-1)
    return x * cos + torch.cat((-second, first), dim=-1) * sin


@wrong
def halves_of_angles_for_pairs(x, base=10000.0, offset=0):
    angles = angles_of(x, base, offset)
    cos = torch.cat((angles.cos(), angles.cos()), dim=-1).to(x.dtype)
    sin = torch.cat((angles.sin(), angles.sin()), dim=-1).to(x.dtype)
    turned_by_90 = torch.stack((-x[..., 1::2], x[..., 0::2]), dim=-1).flatten(-2)
    return x * cos + turned_by_90 * sin


@wrong
def turned_backward(x, base=10000.0, offset=0):
    return turned(x, -angles_of(x, base, offset))


@wrong
def offset_ignored(x, base=10000.0, offset=0):
    return turned(x, angles_of(x, base, 0))


@wrong
def offset_subtracted(x, base=10000.0, offset=0):
    return turned(x, angles_of(x, base, -offset))


def along(x, axis, base, offset):
    """Rotated by the position along another axis."""
    positions = torch.arange(x.shape[axis], dtype=torch.float64) + offset
    shape = [1] * x.dim()
    shape[axis] = x.shape[axis]
    return turned(x, positions.reshape(shape) * frequencies(x, base))


@wrong
def positions_along_axis_one(x, base=10000.0, offset=0):
    return along(x, 1, base, offset)


@wrong
def length_of_axis_one(x, base=10000.0, offset=0):
    positions = torch.arange(x.shape[1], dtype=torch.float64)[:, None] + offset
    return turned(x, positions * frequencies(x, base))


@wrong
def positions_along_axis_zero(x, base=10000.0, offset=0):
    return along(x, 0, base, offset)


@wrong
def one_angle_for_all_pairs(x, base=10000.0, offset=0):
    return turned(x, angles_of(x, 1.0, offset))


@wrong
def table_added(x, base=10000.0, offset=0):
    angles = angles_of(x, base, offset)
    return x + torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(-2).to(x.dtype)


@wrong
def table_multiplied(x, base=10000.0, offset=0):
    angles = angles_of(x, base, offset)
    return x * torch.stack((angles.cos(), angles.sin()), dim=-1).flatten(-2).to(x.dtype)


@wrong
def pairs_left_in_halves(x, base=10000.0, offset=0):
    angles = angles_of(x, base, offset)
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.cat((even * cos - odd * sin, even * sin + odd * cos), dim=-1)


@wrong
def positions_from_one(x, base=10000.0, offset=0):
    return turned(x, angles_of(x, base, offset + 1))


@wrong
def half_the_columns(x, base=10000.0, offset=0):
    half = x.shape[-1] // 4 * 2 or 2
    return torch.cat((turned(x[..., :half], angles_of(x[..., :half], base, offset)), x[..., half:]), dim=-1)


@wrong
def exponent_of_each_column(x, base=10000.0, offset=0):
    width = x.shape[-1]
    positions = torch.arange(x.shape[-2], dtype=torch.float64)[:, None] + offset
    angles = positions * base ** (-torch.arange(width, dtype=torch.float64) / width)
    turned_by_90 = torch.stack((-x[..., 1::2], x[..., 0::2]), dim=-1).flatten(-2)
    return x * angles.cos().to(x.dtype) + turned_by_90 * angles.sin().to(x.dtype)


@wrong
def exponent_without_two(x, base=10000.0, offset=0):
    positions = torch.arange(x.shape[-2], dtype=torch.float64)[:, None] + offset
    return turned(x, positions * frequencies(x, base).sqrt())


@wrong
def base_ignored(x, base=10000.0, offset=0):
    return turned(x, angles_of(x, 10000.0, offset))


@wrong
def minus_lost(x, base=10000.0, offset=0):
    angles = angles_of(x, base, offset)
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack((even * cos + odd * sin, even * sin + odd * cos), dim=-1).flatten(-2)


@wrong
def even_column_overwritten_too_early(x, base=10000.0, offset=0):
    angles = angles_of(x, base, offset)
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    even, odd = x[..., 0::2], x[..., 1::2]
    even = even * cos - odd * sin
    odd = even * sin + odd * cos
    return torch.stack((even, odd), dim=-1).flatten(-2)


@wrong
def written_into_x(x, base=10000.0, offset=0):
    angles = angles_of(x, base, offset)
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    even, odd = x[..., 0::2].clone(), x[..., 1::2].clone()
    x[..., 0::2] = even * cos - odd * sin
    x[..., 1::2] = even * sin + odd * cos
    return x


@wrong
def converted_to_float32(x, base=10000.0, offset=0):
    return turned(x.float(), angles_of(x, base, offset))


@wrong
def promoted_by_the_angles(x, base=10000.0, offset=0):
    angles = angles_of(x, base, offset).float()
    cos, sin = angles.cos(), angles.sin()
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack((even * cos - odd * sin, even * sin + odd * cos), dim=-1).flatten(-2)


@wrong
def positions_in_the_dtype_of_x(x, base=10000.0, offset=0):
    positions = torch.arange(x.shape[-2], dtype=torch.float64).add(offset).to(x.dtype)
    return turned(x, positions[:, None] * frequencies(x, base).to(x.dtype))


@wrong
def gradient_cut(x, base=10000.0, offset=0):
    with torch.no_grad():
        return turned(x, angles_of(x, base, offset))


@misconception(ROTARY)
def given_checks_removed(x, base=10000.0, offset=0):
    return turned(x, angles_of(x, base, offset))
