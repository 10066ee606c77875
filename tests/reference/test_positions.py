"""Proves the reference's table, shift matrix and ALiBi: plain Python, trigonometry, the papers' numbers, properties.

Tolerances: 6e-5 where a number is printed with four decimals; 1e-6 where a float32 table is compared with float64
numbers of size 1, a few of its roundings (6e-8 each); 2e-5 where such a table is multiplied by a float32 matrix.
"""

import inspect
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from attention import positions as module
from attention.masks import causal_mask
from attention.positions import alibi_bias, shift_matrix, sinusoidal_encoding

pytestmark = pytest.mark.proof()
PRINTED, ROUNDED, MOVED = 6e-5, 1e-6, 2e-5

bounded = settings(max_examples=30, derandomize=True, deadline=None, database=None)
widths = st.integers(1, 16).map(lambda pairs: 2 * pairs)
bases = st.sampled_from([2.0, 100.0, 10000.0, 500000.0])
offsets = st.integers(-60, 60)


def close(got, expected, tolerance=ROUNDED):
    torch.testing.assert_close(got, torch.as_tensor(expected, dtype=got.dtype), rtol=0, atol=tolerance)


@pytest.fixture
def float64_as_default():
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


# sinusoidal_encoding


@bounded
@given(length=st.integers(0, 60), d_model=widths, base=bases)
def test_the_table_is_that_of_the_formula_in_plain_python(length, d_model, base):
    rows = []
    for p in range(length):
        angles = [p / base ** (2 * i / d_model) for i in range(d_model // 2)]
        rows.append([number for angle in angles for number in (math.sin(angle), math.cos(angle))])
    close(sinusoidal_encoding(length, d_model, base), torch.tensor(rows).reshape(length, d_model))


def test_a_small_table_has_the_numbers_worked_by_hand():
    # d_model 4: the second pair turns by 10000^(-1/2) = 0.01 per position
    expected = [[0, 1, 0, 1], [0.8415, 0.5403, 0.0100, 1.0000], [0.9093, -0.4161, 0.0200, 0.9998]]
    close(sinusoidal_encoding(3, 4), expected, PRINTED)


def test_position_zero_comes_first_and_is_zero_one_zero_one():
    assert sinusoidal_encoding(1, 6).tolist() == [[0, 1, 0, 1, 0, 1]]


def test_a_longer_table_begins_with_the_shorter_one():
    assert torch.equal(sinusoidal_encoding(50, 8)[:20], sinusoidal_encoding(20, 8))


def test_the_wavelengths_of_the_paper_run_from_two_pi_towards_ten_thousand_times_that():
    table = sinusoidal_encoding(2, 512)
    close(table[1, 0].asin(), 1.0)
    close(table[1, 510].asin() * 10000 ** (510 / 512), 1.0, 1e-4)


def test_far_positions_are_as_exact_as_near_ones():
    angle = 99_999 / 10000 ** (2 / 8)
    close(sinusoidal_encoding(100_000, 8)[-1, 2:4], [math.sin(angle), math.cos(angle)])


def test_all_positions_of_a_long_table_differ():
    table = sinusoidal_encoding(2048, 16)
    assert (torch.cdist(table, table) + 10 * torch.eye(2048)).min() > 0.01


def test_the_dot_product_of_two_rows_depends_on_their_distance_alone():
    table = sinusoidal_encoding(40, 12)
    scores = table @ table.mT
    for distance in range(40):
        diagonal = scores.diagonal(distance)
        close(diagonal, diagonal[0].expand_as(diagonal), MOVED)
    close(scores.diagonal(), torch.full((40,), 6.0), MOVED)  # sin² + cos² for each of six pairs
    assert (scores <= 6 + MOVED).all()


@pytest.mark.usefixtures("float64_as_default")
def test_table_matrix_and_bias_have_the_default_dtype():
    assert {x.dtype for x in (sinusoidal_encoding(3, 4), shift_matrix(1, 4), alibi_bias(2, 3))} == {torch.float64}
    close(sinusoidal_encoding(3, 4)[2, 0], math.sin(2), 1e-15)


# shift_matrix


@bounded
@given(offset=offsets, d_model=widths, base=bases)
def test_the_matrix_moves_every_row_of_the_table(offset, d_model, base):
    table = sinusoidal_encoding(200, d_model, base)
    moved = table @ shift_matrix(offset, d_model, base)
    start, end = max(0, -offset), min(200, 200 - offset)
    close(moved[start:end], table[start + offset : end + offset], MOVED)


@bounded
@given(offset=offsets, d_model=widths)
def test_the_matrix_turns_and_does_not_stretch(offset, d_model):
    matrix = shift_matrix(offset, d_model)
    close(matrix @ matrix.mT, torch.eye(d_model))
    close(torch.linalg.det(matrix), 1.0, MOVED)


@bounded
@given(first=offsets, second=offsets, d_model=widths, base=bases)
def test_two_shifts_make_one(first, second, d_model, base):
    one, other = (shift_matrix(offset, d_model, base) for offset in (first, second))
    close(one @ other, shift_matrix(first + second, d_model, base), ROUNDED)
    close(one @ other, other @ one, ROUNDED)


@bounded
@given(offset=offsets, d_model=widths)
def test_the_shift_back_is_the_transpose_and_no_shift_the_identity(offset, d_model):
    assert torch.equal(shift_matrix(-offset, d_model), shift_matrix(offset, d_model).mT)
    assert torch.equal(shift_matrix(0, d_model), torch.eye(d_model))


def test_a_shift_by_one_has_the_numbers_worked_by_hand():
    matrix = shift_matrix(1, 4)
    close(matrix[:2, :2], [[0.5403, -0.8415], [0.8415, 0.5403]], PRINTED)
    close(matrix[2:, 2:], [[1.0000, -0.0100], [0.0100, 1.0000]], PRINTED)
    assert (matrix[:2, 2:] == 0).all() and (matrix[2:, :2] == 0).all()


def test_the_matrix_is_the_only_one_that_moves_the_table():
    table = sinusoidal_encoding(64, 6, base=50.0).double()
    assert torch.linalg.matrix_rank(table) == 6
    found = torch.linalg.lstsq(table[:-3], table[3:]).solution
    close(found, shift_matrix(3, 6, base=50.0), 1e-5)


# alibi_bias


@pytest.mark.parametrize(
    ("heads", "slopes"),
    [
        (8, [2.0**-h for h in range(1, 9)]),  # Press et al. 2022, section 3: 1/2, 1/4, … 1/256
        (16, [2.0 ** (-h / 2) for h in range(1, 17)]),  # the same: 2^-0.5, 2^-1, 2^-1.5, … 2^-8
        (4, [1 / 4, 1 / 16, 1 / 64, 1 / 256]),
        (2, [1 / 16, 1 / 256]),
        (1, [1 / 256]),
    ],
)
def test_the_slopes_are_those_of_the_paper(heads, slopes):
    close(-alibi_bias(heads, 2)[:, 1, 0], slopes, 1e-7)


def test_between_powers_of_two_of_heads_every_other_slope_is_shared():
    close(alibi_bias(16, 2)[1::2], alibi_bias(8, 2))


def test_a_small_bias_has_the_numbers_worked_by_hand():
    assert alibi_bias(2, 2, 3)[0].mul(16).tolist() == [[-1, 0, -1], [-2, -1, 0]]
    assert alibi_bias(2, 3, 2)[0].mul(16).tolist() == [[-1, -2], [0, -1], [-1, 0]]


@bounded
@given(heads=st.sampled_from([1, 2, 4, 8, 16, 32]), queries=st.integers(0, 9), keys=st.integers(0, 9))
def test_the_bias_is_that_of_the_formula_in_plain_python(heads, queries, keys):
    expected = [
        [[-(2 ** (-8 * h / heads)) * abs(i + keys - queries - j) for j in range(keys)] for i in range(queries)]
        for h in range(1, heads + 1)
    ]
    close(alibi_bias(heads, queries, keys), torch.tensor(expected).reshape(heads, queries, keys))


@pytest.mark.parametrize(("queries", "keys"), [(4, 4), (2, 6), (6, 2), (1, 5)])
def test_the_bias_is_aligned_as_the_causal_mask_is(queries, keys):
    bias, seen = alibi_bias(4, queries, keys), causal_mask(queries, keys)
    # The last key that the causal mask lets query i see stands where the query stands: at distance 0.
    expected = torch.zeros(queries, keys, dtype=torch.bool)
    for i, visible in enumerate(seen.sum(dim=1).tolist()):
        expected[i, visible - 1] = visible > 0
    assert torch.equal(bias == 0, expected.expand(4, -1, -1))


def test_a_query_at_a_time_has_the_rows_of_all_at_once():
    whole = alibi_bias(4, 6)
    for i in range(6):
        assert torch.equal(alibi_bias(4, 1, i + 1), whole[:, i : i + 1, : i + 1])


def test_what_lies_ahead_costs_as_much_as_what_lies_behind():
    bias = alibi_bias(8, 7)
    assert torch.equal(bias, bias.mT) and (bias <= 0).all() and bias.isfinite().all()


# Errors say what was expected, what came, and what to try


@pytest.mark.parametrize("make", [lambda d: sinusoidal_encoding(4, d), lambda d: shift_matrix(1, d)])
def test_an_odd_width_is_a_value_error(make):
    with pytest.raises(ValueError, match="d_model must be even, .*pairs of a sine and a cosine, got 5"):
        make(5)
    with pytest.raises(ValueError, match="d_model must be at least 1, got 0"):
        make(0)
    with pytest.raises(TypeError, match="d_model must be an int, got float 4.0"):
        make(4.0)


@pytest.mark.parametrize("base", [0.0, -1.0, math.nan])
@pytest.mark.parametrize("make", [lambda base: sinusoidal_encoding(4, 2, base), lambda base: shift_matrix(1, 2, base)])
def test_a_base_that_is_not_positive_is_a_value_error(make, base):
    with pytest.raises(ValueError, match=f"base must be positive, got {base}; the usual value is 10000"):
        make(base)


@pytest.mark.parametrize("offset", [1.5, True, "1"])
def test_an_offset_that_is_no_int_is_a_type_error(offset):
    with pytest.raises(TypeError, match=f"offset must be an int, got {type(offset).__name__}"):
        shift_matrix(offset, 4)


def test_a_negative_length_is_a_value_error():
    with pytest.raises(ValueError, match="max_length must be at least 0, got -1"):
        sinusoidal_encoding(-1, 4)
    with pytest.raises(ValueError, match="key_length must be at least 0, got -1"):
        alibi_bias(2, 3, -1)


@pytest.mark.parametrize("heads", [3, 6, 12, 100])
def test_a_number_of_heads_that_is_no_power_of_two_is_a_value_error(heads):
    with pytest.raises(ValueError, match=f"power of two for ALiBi's slopes, got {heads}; try 2, 4, 8 or 16"):
        alibi_bias(heads, 3)


# Documentation


@pytest.mark.parametrize("name", module.__all__)
def test_every_docstring_gives_shapes_errors_and_source(name):
    text = inspect.getdoc(getattr(module, name))
    assert "Raises ValueError" in text and "et al. 20" in text
