"""Wrong modules that add the sinusoidal table, as a learner would write them."""

import math

import torch
from torch import nn
from torch.nn import functional as F

from ..reference_package import reference
from . import misconception
from ._position_tables import exponents, positions, table

ADDING = "positions.PositionalEncoding"
wrong = misconception(ADDING)


def encoding_of(max_length, d_model):
    return table(positions(max_length) * 10000.0 ** -exponents(d_model))


def as_given(exercise, *sizes):
    """The reference's object, which refuses what the given checks refuse; its answers are thrown away."""
    with torch.random.fork_rng(devices=[]):
        return reference(exercise)(*sizes).eval()


class Adding(nn.Module):
    """PositionalEncoding behind the checks that the stub gives; `add` is what a learner writes."""

    def __init__(self, d_model, max_length=1024, dropout=0.0):
        super().__init__()
        self.given = [as_given(ADDING, d_model, max_length, dropout)]  # in a list, it is no part of the module
        self.p = dropout
        self.keep("encoding", encoding_of(max_length, d_model))

    def keep(self, name, encoding):
        self.register_buffer(name, encoding, persistent=False)

    def forward(self, x):
        with torch.no_grad():
            self.given[0](x)
        return self.add(x)

    def rows(self, x):
        return self.encoding[: x.shape[1]].to(x.dtype)

    def drop(self, x):
        return F.dropout(x, self.p, self.training)

    def add(self, x):
        return self.drop(x + self.rows(x))


@wrong
class multiplied(Adding):
    def add(self, x):
        return self.drop(x * self.rows(x))


@wrong
class scaled_by_root(Adding):
    def add(self, x):
        return self.drop(x * math.sqrt(x.shape[-1]) + self.rows(x))


@wrong
class rows_by_batch(Adding):
    def add(self, x):
        return self.drop(x + self.encoding[: x.shape[0], None].to(x.dtype))


@wrong
class cut_by_batch(Adding):
    def add(self, x):
        return self.drop(x + self.encoding[: x.shape[0]].to(x.dtype))


@wrong
class whole_table_added(Adding):
    def add(self, x):
        return self.drop(x + self.encoding.to(x.dtype))


@wrong
class one_row_for_all(Adding):
    def add(self, x):
        return self.drop(x + self.encoding[x.shape[1] - 1].to(x.dtype))


@wrong
class table_in_state_dict(Adding):
    def keep(self, name, encoding):
        self.register_buffer(name, encoding)


@wrong
class rows_from_one(Adding):
    def __init__(self, d_model, max_length=1024, dropout=0.0):
        super().__init__(d_model, max_length, dropout)
        self.encoding = table((positions(max_length) + 1) * 10000.0 ** -exponents(d_model))


@wrong
class halves_side_by_side(Adding):
    def __init__(self, d_model, max_length=1024, dropout=0.0):
        super().__init__(d_model, max_length, dropout)
        angles = positions(max_length) * 10000.0 ** -exponents(d_model)
        self.encoding = torch.cat((angles.sin(), angles.cos()), dim=-1).float()


@wrong
class dropout_on_the_table(Adding):
    def add(self, x):
        return x + self.drop(self.rows(x))


@wrong
class dropout_before_the_sum(Adding):
    def add(self, x):
        return self.drop(x) + self.rows(x)


@wrong
class dropout_in_evaluation_too(Adding):
    def drop(self, x):
        return F.dropout(x, self.p)


@wrong
class dropout_ignored(Adding):
    def drop(self, x):
        return x


@wrong
class dropout_without_rescaling(Adding):
    def drop(self, x):
        return x * (torch.rand_like(x) >= self.p) if self.training else x


@wrong
class dropout_kept_share(Adding):
    def drop(self, x):
        return F.dropout(x, 1 - self.p, self.training and self.p > 0)


@wrong
class promoted_by_the_table(Adding):
    def rows(self, x):
        return self.encoding[: x.shape[1]]


@wrong
class converted_to_float32(Adding):
    def add(self, x):
        return super().add(x.float())


@wrong
class added_in_place(Adding):
    def add(self, x):
        x += self.rows(x)
        return self.drop(x)


@wrong
class gradient_cut(Adding):
    @torch.no_grad()
    def add(self, x):
        return super().add(x)


class _Unchecked(nn.Module):
    """Without the given checks, a sequence that is too long is told only by torch."""

    def __init__(self, d_model, max_length=1024, dropout=0.0):
        super().__init__()
        self.register_buffer("encoding", encoding_of(max_length, d_model), persistent=False)
        self.p = dropout

    def forward(self, x):
        return F.dropout(x + self.encoding[: x.shape[-2]].to(x.dtype), self.p, self.training)


wrong(type("given_checks_removed", (_Unchecked,), {}))
