"""Further forms of wrong tables and shift matrices: in float32, in loops, with slices and brackets set otherwise."""

import math

import torch

from ._given import behind_given_checks
from ._position_tables import SHIFT, TABLE, blocks, exponents, positions, rotation
from ._position_tables_more import right


def wrong(exercise, like=""):
    return behind_given_checks(exercise, like=like)


def angles_of(n, d, base):
    return positions(n) * base ** -exponents(d)


def columns(even, odd):
    """A table with these in its even and odd columns."""
    return torch.stack((even, odd), dim=-1).flatten(-2).float()


def _evens(d):
    return torch.arange(0, d, 2).float()


# 6.1 sinusoidal_encoding: id, or id/form, of max_length, d_model and base
TABLES = {
    "cosines_over_the_sines": lambda n, d, base: columns(angles_of(n, d, base).cos(), torch.zeros(n, d // 2)),
    "frequency_outside": lambda n, d, base: columns(
        *(one(positions(n)) * base ** -exponents(d) for one in (torch.sin, torch.cos))
    ),
    "base_and_width_exchanged": lambda n, d, base: columns(
        *(one(positions(n) * d ** (-torch.arange(0, d, 2).double() / base)) for one in (torch.sin, torch.cos))
    ),
    "rows_normalised": lambda n, d, base: torch.nn.functional.normalize(right(n, d, base), dim=-1),
    "angles_cut_off": lambda n, d, base: columns(
        *(one(positions(n) // base ** exponents(d)) for one in (torch.sin, torch.cos))
    ),
    "angles_cut_off/denominators": lambda n, d, base: columns(
        *(one(positions(n) / (base ** exponents(d)).long()) for one in (torch.sin, torch.cos))
    ),
    "sines_absolute": lambda n, d, base: columns(angles_of(n, d, base).sin().abs(), angles_of(n, d, base).cos()),
    "tangents": lambda n, d, base: columns(angles_of(n, d, base).sin(), angles_of(n, d, base).tan()),
    "cosine_one_position_on": lambda n, d, base: columns(
        angles_of(n, d, base).sin(), (angles_of(n, d, base) + base ** -exponents(d)).cos()
    ),
    "stacked_in_front": lambda n, d, base: (
        torch.stack((angles_of(n, d, base).sin(), angles_of(n, d, base).cos())).reshape(n, d).float()
    ),
    "sines_and_cosines_apart": lambda n, d, base: (
        angles_of(n, d, base).sin().float(),
        angles_of(n, d, base).cos().float(),
    ),
    "halves_side_by_side/cosines_first": lambda n, d, base: torch.cat(
        (angles_of(n, d, base).cos(), angles_of(n, d, base).sin()), dim=-1
    ).float(),
    "exponent_over_the_root": lambda n, d, base: columns(
        *(one(positions(n) * base ** (-exponents(d) * math.sqrt(d))) for one in (torch.sin, torch.cos))
    ),
    "scaled_by_root/multiplied": lambda n, d, base: right(n, d, base) * math.sqrt(d),
    "angles_in_degrees/converted": lambda n, d, base: columns(
        *(one(torch.rad2deg(angles_of(n, d, base))) for one in (torch.sin, torch.cos))
    ),
    "exponent_positive/over_the_inverse": lambda n, d, base: columns(
        *(one(torch.arange(n)[:, None] / (_evens(d) * (-math.log(base) / d)).exp()) for one in (torch.sin, torch.cos))
    ),
    "exponent_over_half/times_four": lambda n, d, base: columns(
        *(one(positions(n) * base ** (-exponents(d) * 4)) for one in (torch.sin, torch.cos))
    ),
    "last_pair_at_the_base/evenly": lambda n, d, base: columns(
        *(one(positions(n).float() / base ** torch.linspace(0, 1, d // 2)) for one in (torch.sin, torch.cos))
    ),
}


# Frequencies in float32, as most would write them: where angles are large, other numbers come out.
def _floats(d):
    return torch.arange(0, d, 2) / d


NARROW = {
    "exponent_positive/as_a_power": lambda d, base: base ** _floats(d),
    "exponent_positive/in_float32": lambda d, base: (torch.arange(0, d, 2) * (math.log(base) / d)).exp(),
    "integer_exponent/rounded_down": lambda d, base: base ** (-torch.arange(0, d, 2) // d).float(),
    "exponent_not_divided/in_float32": lambda d, base: base ** -torch.arange(0, d, 2).float(),
    "exponent_positive/not_divided": lambda d, base: base ** torch.arange(0, d, 2).float(),
    "exponent_cut_to_a_whole": lambda d, base: (torch.arange(0, d, 2) * (-math.log(base) / d // 2)).exp(),
    "exponent_cut_to_a_whole/by_pairs": lambda d, base: (torch.arange(d // 2) * (-math.log(base) / d // 2)).exp(),
    "exponent_cut_to_a_whole/by_the_width": lambda d, base: (torch.arange(0, d, 2) * (-math.log(base) // d)).exp(),
}
for _name, _frequencies in NARROW.items():
    TABLES[_name] = lambda n, d, base, frequencies=_frequencies: columns(
        *(one(torch.arange(n)[:, None] * frequencies(d, base)) for one in (torch.sin, torch.cos))
    )


def _each(forms, exercise, called):
    for name, function in forms.items():
        like, _, form = name.rpartition("/")
        behind_given_checks(exercise, form, like)(called(function))


def _as_table(function):
    return lambda max_length, d_model, base=10000.0: function(max_length, d_model, base)


def _as_matrix(function):
    return lambda offset, d_model, base=10000.0: function(offset, d_model, base)


_each(TABLES, TABLE, _as_table)


@wrong(TABLE)
def power_before_product(max_length, d_model, base=10000.0):
    encoding = torch.zeros(max_length, d_model)
    for p in range(max_length):
        for i in range(d_model // 2):
            angle = p * base**-2 * i / d_model
            encoding[p, 2 * i], encoding[p, 2 * i + 1] = math.sin(angle), math.cos(angle)
    return encoding


@wrong(TABLE, like="power_before_product")
def divided_after(max_length, d_model, base=10000.0):
    pairs = torch.arange(d_model // 2)
    angles = torch.arange(max_length)[:, None] / base**2 * pairs / d_model
    return columns(angles.sin(), angles.cos())


@wrong(TABLE, like="power_before_product")
def even_columns(max_length, d_model, base=10000.0):
    pairs = torch.arange(0, d_model, 2)
    angles = torch.arange(max_length)[:, None] / base * pairs / d_model
    return columns(angles.sin(), angles.cos())


@wrong(TABLE)
def pairs_counted_by_columns(max_length, d_model, base=10000.0):
    encoding = torch.zeros(max_length, d_model)
    for p in range(max_length):
        for i in range(d_model):
            angle = p * base ** (-2 * i / d_model)
            encoding[p, 2 * i] = math.sin(angle)
            encoding[p, 2 * i + 1] = math.cos(angle)
    return encoding


@wrong(TABLE)
def positions_not_a_column(max_length, d_model, base=10000.0):
    angles = torch.arange(max_length) * base ** -exponents(d_model).float()
    encoding = torch.zeros(max_length, d_model)
    encoding[:, 0::2] = angles.sin()
    encoding[:, 1::2] = angles.cos()
    return encoding


def _written_into_pairs(like, name, frequencies):
    def table(max_length, d_model, base=10000.0):
        angles = torch.arange(max_length)[:, None] * frequencies(d_model, base)
        encoding = torch.zeros(max_length, d_model)
        encoding[:, 0::2] = angles.sin()
        encoding[:, 1::2] = angles.cos()
        return encoding

    behind_given_checks(TABLE, name, like)(table)


_written_into_pairs("", "frequency_for_each_column", lambda d, base: base ** (-torch.arange(d) / d))
_written_into_pairs("", "every_fourth_column", lambda d, base: base ** (-torch.arange(0, d // 2, 2) / d))


@wrong(TABLE)
def rows_for_columns(max_length, d_model, base=10000.0):
    angles = torch.arange(max_length)[:, None] * base ** -exponents(d_model).float()
    encoding = torch.zeros(max_length, d_model)
    encoding[0::2] = angles.sin()
    encoding[1::2] = angles.cos()
    return encoding


@wrong(TABLE)
def base_and_exponent_exchanged(max_length, d_model, base=10000.0):
    angles = torch.arange(max_length)[:, None] / torch.pow(_floats(d_model), base)
    return columns(angles.sin(), angles.cos())


@wrong(TABLE)
def first_row_alone(max_length, d_model, base=10000.0):
    encoding = torch.zeros(max_length, d_model)
    encoding[:1] = right(1, d_model, base)
    return encoding


# 6.2 shift_matrix: id, or id/form, of offset, d_model and base
def _corners(k, d, base):
    angles = k * base ** -exponents(d)
    return angles.cos(), angles.sin()


def _signs(k, d, base, *corners):
    """Blocks of cosines on the diagonal and sines beside it, each times its sign."""
    cos, sin = _corners(k, d, base)
    return blocks([sign * one for sign, one in zip(corners, (cos, sin, sin, cos), strict=True)])


def _exchanged(k, d, base, *corners):
    """Blocks of sines on the diagonal and cosines beside it, each times its sign."""
    cos, sin = _corners(k, d, base)
    return blocks([sign * one for sign, one in zip(corners, (sin, cos, cos, sin), strict=True)])


def _without_block(matrix, first, last):
    matrix[first:last, first:last] = 0.0
    return matrix


SHIFTS = {
    "sines_on_the_diagonal/last_negative": lambda k, d, base: _exchanged(k, d, base, 1, 1, 1, -1),
    "sines_on_the_diagonal/first_negative": lambda k, d, base: _exchanged(k, d, base, -1, 1, 1, 1),
    "sines_on_the_diagonal/above_negative": lambda k, d, base: _exchanged(k, d, base, 1, -1, 1, 1),
    "sines_on_the_diagonal/all_positive": lambda k, d, base: _exchanged(k, d, base, 1, 1, 1, 1),
    "one_cosine_negative": lambda k, d, base: _signs(k, d, base, 1, -1, 1, -1),
    "one_cosine_negative/reflected": lambda k, d, base: _signs(k, d, base, 1, 1, 1, -1),
    "one_cosine_negative/first": lambda k, d, base: _signs(k, d, base, -1, 1, 1, 1),
    "one_cosine_negative/transposed": lambda k, d, base: _signs(k, d, base, 1, 1, -1, -1),
    "added_to_the_identity": lambda k, d, base: torch.eye(d) + _signs(k, d, base, 1, -1, 1, 1),
    "ones_beside_the_blocks": lambda k, d, base: torch.where(
        torch.block_diag(*[torch.ones(2, 2)] * (d // 2)) == 1, _signs(k, d, base, 1, -1, 1, 1), 1.0
    ),
    "turned_twice": lambda k, d, base: rotation(2 * k * base ** -exponents(d)),
    "offset_added": lambda k, d, base: rotation(k + base ** -exponents(d)),
    "frequency_outside": lambda k, d, base: (
        rotation(torch.full((d // 2,), float(k)).double())
        * (base ** -exponents(d)).repeat_interleave(2).float()[:, None]
    ),
    "first_block_left_zero": lambda k, d, base: _without_block(_signs(k, d, base, 1, -1, 1, 1), 0, 2),
    "blocks_after_the_first_left_zero": lambda k, d, base: torch.block_diag(
        _signs(k, d, base, 1, -1, 1, 1)[:2, :2], torch.zeros(d - 2, d - 2)
    ),
    "exponent_of_each_column": lambda k, d, base: _rows_of_their_own(k * base ** (-torch.arange(d).double() / d)),
    "zeros_for_no_offset": lambda k, d, base: _signs(k, d, base, 1, -1, 1, 1) * bool(k),
    "exponent_positive/in_float32": lambda k, d, base: rotation(k * base ** _floats(d)),
    "exponent_positive/divided": lambda k, d, base: rotation(k / base ** -_floats(d)),
    "one_sine_missing/below": lambda k, d, base: _signs(k, d, base, 1, -1, 1, 1).triu(),
    "whole_numbers": lambda k, d, base: _signs(k, d, base, 1, -1, 1, 1).long(),
    "exponent_not_divided": lambda k, d, base: rotation(k * base ** -(exponents(d) * d)),
    "power_of_e": lambda k, d, base: rotation(k * (-exponents(d)).exp()),
    "integer_exponent": lambda k, d, base: rotation(k * base ** (-torch.arange(0, d, 2) // d).double()),
}


def _rows_of_their_own(angles):
    even, odd = angles[0::2], angles[1::2]
    return blocks((even.cos(), -even.sin(), odd.sin(), odd.cos()))


_each(SHIFTS, SHIFT, _as_matrix)
