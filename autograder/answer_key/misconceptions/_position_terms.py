"""Wrong answers on positions in which one of several terms is wrong, or one function of the distance or the head."""

import torch

from ._given import behind_given_checks
from ._position_distances import ALIBI, distance, slopes
from ._position_rotary import ROTARY, angles_of, frequencies, turned
from ._position_tables import SHIFT, TABLE, blocks, exponents, interleaved, positions
from ._position_tables_more import right

# 6.5: what the four products become, of even and odd columns, cosines and sines: id/form
PRODUCTS = {
    "factor_left_out/of_even_cosine": lambda e, o, c, s: (e - o * s, e * s + o * c),
    "factor_left_out/of_odd_sine": lambda e, o, c, s: (e * c - o, e * s + o * c),
    "factor_left_out/of_even_sine": lambda e, o, c, s: (e * c - o * s, e + o * c),
    "factor_left_out": lambda e, o, c, s: (e * c - o * s, e * s + o),
    "product_left_out/of_even_cosine": lambda e, o, c, s: (-o * s, e * s + o * c),
    "product_left_out": lambda e, o, c, s: (e * c, e * s + o * c),
    "product_left_out/of_even_sine": lambda e, o, c, s: (e * c - o * s, o * c),
    "product_left_out/of_odd_cosine": lambda e, o, c, s: (e * c - o * s, e * s),
    "other_function_in_one_product/of_even_cosine": lambda e, o, c, s: (e * s - o * s, e * s + o * c),
    "other_function_in_one_product": lambda e, o, c, s: (e * c - o * c, e * s + o * c),
    "other_function_in_one_product/of_even_sine": lambda e, o, c, s: (e * c - o * s, e * c + o * c),
    "other_function_in_one_product/of_odd_cosine": lambda e, o, c, s: (e * c - o * s, e * s + o * s),
    "other_column_in_one_product/of_even_cosine": lambda e, o, c, s: (o * c - o * s, e * s + o * c),
    "other_column_in_one_product": lambda e, o, c, s: (e * c - e * s, e * s + o * c),
    "other_column_in_one_product/of_even_sine": lambda e, o, c, s: (e * c - o * s, o * s + o * c),
    "other_column_in_one_product/of_odd_cosine": lambda e, o, c, s: (e * c - o * s, e * s + e * c),
    "other_column_in_one_product/both_below": lambda e, o, c, s: (e * c - o * s, o * s + e * c),
}

# 6.1: what stands in the odd columns, of the sines beside them and their angles: id/form
ODD_COLUMNS = {
    "cosine_from_the_sine": lambda sine, angle: (1 - sine.square()).clamp(min=0).sqrt(),
    "cosine_from_the_sine/not_squared": lambda sine, angle: 1 - sine,
    "cosine_from_the_sine/without_the_root": lambda sine, angle: 1 - sine.square(),
    "sine_one_radian_on": lambda sine, angle: (angle + 1).sin(),
    "sine_one_radian_on/of_half_a_turn": lambda sine, angle: (angle + torch.pi).sin(),
}

# 6.2: the corners of a block, of cosines and sines: id/form
CORNERS = {
    "one_corner_of_the_other_function/first": lambda c, s: (s, -s, s, c),
    "one_corner_of_the_other_function": lambda c, s: (c, -c, s, c),
    "one_corner_of_the_other_function/below": lambda c, s: (c, -s, c, c),
    "one_corner_of_the_other_function/last": lambda c, s: (c, -s, s, s),
    "one_cosine_missing": lambda c, s: (c, -s, s, 0 * c),
    "one_cosine_missing/first": lambda c, s: (0 * c, -s, s, c),
    "ones_on_the_diagonal": lambda c, s: (c**0, -s, s, c**0),
}


# 6.6: what H, L and S become: id/form
def _falling(heads, queries, keys, function):
    return slopes(heads) * -function(distance(queries, keys).float())


BIASES = {
    "logarithm_of_the_distance/to_base_two": lambda h, q, k: _falling(h, q, k, lambda d: (d + 1).log2()),
    "logarithm_of_the_distance/to_base_ten": lambda h, q, k: _falling(h, q, k, lambda d: (d + 1).log10()),
    "reciprocal_of_the_distance": lambda h, q, k: _falling(h, q, k, lambda d: -1 / (1 + d)),
    "reciprocal_of_the_distance/of_the_bias": lambda h, q, k: 1 / (1 + slopes(h) * distance(q, k)),
    "reciprocal_of_the_distance/negative": lambda h, q, k: _falling(h, q, k, lambda d: 1 / (1 + d)),
    "exponential_of_the_distance": lambda h, q, k: _falling(h, q, k, lambda d: -(-d).exp()),
    "number_outside_the_power": lambda h, q, k: (
        2.0 ** (-8.0 / h) * torch.arange(1, h + 1)[:, None, None] * -distance(q, k)
    ),
    "slopes_not_divided": lambda h, q, k: 2.0 ** (-8.0 * torch.arange(1, h + 1))[:, None, None] * -distance(q, k),
    "heads_from_two": lambda h, q, k: 2.0 ** (-8.0 * torch.arange(2, h + 2) / h)[:, None, None] * -distance(q, k),
    "slopes_by_their_number": lambda h, q, k: slopes(h) / h * -distance(q, k),
    "added_to_one": lambda h, q, k: 1 - slopes(h) * distance(q, k),
}


def _table(odd):
    def wrong(max_length, d_model, base=10000.0):
        angles = positions(max_length) * base ** -exponents(d_model)
        return interleaved(angles.sin(), odd(angles.sin(), angles))

    return wrong


def _rotary(products):
    def wrong(x, base=10000.0, offset=0):
        angles = angles_of(x, base, offset)
        both = products(x[..., 0::2], x[..., 1::2], angles.cos().to(x.dtype), angles.sin().to(x.dtype))
        return torch.stack(both, dim=-1).flatten(-2)

    return wrong


def _matrix(corners):
    def wrong(offset, d_model, base=10000.0):
        angles = offset * base ** -exponents(d_model)
        return blocks(corners(angles.cos(), angles.sin()))

    return wrong


def _bias(bias):
    def wrong(num_heads, query_length, key_length=None):
        return bias(num_heads, query_length, query_length if key_length is None else key_length)

    return wrong


for _exercise, _called, _some in (
    (TABLE, _table, ODD_COLUMNS),
    (ROTARY, _rotary, PRODUCTS),
    (SHIFT, _matrix, CORNERS),
    (ALIBI, _bias, BIASES),
):
    for _name, _function in _some.items():
        _like, _, _form = _name.rpartition("/")
        behind_given_checks(_exercise, _form, _like)(_called(_function))


# 6.2 shift_matrix
@behind_given_checks(SHIFT)
def sines_beside_the_whole_diagonal(offset, d_model, base=10000.0):
    angles = (offset * base ** -exponents(d_model)).repeat_interleave(2).float()
    sines = angles[:-1].sin()
    return torch.diag(angles.cos()) + torch.diag(-sines, 1) + torch.diag(sines, -1)


def _one_row(form, matrix):
    @behind_given_checks(SHIFT, form or "one_row_alone_is_moved", "one_row_alone_is_moved" if form else "")
    def wrong(offset, d_model, base=10000.0):
        table = right(abs(offset) + 1, d_model, base)
        return matrix(table[0], table[abs(offset)])


_one_row("", lambda first, moved: torch.outer(first, moved) / (first @ first))
_one_row("not_divided", lambda first, moved: torch.outer(first, moved))
_one_row("with_itself", lambda first, moved: torch.outer(moved, moved))


@behind_given_checks(SHIFT)
def offset_within_the_width(offset, d_model, base=10000.0):
    angles = (offset % d_model) * base ** -exponents(d_model)
    return blocks((angles.cos(), -angles.sin(), angles.sin(), angles.cos()))


def _one_step(d_model, base):
    angles = base ** -exponents(d_model)
    return blocks((angles.cos(), -angles.sin(), angles.sin(), angles.cos()))


@behind_given_checks(SHIFT)
def offset_times_one_step(offset, d_model, base=10000.0):
    return offset * _one_step(d_model, base)


@behind_given_checks(SHIFT)
def power_of_each_entry(offset, d_model, base=10000.0):
    return _one_step(d_model, base) ** offset


# 6.5 apply_rotary
@behind_given_checks(ROTARY)
def positions_in_front_of_heads(x, base=10000.0, offset=0):
    at = torch.arange(x.shape[1], dtype=torch.float64)[:, None, None] + offset  # of (B, L, H, d_head)
    return turned(x, at * frequencies(x, base))


@behind_given_checks(ROTARY)
def rows_for_columns(x, base=10000.0, offset=0):
    angles = angles_of(x, base, offset)
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    even, odd = x[0::2], x[1::2]
    return torch.stack((even * cos - odd * sin, even * sin + odd * cos), dim=-1).flatten(-2)


@behind_given_checks(ROTARY)
def rows_moved_by_offset(x, base=10000.0, offset=0):
    return turned(x.roll(offset, dims=-2), angles_of(x, base, 0))
