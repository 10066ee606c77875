"""Wrong tables, matrices, starts and slopes that one wrong number or one lost line leads to."""

import math

import torch
from torch import nn

from . import misconception
from ._given import behind_given_checks, refuse_bad_arguments
from ._position_distances import ALIBI, distance
from ._position_learned import LEARNED, Learned
from ._position_tables import SHIFT, TABLE, exponents, interleaved, positions, rotation, table


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
