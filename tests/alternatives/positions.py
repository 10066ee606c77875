"""Right answers to the exercises on positions, in other styles; the classes have a file of their own."""

import functools
import math

import numpy as np
import torch

from attention import positions as given  # for the argument checks that a stub gives

from . import (
    _position_modules,  # noqa: F401  it registers
    alternative,
)

TABLE, SHIFT, ROTARY, ALIBI = (
    f"positions.{name}" for name in ("sinusoidal_encoding", "shift_matrix", "apply_rotary", "alibi_bias")
)


def below_given_checks(exercise):
    """Register an answer behind the argument checks; the reference's own answer is thrown away."""

    def register(function):
        @functools.wraps(function)
        def whole(*args, **kwargs):
            with torch.no_grad():
                getattr(given, exercise.partition(".")[2])(*args, **kwargs)
            return function(*args, **kwargs)

        return alternative(exercise)(whole)

    return register


# 6.1 sinusoidal_encoding


@below_given_checks(TABLE)
def table_by_loops(max_length, d_model, base=10000.0):
    table = torch.zeros(max_length, d_model)
    for p in range(max_length):
        for i in range(d_model // 2):
            angle = p / base ** (2 * i / d_model)
            table[p, 2 * i] = math.sin(angle)
            table[p, 2 * i + 1] = math.cos(angle)
    return table


@below_given_checks(TABLE)
def table_by_slices_in_float32(max_length, d_model, base=10000.0):
    pe = torch.zeros(max_length, d_model)
    position = torch.arange(0, max_length, dtype=torch.float).unsqueeze(1)
    div_term = torch.exp(torch.arange(0, d_model, 2).float() * (-math.log(base) / d_model))
    pe[:, 0::2] = torch.sin(position * div_term)
    pe[:, 1::2] = torch.cos(position * div_term)
    return pe


@below_given_checks(TABLE)
def table_by_numpy(max_length, d_model, base=10000.0):
    column = np.arange(d_model)[None, :]
    angles = np.arange(max_length)[:, None] / np.power(base, 2 * (column // 2) / d_model)
    return torch.tensor(np.where(column % 2, np.cos(angles), np.sin(angles)), dtype=torch.float32)


@below_given_checks(TABLE)
def table_by_a_phase(max_length, d_model, base=10000.0):
    column = torch.arange(d_model)
    angles = torch.outer(torch.arange(max_length).double(), base ** (-(column - column % 2).double() / d_model))
    return torch.sin(angles + column % 2 * math.pi / 2).float()


@below_given_checks(TABLE)
def table_by_complex_numbers(max_length, d_model, base=10000.0):
    frequencies = torch.pow(base, -torch.arange(0, d_model, 2) / d_model)
    angles = torch.einsum("p,i->pi", torch.arange(float(max_length)), frequencies)
    turned = torch.polar(torch.ones_like(angles), angles)
    return torch.view_as_real(turned).flip(-1).reshape(max_length, d_model)


# 6.2 shift_matrix


@below_given_checks(SHIFT)
def shift_by_loops(offset, d_model, base=10000.0):
    matrix = torch.zeros(d_model, d_model)
    for i in range(0, d_model, 2):
        angle = offset / base ** (i / d_model)
        matrix[i, i] = matrix[i + 1, i + 1] = math.cos(angle)
        matrix[i + 1, i], matrix[i, i + 1] = math.sin(angle), -math.sin(angle)
    return matrix


@below_given_checks(SHIFT)
def shift_by_diagonals(offset, d_model, base=10000.0):
    angles = offset * torch.exp(-math.log(base) * torch.arange(0, d_model, 2) / d_model)
    beside = torch.zeros(d_model - 1)
    beside[0::2] = angles.sin()
    return torch.diag(angles.cos().repeat_interleave(2)) + torch.diag(beside, -1) - torch.diag(beside, 1)


@below_given_checks(SHIFT)
def shift_by_the_exponential_of_a_matrix(offset, d_model, base=10000.0):
    frequencies = base ** (-torch.arange(0, d_model, 2).double() / d_model)
    quarter_turn = torch.tensor([[0.0, -1.0], [1.0, 0.0]]).double()
    generator = torch.block_diag(*(f * quarter_turn for f in frequencies))
    return torch.matrix_exp(offset * generator).float()


@below_given_checks(SHIFT)
def shift_by_two_rows_of_the_table(offset, d_model, base=10000.0):
    sin, cos = given.sinusoidal_encoding(abs(offset) + 1, d_model, base)[-1].reshape(-1, 2).unbind(-1)
    sin = sin * (-1 if offset < 0 else 1)
    blocks = torch.stack((cos, -sin, sin, cos), dim=-1).view(-1, 2, 2)
    return torch.einsum("ij,iab->iajb", torch.eye(d_model // 2), blocks).reshape(d_model, d_model)


@below_given_checks(SHIFT)
def shift_by_a_permutation_of_halves(offset, d_model, base=10000.0):
    angles = torch.tensor([offset / base ** (2 * i / d_model) for i in range(d_model // 2)])
    cos, sin = angles.cos().diag(), angles.sin().diag()
    halves = torch.cat((torch.cat((cos, -sin), dim=1), torch.cat((sin, cos), dim=1)))
    order = torch.arange(d_model).view(2, -1).T.flatten()  # column 2i is i of the first half, 2i + 1 of the second
    return halves[order][:, order]


# 6.5 apply_rotary


@below_given_checks(ROTARY)
def rotary_by_loops(x, base=10000.0, offset=0):
    d_head = x.shape[-1]
    rows = []
    for p in range(x.shape[-2]):
        columns = []
        for i in range(d_head // 2):
            angle = (p + offset) / base ** (2 * i / d_head)
            a, b = x[..., p, 2 * i], x[..., p, 2 * i + 1]
            columns += [a * math.cos(angle) - b * math.sin(angle), a * math.sin(angle) + b * math.cos(angle)]
        rows.append(torch.stack(columns, dim=-1))
    return torch.stack(rows, dim=-2)


@below_given_checks(ROTARY)
def rotary_by_complex_numbers(x, base=10000.0, offset=0):
    wide = x if x.dtype == torch.float64 else x.float()
    pairs = torch.view_as_complex(wide.reshape(*x.shape[:-1], -1, 2))
    frequencies = 1.0 / base ** (torch.arange(0, x.shape[-1], 2).to(wide.dtype) / x.shape[-1])
    angles = torch.outer(torch.arange(offset, offset + x.shape[-2]).to(wide.dtype), frequencies)
    return torch.view_as_real(pairs * torch.polar(torch.ones_like(angles), angles)).flatten(-2).type_as(x)


@below_given_checks(ROTARY)
def rotary_by_a_quarter_turn(x, base=10000.0, offset=0):
    t = torch.arange(x.size(-2), device=x.device).float() + offset
    inv_freq = torch.exp(torch.arange(0, x.size(-1), 2).float() * -(math.log(base) / x.size(-1)))
    angles = torch.einsum("l,f->lf", t, inv_freq).repeat_interleave(2, dim=-1)
    quarter = torch.stack((-x[..., 1::2], x[..., ::2]), dim=-1).reshape(x.shape)
    return (x * angles.cos() + quarter * angles.sin()).to(x.dtype)


@below_given_checks(ROTARY)
def rotary_by_matrices(x, base=10000.0, offset=0):
    matrices = [given.shift_matrix(-(p + offset), x.shape[-1], base) for p in range(x.shape[-2])]
    # A row that turns forward from its even to its odd column is a row of the table that moves back.
    return torch.einsum("...ld,lde->...le", x, torch.stack(matrices).to(x.dtype))


@below_given_checks(ROTARY)
def rotary_into_an_empty_tensor(x, base=10000.0, offset=0):
    angles = torch.arange(x.shape[-2]).double().add(offset).unsqueeze(1) * torch.tensor(
        [base ** (-i / x.shape[-1]) for i in range(0, x.shape[-1], 2)], dtype=torch.float64
    )
    cos, sin = angles.cos().type_as(x), angles.sin().type_as(x)
    y = torch.empty_like(x)
    y[..., ::2] = x[..., ::2] * cos - x[..., 1::2] * sin
    y[..., 1::2] = x[..., ::2] * sin + x[..., 1::2] * cos
    return y


@below_given_checks(ROTARY)
def rotary_by_halves_and_back(x, base=10000.0, offset=0):
    first, second = x.unflatten(-1, (-1, 2)).unbind(-1)
    swapped = torch.cat((first, second), dim=-1)  # pairs as halves, then turned by halves, then put back
    angles = (torch.arange(x.shape[-2]) + offset)[:, None] / base ** (torch.arange(0, x.shape[-1], 2) / x.shape[-1])
    angles = torch.cat((angles, angles), dim=-1)
    turned = swapped * angles.cos().to(x.dtype)
    turned = turned + torch.cat((-second, first), dim=-1) * angles.sin().to(x.dtype)
    return torch.stack(turned.chunk(2, dim=-1), dim=-1).reshape(x.shape)


# 6.6 alibi_bias


@below_given_checks(ALIBI)
def alibi_by_loops(num_heads, query_length, key_length=None):
    key_length = query_length if key_length is None else key_length
    bias = torch.zeros(num_heads, query_length, key_length)
    for h in range(num_heads):
        for i in range(query_length):
            for j in range(key_length):
                bias[h, i, j] = -(2 ** (-8 * (h + 1) / num_heads)) * abs(i + key_length - query_length - j)
    return bias


@below_given_checks(ALIBI)
def alibi_from_the_last_query(num_heads, query_length, key_length=None):
    key_length = key_length if key_length is not None else query_length
    ratio = 2 ** (-8 / num_heads)
    slopes = torch.tensor([ratio**h for h in range(1, num_heads + 1)])
    rows = torch.arange(key_length - query_length, key_length).view(-1, 1)
    distance = torch.abs(torch.arange(key_length).view(1, -1) - rows)
    return torch.einsum("h,ls->hls", -slopes, distance.float())


@below_given_checks(ALIBI)
def alibi_by_numpy(num_heads, query_length, key_length=None):
    key_length = query_length if key_length is None else key_length
    distance = np.abs(np.subtract.outer(np.arange(query_length) + key_length - query_length, np.arange(key_length)))
    slopes = np.power(2.0, -8.0 * np.arange(1, num_heads + 1) / num_heads)
    return torch.tensor(-np.multiply.outer(slopes, distance), dtype=torch.float32)


@below_given_checks(ALIBI)
def alibi_cut_out_of_a_square(num_heads, query_length, key_length=None):
    key_length = query_length if key_length is None else key_length
    longest = max(query_length, key_length)
    place = torch.arange(longest, dtype=torch.get_default_dtype())
    square = -torch.cdist(place[:, None], place[:, None], p=1)  # both ends are those of the longer sequence
    slopes = torch.logspace(-8 / num_heads, -8, num_heads, base=2)
    return slopes.view(-1, 1, 1) * square[longest - query_length :, longest - key_length :]


@below_given_checks(ALIBI)
def alibi_a_row_for_each_query(num_heads, query_length, key_length=None):
    key_length = query_length if key_length is None else key_length
    places = range(key_length - query_length, key_length)
    rows = torch.tensor([[-abs(place - j) for j in range(key_length)] for place in places], dtype=torch.float32)
    return torch.stack([rows * 0.5 ** (8 * h / num_heads) for h in range(1, num_heads + 1)])
