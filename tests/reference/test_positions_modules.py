"""Proves the reference's rotary positions and the two modules: complex numbers, relative positions, state and dropout.

Tolerances: 1e-12 where two float64 computations are compared; 1e-6 where one side comes from a float32 table; 16
rounding units of the dtype in half precision, where each of about five operations on numbers of size 1 rounds once.
"""

import copy
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from attention.dot_product import scaled_dot_product_attention
from attention.positions import (
    LearnedPositionalEmbedding,
    PositionalEncoding,
    apply_rotary,
    shift_matrix,
    sinusoidal_encoding,
)

pytestmark = pytest.mark.proof()
EXACT, ROUNDED = 1e-12, 1e-6
DTYPES = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
MODULES = [PositionalEncoding, LearnedPositionalEmbedding]

bounded = settings(max_examples=30, derandomize=True, deadline=None, database=None)
seeds, offsets, bases = st.integers(0, 99), st.integers(-500, 500), st.sampled_from([2.0, 10000.0, 500000.0])
widths = st.integers(1, 8).map(lambda pairs: 2 * pairs)


def draw(*shape, seed=0, dtype=torch.float64):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


def close(got, expected, tolerance=EXACT):
    torch.testing.assert_close(got, torch.as_tensor(expected, dtype=got.dtype), rtol=0, atol=tolerance)


# apply_rotary


@bounded
@given(width=widths, base=bases, offset=offsets, seed=seeds)
def test_rotary_is_a_product_of_complex_numbers(width, base, offset, seed):
    x = draw(2, 5, width, seed=seed)
    y = apply_rotary(x, base, offset)
    for p in range(5):
        for i in range(width // 2):
            turn = complex(math.cos(angle := (p + offset) * base ** (-2 * i / width)), math.sin(angle))
            for b in range(2):
                expected = complex(x[b, p, 2 * i], x[b, p, 2 * i + 1]) * turn
                close(y[b, p, 2 * i : 2 * i + 2], [expected.real, expected.imag])


@bounded
@given(width=widths, base=bases, first=offsets, second=offsets, moved=offsets, seed=seeds)
def test_a_score_depends_on_the_difference_of_positions_alone(width, base, first, second, moved, seed):
    query, key = draw(1, width, seed=seed), draw(1, width, seed=seed + 100)

    def score(at, of):
        return apply_rotary(query, base, at) @ apply_rotary(key, base, of).mT

    close(score(first, second), score(first + moved, second + moved), 1e-10)  # angles of 1000 have 1e-13 of rounding
    close(score(first, first), query @ key.mT)


def test_attention_of_rotated_queries_and_keys_is_the_same_anywhere_in_a_text():
    query, key, value = (draw(2, 3, 6, 8, seed=seed) for seed in range(3))
    here, there = (
        scaled_dot_product_attention(apply_rotary(query, offset=o), apply_rotary(key, offset=o), value)[0]
        for o in (0, 777)
    )
    close(here, there, 1e-10)
    order = torch.tensor([1, 0, 2, 3, 4, 5])  # without positions, exchanged tokens keep their outputs; with them not
    swapped, _ = scaled_dot_product_attention(
        apply_rotary(query), apply_rotary(key[..., order, :]), value[..., order, :]
    )
    assert (swapped - here).abs().max() > 0.01


@bounded
@given(width=widths, base=bases, offset=offsets, seed=seeds)
def test_a_rotation_keeps_lengths_and_is_undone_by_the_opposite_one(width, base, offset, seed):
    x = draw(3, 1, width, seed=seed)
    y = apply_rotary(x, base, offset)
    close(y.norm(dim=-1), x.norm(dim=-1))
    close(apply_rotary(y, base, -offset), x)
    close(y.unflatten(-1, (-1, 2)).norm(dim=-1), x.unflatten(-1, (-1, 2)).norm(dim=-1))


@bounded
@given(offset=st.integers(0, 6), length=st.integers(0, 5), seed=seeds)
def test_an_offset_gives_the_rows_of_a_longer_text(offset, length, seed):
    x = draw(2, 12, 4, seed=seed)
    part = x[:, offset : offset + length]
    close(apply_rotary(part, offset=offset), apply_rotary(x)[:, offset : offset + length])


def test_position_zero_turns_nothing_and_a_quarter_turn_has_the_numbers_worked_by_hand():
    x = draw(2, 1, 8)
    assert torch.equal(apply_rotary(x), x)
    turned = apply_rotary(torch.tensor([[1.0, 2.0, 3.0, 4.0]] * 2).double())
    c1, s1, c2, s2 = math.cos(1), math.sin(1), math.cos(0.01), math.sin(0.01)
    close(turned[1], [c1 - 2 * s1, s1 + 2 * c1, 3 * c2 - 4 * s2, 3 * s2 + 4 * c2])


def test_rotary_and_the_shift_matrix_turn_by_the_same_angles():
    # A row of the table holds (sin, cos): going forward turns it from the cosine to the sine, the other way round.
    x = draw(1, 6)
    close(apply_rotary(x, offset=5), x @ shift_matrix(-5, 6).double(), ROUNDED)


@pytest.mark.parametrize("lead", [(), (3,), (2, 3), (2, 1, 3)])
def test_leading_axes_are_rotated_alike(lead):
    x = draw(*lead, 5, 4)
    flat = x.reshape(-1, 5, 4)
    expected = torch.stack([apply_rotary(one) for one in flat]).reshape(x.shape)
    assert torch.equal(apply_rotary(x), expected)


def test_in_bfloat16_neighbouring_positions_stay_apart_far_into_a_text():
    x = torch.ones(8, 2, dtype=torch.bfloat16)
    close(apply_rotary(x, offset=3001).double(), apply_rotary(x.double(), offset=3001), 0.02)


def test_gradients_of_rotary_are_those_of_finite_differences():
    assert torch.autograd.gradcheck(lambda x: apply_rotary(x, 50.0, 3), draw(2, 3, 4).requires_grad_())


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_rotary_keeps_every_dtype_close_to_float64_and_its_argument_as_it_was(dtype):
    x = draw(2, 3, 5, 6, dtype=dtype)
    before = x.clone()
    y = apply_rotary(x, offset=9)
    assert y.dtype == dtype and y.shape == x.shape and torch.equal(x, before)
    close(y.double(), apply_rotary(x.double(), offset=9), 16 * torch.finfo(dtype).eps)


# The two modules


@pytest.mark.parametrize("length", [0, 1, 4, 7])
def test_every_sequence_gets_the_rows_of_its_positions(length):
    x = draw(3, length, 6)
    close(PositionalEncoding(6, 7)(x) - x, sinusoidal_encoding(length, 6).expand(3, -1, -1), ROUNDED)
    learned = LearnedPositionalEmbedding(6, 7).double()
    close(learned(x) - x, learned.weight[:length].detach().expand(3, -1, -1))


def test_the_sinusoidal_module_has_no_parameters_and_an_empty_state_dict():
    module = PositionalEncoding(6, 7)
    assert list(module.parameters()) == [] and module.state_dict() == {}
    PositionalEncoding(6, 9).load_state_dict(module.state_dict())  # a checkpoint fits any length


def test_the_learned_module_has_one_small_random_parameter():
    torch.manual_seed(0)
    module = LearnedPositionalEmbedding(64, 500)
    assert {name: tuple(value.shape) for name, value in module.state_dict().items()} == {"weight": (500, 64)}
    assert [name for name, _ in module.named_parameters()] == ["weight"]
    # 32000 numbers: mean and deviation are known to about 0.02/√32000 = 1.1e-4, and five of those are allowed
    assert abs(module.weight.mean()) < 6e-4 and abs(module.weight.std() - 0.02) < 6e-4
    assert LearnedPositionalEmbedding(5, 3)(torch.zeros(1, 3, 5)).shape == (1, 3, 5)  # an odd width is fine here


def test_gradients_reach_x_and_the_used_rows_alone():
    module, x = LearnedPositionalEmbedding(6, 7), draw(3, 4, 6, dtype=torch.float32).requires_grad_()
    module(x).sum().backward()
    close(x.grad, torch.ones(3, 4, 6))
    close(module.weight.grad, torch.cat((torch.full((4, 6), 3.0), torch.zeros(3, 6))))
    x.grad = None
    PositionalEncoding(6)(x).sum().backward()
    close(x.grad, torch.ones(3, 4, 6))


@pytest.mark.parametrize("rate", [0.1, 0.5])
def test_dropout_acts_on_the_sum_in_training_only(rate):
    module, x = PositionalEncoding(40, 50, dropout=rate), draw(2, 50, 40, dtype=torch.float32) + 5
    torch.manual_seed(0)
    trained, evaluated = module(x), module.eval()(x)
    close(evaluated, x + sinusoidal_encoding(50, 40), ROUNDED)
    dropped = trained == 0
    close(trained[~dropped], evaluated[~dropped] / (1 - rate), 1e-5)  # numbers up to 20
    # 4000 numbers: the share's standard deviation is below 0.008, and five of them are allowed
    assert abs(dropped.double().mean() - rate) < 5 * math.sqrt(rate * (1 - rate) / 4000)


@pytest.mark.parametrize("make", MODULES)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_the_dtype_of_x_is_kept_whatever_that_of_the_module(make, dtype):
    x = draw(2, 3, 4, dtype=dtype)
    before = x.clone()
    for own in DTYPES:
        module = make(4, 5).to(own)
        y = module(x)
        assert y.dtype == dtype and torch.equal(x, before)
        coarse = max(torch.finfo(dtype).eps, torch.finfo(own).eps, torch.finfo(torch.float32).eps)
        rows = sinusoidal_encoding(3, 4) if make is PositionalEncoding else module.weight[:3]
        close(y.double(), x.double() + rows.double(), 16 * coarse)


@pytest.mark.parametrize("make", MODULES)
def test_a_module_moves_with_to_and_can_be_copied(make):
    module = make(4, 5)
    held = [*module.buffers(), *module.parameters()]
    assert len(held) == 1 and held[0].shape == (5, 4)
    moved = copy.deepcopy(module).to("meta")
    assert all(one.is_meta for one in [*moved.buffers(), *moved.parameters()])
    x = draw(1, 2, 4, dtype=torch.float32)
    assert torch.equal(copy.deepcopy(module)(x), module(x))


def test_identical_tokens_become_different_and_attention_sees_their_order():
    tokens = torch.ones(1, 5, 8)
    seen = PositionalEncoding(8)(tokens)[0]
    assert (torch.cdist(seen, seen) + torch.eye(5)).min() > 0.1
    order = torch.tensor([4, 2, 0, 1, 3])
    x = draw(1, 5, 8)

    def attend(x):
        return scaled_dot_product_attention(x, x, x)[0]

    close(attend(x[:, order]), attend(x)[:, order])  # without positions: reordering in, reordering out
    add = PositionalEncoding(8)
    assert (attend(add(x[:, order])) - attend(add(x))[:, order]).abs().max() > 0.1


# torch.compile and torch.export


class Rotary(nn.Module):
    def forward(self, x):
        return apply_rotary(x, offset=3)


@pytest.mark.parametrize("make", [lambda: PositionalEncoding(6, 9), lambda: LearnedPositionalEmbedding(6, 9), Rotary])
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")  # raised inside torch
def test_compiled_and_exported_modules_give_the_same_answers_at_other_lengths_too(make):
    torch.manual_seed(0)
    module = make()
    x, shorter = draw(2, 5, 6, dtype=torch.float32), draw(3, 4, 6, seed=1, dtype=torch.float32)
    compiled = torch.compile(module, backend="aot_eager", fullgraph=True, dynamic=True)
    sizes = {0: torch.export.Dim("batch", max=64), 1: torch.export.Dim("length", max=9)}
    exported = torch.export.export(module, (x,), dynamic_shapes=(sizes,)).module()
    for one in (x, shorter):
        close(compiled(one), module(one), ROUNDED)
        close(exported(one), module(one), ROUNDED)
    x.requires_grad_()
    (gradient,) = torch.autograd.grad(compiled(x).square().sum(), x)
    (expected,) = torch.autograd.grad(module(x).square().sum(), x)
    close(gradient, expected, 1e-5)


# Errors say what was expected, what came, and what to try


@pytest.mark.parametrize("make", MODULES)
def test_an_input_that_does_not_fit_a_module_is_refused(make):
    module = make(4, 5)
    with pytest.raises(ValueError, match="at most 5 long, got 6; make the module with a larger max_length"):
        module(torch.zeros(2, 6, 4))
    with pytest.raises(ValueError, match=r"x must be \(B, L, 4\), got shape \(2, 3, 6\)"):
        module(torch.zeros(2, 3, 6))
    with pytest.raises(ValueError, match=r"x must be \(B, length, d_model\), got shape \(3, 4\); unsqueeze\(0\)\?"):
        module(torch.zeros(3, 4))
    with pytest.raises(TypeError, match=r"floating-point dtype, got torch.int64; try x.float\(\)"):
        module(torch.zeros(2, 3, 4, dtype=torch.int64))
    with pytest.raises(ValueError, match="max_length must be at least 0, got -1"):
        make(4, -1)


def test_an_odd_width_or_a_dropout_that_is_no_probability_is_a_value_error():
    with pytest.raises(ValueError, match="d_model must be even"):
        PositionalEncoding(5)
    with pytest.raises(ValueError, match="dropout must be a probability between 0 and 1, got 1.5"):
        PositionalEncoding(4, dropout=1.5)
    with pytest.raises(ValueError, match="d_head must be even, .*got 5"):
        apply_rotary(torch.zeros(3, 5))


def test_what_cannot_be_rotated_is_refused():
    with pytest.raises(ValueError, match=r"x must be \(\.\.\., length, features\), got shape \(6,\)"):
        apply_rotary(torch.zeros(6))
    with pytest.raises(TypeError, match="floating-point dtype, got torch.int64"):
        apply_rotary(torch.zeros(3, 4, dtype=torch.int64))
    with pytest.raises(ValueError, match="base must be positive, got -1"):
        apply_rotary(torch.zeros(3, 4), base=-1)


@pytest.mark.parametrize("offset", [torch.tensor([10, 20]), 1.5, torch.tensor(1.5), True, "3", None])
def test_an_offset_that_is_no_whole_number_is_a_type_error(offset):
    with pytest.raises(TypeError, match="offset must be an int"):
        apply_rotary(draw(2, 2, 4), offset=offset)


def test_an_offset_may_be_a_tensor_of_one_integer():
    x = draw(2, 3, 4)
    assert torch.equal(apply_rotary(x, offset=torch.tensor(7)), apply_rotary(x, offset=7))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16], ids=str)
def test_a_module_made_without_memory_has_its_encoding_once_it_gets_some(dtype):
    with torch.device("meta"):
        module = PositionalEncoding(6, max_length=9).to(dtype)
    assert module.encoding.device.type == "meta"
    module.to_empty(device="cpu").load_state_dict(PositionalEncoding(6, max_length=9).state_dict())
    x = draw(2, 5, 6).to(dtype)
    assert torch.equal(module(x), PositionalEncoding(6, max_length=9).to(dtype)(x))
    assert not module.state_dict() and module.encoding.dtype == dtype


def test_an_encoding_that_was_narrow_for_a_while_is_exact_again():
    x = torch.zeros(1, 9, 6)
    assert torch.equal(PositionalEncoding(6, 9).half().float()(x), PositionalEncoding(6, 9)(x))
