"""Further forms of wrong biases and of modules that add positions."""

import torch
from torch import nn
from torch.nn import functional as F

from ..reference_package import reference
from . import misconception
from ._given import behind_given_checks
from ._position_distances import ALIBI, distance, slopes
from ._position_learned import LEARNED, Learned
from ._position_modules import ADDING, Adding, encoding_of

# 6.6 alibi_bias: the slopes of h = 1 … H and H: id, or id/form
SLOPES = {
    "another_base_of_slopes": lambda h, heads: 8 ** (-2 * h / heads),
    "another_base_of_slopes/of_h": lambda h, heads: 8 ** (-h / heads),
    "another_base_of_slopes/ten": lambda h, heads: 10 ** (-8 * h / heads),
    "powers_of_two/from_the_first": lambda h, heads: 2 ** (-8 / heads) * 0.5 ** (h - 1),
    "powers_of_two/times_eight_over_h": lambda h, heads: 8 / heads * 0.5**h,
    "one_over_h": lambda h, heads: 1 / h,
    "power_before_product": lambda h, heads: 2**-8 * h / heads,
    "power_forgotten": lambda h, heads: 8 * h / heads,
    "number_and_eight_exchanged": lambda h, heads: 2 ** (-heads * h / 8),
    "exponents_cut_off": lambda h, heads: 2.0 ** (-8 * h // heads),
    "exponents_cut_off/at_each_head": lambda h, heads: 2.0 ** (-(8 // heads) * h),
}

# Of H, L and S
BIASES = {
    "whole_numbers/of_slopes": lambda heads, queries, keys: torch.zeros(heads, queries, keys, dtype=torch.int64),
    "whole_numbers/in_32_bits": lambda heads, queries, keys: (slopes(heads) * -distance(queries, keys)).int(),
    "future_free_of_charge/above_the_diagonal": lambda heads, queries, keys: (
        slopes(heads) * -distance(queries, keys)
    ).tril(),
    "queries_in_reverse": lambda heads, queries, keys: (slopes(heads) * -distance(queries, keys)).flip(1),
    "position_of_the_key_alone/costs": lambda heads, queries, keys: (
        slopes(heads) * -torch.arange(keys).expand(queries, keys)
    ),
    "distance_by_length/of_the_queries": lambda heads, queries, keys: (
        slopes(heads) * -distance(queries, keys) / max(queries, 1)
    ),
    "softmax_taken": lambda heads, queries, keys: (slopes(heads) * -distance(queries, keys)).softmax(dim=-1),
    "brackets_of_abs": lambda heads, queries, keys: (
        slopes(heads) * -((torch.arange(queries)[:, None] + keys - queries).abs() - torch.arange(keys))
    ),
    "rounded/to_three_digits": lambda heads, queries, keys: (slopes(heads) * -distance(queries, keys)).round(
        decimals=3
    ),
}


def _with_slopes(slopes_of):
    def bias(heads, queries, keys):
        return slopes_of(torch.arange(1.0, heads + 1), heads)[:, None, None] * -distance(queries, keys)

    return bias


def _biased(bias):
    def wrong(num_heads, query_length, key_length=None):
        return bias(num_heads, query_length, query_length if key_length is None else key_length)

    return wrong


for _name, _bias in (BIASES | {name: _with_slopes(one) for name, one in SLOPES.items()}).items():
    _like, _, _form = _name.rpartition("/")
    behind_given_checks(ALIBI, _form, _like)(_biased(_bias))


@behind_given_checks(ALIBI)
def slopes_along_another_axis(num_heads, query_length, key_length=None):
    key_length = query_length if key_length is None else key_length
    return -slopes(num_heads).flatten()[:, None] * distance(query_length, key_length)


# 6.3 PositionalEncoding
def adding(like=""):
    return misconception(ADDING, like)


@adding(like="one_row_for_all")
class after_the_last(Adding):
    def add(self, x):
        length, width = x.shape[1:]
        return self.drop(x + encoding_of(length + 1, width)[length].to(x.dtype))


@adding()
class first_row_for_all(Adding):
    def rows(self, x):
        return self.encoding[0].to(x.dtype)


@adding()
class cut_by_width(Adding):
    def rows(self, x):
        return self.encoding[: x.shape[-1]].to(x.dtype)


@adding()
class side_by_side(Adding):
    def add(self, x):
        return self.drop(torch.cat((x, self.rows(x).expand_as(x)), dim=-1))


@adding(like="normalised")
class with_the_sum(Adding):
    def add(self, x):
        return self.drop(F.layer_norm(x + self.rows(x), x.shape[-1:]))


@adding()
class table_sizes_exchanged(Adding):
    def __init__(self, d_model, max_length=1024, dropout=0.0):
        super().__init__(d_model, max_length, dropout)
        self.encoding = reference("positions.sinusoidal_encoding")(d_model, max_length)


@adding()
class table_left_out_in_training(Adding):
    def add(self, x):
        return self.drop(x) if self.training else x + self.rows(x)


# 6.4 LearnedPositionalEmbedding
@misconception(LEARNED)
class starts_at_the_root(Learned):
    def make(self, max_length, d_model):
        self.weight = nn.Parameter(0.02**0.5 * torch.randn(max_length, d_model))


@misconception(LEARNED)
class starts_uniform_about_zero(Learned):
    def make(self, max_length, d_model):
        self.weight = nn.Parameter(0.02 * (2 * torch.rand(max_length, d_model) - 1))


@misconception(LEARNED)
class starts_uniform_as_wide(Learned):
    def make(self, max_length, d_model):
        self.weight = nn.Parameter(0.02 * 3**0.5 * (2 * torch.rand(max_length, d_model) - 1))


@misconception(LEARNED)
class weight_alone(Learned):
    def add(self, x):
        return self.rows(x)


@misconception(LEARNED, like="weight_alone")
class once_for_the_batch(Learned):
    def add(self, x):
        return self.rows(x)[None]


@misconception(ADDING)
class axis_behind_the_positions(Adding):
    """The table of the PyTorch tutorial, (max_length, 1, d_model), beside sequences that stand batch first."""

    def add(self, x):
        return self.drop(x + self.encoding[: x.shape[1], None].to(x.dtype))
