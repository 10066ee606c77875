"""Wrong tables of sines and cosines, and wrong matrices that shift them."""

import math

import torch

from . import misconception
from ._given import behind_given_checks

TABLE, SHIFT = "positions.sinusoidal_encoding", "positions.shift_matrix"
wrong, wrong_shift = behind_given_checks(TABLE), behind_given_checks(SHIFT)


def exponents(d_model):
    """2i / d_model for each pair i."""
    return torch.arange(0, d_model, 2, dtype=torch.float64) / d_model


def positions(max_length):
    return torch.arange(max_length, dtype=torch.float64)[:, None]


def interleaved(sines, cosines):
    return torch.stack((sines, cosines), dim=-1).flatten(-2).float()


def table(angles):
    return interleaved(angles.sin(), angles.cos())


# 6.1 sinusoidal_encoding: what the positions are multiplied with, as a function of d_model and base.
FREQUENCIES = {
    "exponent_without_two": lambda d_model, base: base ** (-exponents(d_model) / 2),
    "exponent_over_half": lambda d_model, base: base ** (-exponents(d_model) * 2),
    "integer_exponent": lambda d_model, base: base ** (-(torch.arange(0, d_model, 2) // d_model).double()),
    "exponent_positive": lambda d_model, base: base ** exponents(d_model),
    "base_ignored": lambda d_model, base: 10000.0 ** -exponents(d_model),
    "last_pair_at_the_base": lambda d_model, base: (
        base ** (-torch.arange(d_model // 2, dtype=torch.float64) / max(d_model // 2 - 1, 1))
    ),
    "frequencies_backwards": lambda d_model, base: (base ** -exponents(d_model)).flip(0),
}


def _with_frequencies(name, frequencies):
    @behind_given_checks(TABLE, name)
    def wrong_frequencies(max_length, d_model, base=10000.0):
        return table(positions(max_length) * frequencies(d_model, base))


for _name, _frequencies in FREQUENCIES.items():
    _with_frequencies(_name, _frequencies)


@wrong
def positions_from_one(max_length, d_model, base=10000.0):
    return table((positions(max_length) + 1) * base ** -exponents(d_model))


@wrong
def exponent_twice_the_column(max_length, d_model, base=10000.0):
    column = torch.arange(d_model, dtype=torch.float64)
    angles = positions(max_length) * base ** (-2 * column / d_model)
    angles[:, 0::2], angles[:, 1::2] = angles[:, 0::2].sin(), angles[:, 1::2].cos()
    return angles.float()


@wrong
def exponent_of_each_column(max_length, d_model, base=10000.0):
    column = torch.arange(d_model, dtype=torch.float64)
    angles = positions(max_length) * base ** (-column / d_model)
    angles[:, 0::2], angles[:, 1::2] = angles[:, 0::2].sin(), angles[:, 1::2].cos()
    return angles.float()


@wrong
def halves_side_by_side(max_length, d_model, base=10000.0):
    angles = positions(max_length) * base ** -exponents(d_model)
    return torch.cat((angles.sin(), angles.cos()), dim=-1).float()


@wrong
def sine_and_cosine_exchanged(max_length, d_model, base=10000.0):
    angles = positions(max_length) * base ** -exponents(d_model)
    return interleaved(angles.cos(), angles.sin())


@wrong
def odd_columns_left_zero(max_length, d_model, base=10000.0):
    angles = positions(max_length) * base ** -exponents(d_model)
    return interleaved(angles.sin(), torch.zeros_like(angles))


@wrong
def sines_everywhere(max_length, d_model, base=10000.0):
    angles = positions(max_length) * base ** -exponents(d_model)
    return interleaved(angles.sin(), angles.sin())


@wrong
def positions_in_columns(max_length, d_model, base=10000.0):
    return table(positions(max_length) * base ** -exponents(d_model)).mT


@wrong
def angles_in_degrees(max_length, d_model, base=10000.0):
    return table(torch.deg2rad(positions(max_length) * base ** -exponents(d_model)))


@wrong
def positions_divided_by_length(max_length, d_model, base=10000.0):
    return table(positions(max_length) / max(max_length, 1) * base ** -exponents(d_model))


@wrong
def kept_in_float64(max_length, d_model, base=10000.0):
    angles = positions(max_length) * base ** -exponents(d_model)
    return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(-2)


@misconception(TABLE)
def given_checks_removed(max_length, d_model, base=10000.0):
    encoding = torch.zeros(max_length, d_model)
    for p in range(max_length):
        for i in range(0, d_model, 2):
            encoding[p, i] = math.sin(p / base ** (i / d_model))
            encoding[p, i + 1] = math.cos(p / base ** (i / d_model))
    return encoding


# 6.2 shift_matrix


def blocks(corners):
    """The matrix with [[a, b], [c, d]] of each pair along the diagonal; corners: four vectors of one entry per pair."""
    a, b, c, d = corners
    rows = torch.stack((torch.stack((a, b), dim=-1), torch.stack((c, d), dim=-1)), dim=-2)
    return torch.block_diag(*rows).float()


def rotation(angles):
    cos, sin = angles.cos(), angles.sin()
    return blocks((cos, -sin, sin, cos))


@wrong_shift
def for_columns(offset, d_model, base=10000.0):
    return rotation(offset * base ** -exponents(d_model)).mT


@wrong_shift
def halves_in_blocks(offset, d_model, base=10000.0):
    angles = offset * base ** -exponents(d_model)
    cos, sin = torch.diag(angles.cos()), torch.diag(angles.sin())
    return torch.cat((torch.cat((cos, -sin), dim=1), torch.cat((sin, cos), dim=1))).float()


@wrong_shift
def one_angle_for_all_pairs(offset, d_model, base=10000.0):
    return rotation(offset * torch.ones(d_model // 2, dtype=torch.float64))


@wrong_shift
def identity_rolled(offset, d_model, base=10000.0):
    return torch.eye(d_model).roll(offset, dims=0)


@wrong_shift
def table_row_on_the_diagonal(offset, d_model, base=10000.0):
    return torch.diag(table(offset * base ** -exponents(d_model)))


@wrong_shift
def minus_lost(offset, d_model, base=10000.0):
    angles = offset * base ** -exponents(d_model)
    return blocks((angles.cos(), angles.sin(), angles.sin(), angles.cos()))


@wrong_shift
def sines_on_the_diagonal(offset, d_model, base=10000.0):
    angles = offset * base ** -exponents(d_model)
    return blocks((angles.sin(), angles.cos(), -angles.cos(), angles.sin()))


@wrong_shift
def exponent_without_two(offset, d_model, base=10000.0):
    return rotation(offset * base ** (-exponents(d_model) / 2))


@wrong_shift
def base_ignored(offset, d_model, base=10000.0):
    return rotation(offset * 10000.0 ** -exponents(d_model))


@wrong_shift
def sign_of_offset_lost(offset, d_model, base=10000.0):
    return rotation(abs(offset) * base ** -exponents(d_model))


@wrong_shift
def one_block_for_all(offset, d_model, base=10000.0):
    return rotation(offset * base ** -exponents(d_model))[:2, :2]


@wrong_shift
def double_precision_kept(offset, d_model, base=10000.0):
    angles = offset * base ** -exponents(d_model)
    matrix = torch.zeros(d_model, d_model, dtype=torch.float64)
    for i, angle in enumerate(angles):
        matrix[2 * i, 2 * i] = matrix[2 * i + 1, 2 * i + 1] = angle.cos()
        matrix[2 * i + 1, 2 * i] = angle.sin()
        matrix[2 * i, 2 * i + 1] = -angle.sin()
    return matrix


def _shift_given_checks_removed(offset, d_model, base=10000.0):
    matrix = torch.zeros(d_model, d_model)
    for i in range(0, d_model, 2):
        angle = offset / base ** (i / d_model)
        matrix[i, i] = matrix[i + 1, i + 1] = math.cos(angle)
        matrix[i + 1, i] = math.sin(angle)
        matrix[i, i + 1] = -math.sin(angle)
    return matrix


_shift_given_checks_removed.__name__ = "given_checks_removed"
misconception(SHIFT)(_shift_given_checks_removed)
