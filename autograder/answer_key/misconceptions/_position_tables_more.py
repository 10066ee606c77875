"""Wrong tables and shift matrices whose rows, columns or angles are the wrong ones."""

import math

import torch

from ._given import behind_given_checks
from ._position_tables import SHIFT, TABLE, blocks, exponents, interleaved, positions, rotation, table


def right(max_length, d_model, base):
    """The table as it should be."""
    return table(positions(max_length) * base ** -exponents(d_model))


def without(kept, rows=(), columns=()):
    """A table in which some rows and columns were never written."""
    kept[list(rows)] = 0.0
    kept[:, list(columns)] = 0.0
    return kept


# 6.1 sinusoidal_encoding: each takes max_length, d_model and base
TABLES = {
    "pairs_from_one": lambda n, d, base: table(positions(n) * base ** (-exponents(d) - 2 / d)),
    "exponent_not_divided": lambda n, d, base: table(positions(n) * base ** (-exponents(d) * d)),
    "exponent_over_length": lambda n, d, base: table(positions(n) * base ** (-exponents(d) * d / n)),
    "exponent_over_one_less": lambda n, d, base: table(positions(n) * base ** (-exponents(d) * d / (d - 1))),
    "power_of_e": lambda n, d, base: table(positions(n) * (-exponents(d)).exp()),
    "whole_turns": lambda n, d, base: table(positions(n) * 2 * math.pi * base ** -exponents(d)),
    "position_added": lambda n, d, base: table(positions(n) + base ** -exponents(d)),
    "angles_themselves": lambda n, d, base: (positions(n) * base ** -exponents(d)).repeat_interleave(2, dim=1).float(),
    "angles_negative": lambda n, d, base: table(-positions(n) * base ** -exponents(d)),
    "cosines_negative": lambda n, d, base: table(math.pi - positions(n) * base ** -exponents(d)),
    "cosines_everywhere": lambda n, d, base: right(n, d, base)[:, 1::2].repeat_interleave(2, dim=1),
    "rows_in_reverse": lambda n, d, base: right(n, d, base).flip(0),
    "one_row_too_many": lambda n, d, base: right(n + 1, d, base),
    "last_row_missing": lambda n, d, base: right(n, d, base)[:-1],
    "last_row_left_zero": lambda n, d, base: without(right(n, d, base), rows=[-1]),
    "first_row_left_zero": lambda n, d, base: without(right(n, d, base), rows=[0]),
    "last_pair_left_zero": lambda n, d, base: without(right(n, d, base), columns=[-2, -1]),
    "axis_for_the_batch": lambda n, d, base: right(n, d, base)[None],
    "whole_numbers": lambda n, d, base: right(n, d, base).long(),
    "half_a_position_late": lambda n, d, base: table((positions(n) + 0.5) * base ** -exponents(d)),
    "doubled": lambda n, d, base: 2 * right(n, d, base),
    "rounded": lambda n, d, base: right(n, d, base).round(decimals=2),
    "in_half_precision": lambda n, d, base: right(n, d, base).half().float(),
    "kept_in_half_precision": lambda n, d, base: right(n, d, base).half(),
    "scaled_by_root": lambda n, d, base: right(n, d, base) / math.sqrt(d),
    "sums_of_pairs": lambda n, d, base: right(n, d, base).unflatten(1, (-1, 2)).sum(-1),
}

# 6.2 shift_matrix: each takes offset, d_model and base
SHIFTS = {
    "offset_ignored": lambda k, d, base: torch.eye(d),
    "one_step_always": lambda k, d, base: rotation(base ** -exponents(d)),
    "one_step_too_far": lambda k, d, base: rotation((k + 1) * base ** -exponents(d)),
    "exponent_over_half": lambda k, d, base: rotation(k * base ** (-exponents(d) * 2)),
    "exponent_positive": lambda k, d, base: rotation(k * base ** exponents(d)),
    "last_pair_at_the_base": lambda k, d, base: rotation(
        k * base ** (-torch.arange(d // 2, dtype=torch.float64) / max(d // 2 - 1, 1))
    ),
    "pairs_from_one": lambda k, d, base: rotation(k * base ** (-exponents(d) - 2 / d)),
    "frequencies_backwards": lambda k, d, base: rotation((k * base ** -exponents(d)).flip(0)),
    "angles_in_degrees": lambda k, d, base: rotation(torch.deg2rad(k * base ** -exponents(d))),
    "first_pair_alone": lambda k, d, base: rotation(k * (exponents(d) == 0)),
    "last_block_left_zero": lambda k, d, base: without(
        rotation(k * base ** -exponents(d)), rows=[-2, -1] if d > 2 else [], columns=[-2, -1] if d > 2 else []
    ),
    "cosines_alone": lambda k, d, base: torch.diag((k * base ** -exponents(d)).cos().repeat_interleave(2)).float(),
    "minus_twice": lambda k, d, base: _signs(k * base ** -exponents(d), -1.0, -1.0),
    "axis_for_the_batch": lambda k, d, base: rotation(k * base ** -exponents(d))[None],
    "blocks_not_joined": lambda k, d, base: torch.stack([rotation(angle[None]) for angle in k * base ** -exponents(d)]),
    "rows_of_the_table": lambda k, d, base: interleaved(
        *(one(torch.arange(d)[:, None] + k * base ** -exponents(d)) for one in (torch.sin, torch.cos))
    ),
    "negative": lambda k, d, base: -rotation(k * base ** -exponents(d)),
    "half_the_offset": lambda k, d, base: rotation(k / 2 * base ** -exponents(d)),
    "never_backward": lambda k, d, base: rotation(max(k, 0) * base ** -exponents(d)),
    "one_sine_missing": lambda k, d, base: rotation(k * base ** -exponents(d)).tril(),
    "whole_turns": lambda k, d, base: rotation(2 * math.pi * k * base ** -exponents(d)),
    "rounded": lambda k, d, base: rotation(k * base ** -exponents(d)).round(decimals=2),
}


def _signs(angles, above, below):
    return blocks((angles.cos(), above * angles.sin(), below * angles.sin(), angles.cos()))


def _named(exercise, name, function):
    if exercise == TABLE:

        @behind_given_checks(exercise, name)
        def wrong_table(max_length, d_model, base=10000.0):
            return function(max_length, d_model, base)

    else:

        @behind_given_checks(exercise, name)
        def wrong_matrix(offset, d_model, base=10000.0):
            return function(offset, d_model, base)


for _name, _function in TABLES.items():
    _named(TABLE, _name, _function)
for _name, _function in SHIFTS.items():
    _named(SHIFT, _name, _function)
