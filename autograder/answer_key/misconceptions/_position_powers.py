"""Wrong frequencies of tables, shift matrices and rotary positions: what becomes of the power of the base."""

import math

import torch

from ._given import behind_given_checks
from ._position_rotary import ROTARY, turned
from ._position_rotary_more import places
from ._position_tables import SHIFT, TABLE, positions, rotation, table

# Of the pairs' numbers 0, 1, …, the width and the base
FREQUENCIES = {
    "base_for_its_logarithm": lambda pair, width, base: (-2 * pair / width * base).exp(),
    "pair_not_in_the_exponent": lambda pair, width, base: base ** (-2 / width) * torch.ones_like(pair),
    "width_outside_the_power": lambda pair, width, base: base ** (-2 * pair) / width,
    "product_for_power": lambda pair, width, base: 1 / (base * 2 * pair / width),
    "product_for_power/from_one": lambda pair, width, base: 1 / (base * 2 * (pair + 1) / width),
    "product_for_power/one_at_least": lambda pair, width, base: 1 / (base * 2 * pair / width).clamp(min=1),
}
DECIMAL = {"decimal_logarithm": lambda pair, width, base: (-2 * pair / width * math.log10(base)).exp()}


def pairs(width):
    return torch.arange(width // 2, dtype=torch.float64)


def _table(frequencies):
    return lambda max_length, d_model, base=10000.0: table(
        positions(max_length) * frequencies(pairs(d_model), d_model, base)
    )


def _matrix(frequencies):
    return lambda offset, d_model, base=10000.0: rotation(offset * frequencies(pairs(d_model), d_model, base))


def _rotary(frequencies):
    return lambda x, base=10000.0, offset=0: turned(
        x, places(x, offset) * frequencies(pairs(x.shape[-1]), x.shape[-1], base)
    )


for _exercise, _called, _some in (
    (TABLE, _table, FREQUENCIES),
    (SHIFT, _matrix, FREQUENCIES | DECIMAL),
    (ROTARY, _rotary, FREQUENCIES),
):
    for _name, _frequencies in _some.items():
        _like, _, _form = _name.rpartition("/")
        behind_given_checks(_exercise, _form, _like)(_called(_frequencies))
