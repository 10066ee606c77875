"""Wrong tables, matrices, starts and slopes that one wrong number or one lost line leads to."""

import math

import torch
from torch import nn

from . import misconception
from ._given import behind_given_checks, refuse_bad_arguments
from ._position_distances import ALIBI, distance
from ._position_learned import LEARNED, Learned
from ._position_modules import ADDING, Adding
from ._position_rotary import ROTARY, frequencies, turned
from ._position_rotary_more import places
from ._position_tables import SHIFT, TABLE, exponents, interleaved, positions, rotation, table
from ._position_tables_more import right


@behind_given_checks(TABLE)
def cosines_of_the_sines(max_length, d_model, base=10000.0):
    sines = (positions(max_length) * base ** -exponents(d_model)).sin()
    return interleaved(sines, sines.cos())


@behind_given_checks(TABLE)
def decimal_logarithm(max_length, d_model, base=10000.0):
    return table(positions(max_length) * (-exponents(d_model) * math.log10(base)).exp())


@behind_given_checks(SHIFT)
def blocks_overlap(offset, d_model, base=10000.0):
    matrix = torch.zeros(d_model, d_model)
    for i in range(d_model // 2):
        matrix[i : i + 2, i : i + 2] = rotation(offset * base ** -exponents(d_model)[i : i + 1])
    return matrix


@misconception(SHIFT, like="blocks_overlap")
def on_an_identity(offset, d_model, base=10000.0):
    refuse_bad_arguments(SHIFT, offset, d_model, base)
    matrix = torch.eye(d_model)
    for i in range(d_model // 2):
        matrix[i : i + 2, i : i + 2] = rotation(offset * base ** -exponents(d_model)[i : i + 1])
    return matrix


@misconception(LEARNED)
class starts_by_both_sizes(Learned):
    def make(self, max_length, d_model):
        self.weight = nn.Parameter(nn.init.xavier_uniform_(torch.empty(max_length, d_model)))


def _slopes(name, slopes):
    @behind_given_checks(ALIBI, name)
    def wrong(num_heads, query_length, key_length=None):
        key_length = query_length if key_length is None else key_length
        return slopes(num_heads)[:, None, None] * -distance(query_length, key_length)


_slopes("slopes_from_one_to_the_last", lambda heads: 2.0 ** torch.linspace(0.0, -8.0, heads))
_slopes("slopes_of_four_heads", lambda heads: 2.0 ** (-2.0 * torch.arange(1, heads + 1)))


# 6.1 and 6.2
@behind_given_checks(TABLE)
def parity_of_the_position(max_length, d_model, base=10000.0):
    angles = (positions(max_length) * base ** -exponents(d_model)).repeat_interleave(2, dim=1)
    even = torch.arange(max_length)[:, None] % 2 == 0
    return torch.where(even, angles.sin(), angles.cos()).float()


@behind_given_checks(TABLE)
def cosine_of_the_next_pair(max_length, d_model, base=10000.0):
    at = positions(max_length)
    return interleaved(
        (at * base ** -exponents(d_model)).sin(), (at * base ** (-exponents(d_model) - 2 / d_model)).cos()
    )


@behind_given_checks(TABLE)
def columns_overlap(max_length, d_model, base=10000.0):
    encoding = torch.zeros(max_length, d_model)
    for pair in range(d_model // 2):
        encoding[:, pair : pair + 2] = table(positions(max_length) * base ** -exponents(d_model)[pair])
    return encoding


@behind_given_checks(TABLE)
def positions_stretched(max_length, d_model, base=10000.0):
    at = torch.linspace(0, max_length, max_length, dtype=torch.float64)[:, None]
    return table(at * base ** -exponents(d_model))


@behind_given_checks(SHIFT, like="table_row_on_the_diagonal")
def of_the_absolute_offset(offset, d_model, base=10000.0):
    return torch.diag(right(abs(offset) + 1, d_model, base)[-1])


@behind_given_checks(SHIFT)
def negative_offset_from_the_end(offset, d_model, base=10000.0):
    # A table of |offset| + 1 rows has row 1 at place `offset`, counted from its end.
    return rotation((offset if offset >= 0 else 1) * base ** -exponents(d_model))


@behind_given_checks(SHIFT)
def blocks_in_a_column(offset, d_model, base=10000.0):
    return torch.cat([rotation(angle[None]) for angle in offset * base ** -exponents(d_model)])


# 6.3
@misconception(ADDING, like="dropout_twice")
class first_on_x(Adding):
    def add(self, x):
        return self.drop(self.drop(x) + self.rows(x))


@misconception(ADDING, like="dropout_twice")
class first_on_the_table(Adding):
    def add(self, x):
        return self.drop(x + self.drop(self.rows(x).expand_as(x)))


@misconception(ADDING)
class rows_go_on_from_call_to_call(Adding):
    start = 0

    def add(self, x):
        rows = self.encoding[self.start : self.start + x.shape[1]].to(x.dtype)
        self.start += x.shape[1]
        return self.drop(x + rows)


# 6.5
@behind_given_checks(ROTARY, like="offset_subtracted")
def never_below_zero(x, base=10000.0, offset=0):
    return turned(x, places(x, -offset).clamp(min=0) * frequencies(x, base))


# 6.6
def _form(like, name, slopes):
    @behind_given_checks(ALIBI, name, like)
    def wrong(num_heads, query_length, key_length=None):
        key_length = query_length if key_length is None else key_length
        return slopes(num_heads)[:, None, None] * -distance(query_length, key_length)


_form("slopes_on_a_line", "from_one", lambda heads: torch.arange(heads, 0, -1) / heads)
_form("exponents_cut_off", "of_the_denominator", lambda heads: 0.5 ** (8 * torch.arange(1, heads + 1) // heads))
