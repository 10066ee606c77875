"""Proves the reference's `layer_norm`, `FeedForward` and `attention_columns` against torch's own and hand numbers.

Tolerances: 1e-12 where two float64 computations are compared, 5e-5 where a number is printed with four decimals. In
half precision, four rounding units of the dtype: quotient, gain and bias each round once.
"""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional as F

from attention.dot_product import scaled_dot_product_attention
from attention.encoder import FeedForward, attention_columns, layer_norm
from attention.worked_example import EXAMPLE

pytestmark = pytest.mark.proof()
EXACT, PRINTED = 1e-12, 5e-5
DTYPES = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
bounded = settings(max_examples=40, derandomize=True, deadline=None, database=None)


def drawn(*shape, seed=0, dtype=torch.float64):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


def close(got, expected, tolerance=EXACT):
    torch.testing.assert_close(got, torch.as_tensor(expected, dtype=got.dtype), rtol=0, atol=tolerance)


# layer_norm


def example(*names):
    return [torch.tensor(EXAMPLE[name]).double() for name in names]


def after_first_norm():
    """The running example after attention with its two heads, the residual connection and a norm without gain."""
    inputs, w_output = example("inputs", "w_output")
    heads = []
    for head in ("", "2"):
        projections = example(f"w_query{head}", f"w_key{head}", f"w_value{head}")
        heads.append(scaled_dot_product_attention(*(inputs @ weight for weight in projections))[0])
    summed = inputs + torch.cat(heads, dim=-1) @ w_output
    close(summed[0], [5.2019, 9.4041, 5.7889, 4.2782], PRINTED)
    return layer_norm(summed)


def test_the_running_example_after_its_first_residual_gives_the_row_worked_by_hand():
    close(after_first_norm()[0], [-0.4970, 1.6643, -0.1951, -0.9721], PRINTED)


def test_three_numbers_worked_by_hand():
    # Mean 2, deviations -1, 0, 1, variance 2/3.
    close(layer_norm(torch.tensor([1.0, 2.0, 3.0]).double(), eps=0.0), [-math.sqrt(1.5), 0.0, math.sqrt(1.5)])


@bounded
@given(st.lists(st.integers(1, 5), min_size=1, max_size=4), st.booleans(), st.booleans(), st.floats(1e-8, 2.0))
def test_layer_norm_equals_torchs_with_all_gradients(shape, has_weight, has_bias, eps):
    width = shape[-1]
    weight, bias = drawn(width, seed=1) if has_weight else None, drawn(width, seed=2) if has_bias else None
    results = []
    for norm in (layer_norm, lambda x, w, b, eps: F.layer_norm(x, (width,), w, b, eps)):
        own = [None if one is None else one.clone().requires_grad_() for one in (drawn(*shape), weight, bias)]
        output = norm(*own, eps)
        output.backward(drawn(*shape, seed=3))
        results.append([output, *(one.grad for one in own if one is not None)])
    # Where the spread is small beside eps' root, both divide by about √eps ≥ 1e-4: rounding grows by its cube at most.
    for got, expected in zip(*results, strict=True):
        torch.testing.assert_close(got, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_layer_norm_equals_torchs_in_every_dtype(dtype):
    x, weight, bias = 3 * drawn(4, 5, 7, dtype=dtype), drawn(7, seed=1, dtype=dtype), drawn(7, seed=2, dtype=dtype)
    got, expected = layer_norm(x, weight, bias), F.layer_norm(x, (7,), weight, bias)
    assert got.dtype == dtype
    unit = torch.finfo(dtype).eps
    torch.testing.assert_close(got, expected, rtol=4 * unit, atol=16 * unit)


def test_in_float16_entries_of_300_do_not_overflow():
    x = torch.tensor([[300.0, -300.0, 300.0, 0.0], [-400.0, 350.0, 500.0, -600.0]], dtype=torch.float16)
    assert x.square().isinf().any(), "the case is one only if the squares overflow"
    expected = F.layer_norm(x.double(), (4,))
    close(layer_norm(x).double(), expected, 4 * torch.finfo(torch.float16).eps)


def test_features_that_are_all_alike_give_the_bias():
    bias = drawn(4)
    assert torch.equal(layer_norm(torch.full((2, 4), 7.0).double(), drawn(4, seed=1), bias), bias.expand(2, 4))


@bounded
@given(st.floats(0.1, 100.0), st.floats(-100.0, 100.0))
def test_without_eps_neither_scale_nor_shift_of_x_matters(scale, shift):
    x = drawn(3, 6)
    close(layer_norm(scale * x + shift, eps=0.0), layer_norm(x, eps=0.0), 1e-10)  # the shift costs three digits


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ((torch.ones(2, 3), torch.ones(2)), ValueError),
        ((torch.ones(2, 3), None, torch.ones(1)), ValueError),
        ((torch.ones(2, 3), None, None, -1e-5), ValueError),
        ((torch.tensor(1.0),), ValueError),
        ((torch.ones(2, 3).long(),), TypeError),
        ((torch.ones(2, 3), torch.ones(3).double()), TypeError),
    ],
)
def test_layer_norm_refuses_what_does_not_fit(arguments, error):
    with pytest.raises(error):
        layer_norm(*arguments)


# FeedForward


@pytest.mark.parametrize(("activation", "layer"), [("relu", nn.ReLU()), ("gelu", nn.GELU())])
def test_feed_forward_equals_the_layers_of_torch_in_a_row(activation, layer):
    torch.manual_seed(0)
    ours = FeedForward(4, 7, activation=activation).double()
    theirs = nn.Sequential(nn.Linear(4, 7), layer, nn.Linear(7, 4)).double()
    theirs[0].load_state_dict(ours.linear1.state_dict())
    theirs[2].load_state_dict(ours.linear2.state_dict())
    x, same = (drawn(2, 3, 4).requires_grad_() for _ in range(2))
    close(ours(x), theirs(same))
    ours(x).backward(drawn(2, 3, 4, seed=1))
    theirs(same).backward(drawn(2, 3, 4, seed=1))
    close(x.grad, same.grad)
    for got, expected in zip(ours.parameters(), theirs.parameters(), strict=True):
        close(got.grad, expected.grad)


def test_in_the_running_example_a_hidden_unit_fires_for_one_token_alone():
    feed = FeedForward(4, 6).double()
    w1, b1, w2, b2 = example("w_ff1", "b_ff1", "w_ff2", "b_ff2")
    feed.load_state_dict({"linear1.weight": w1.T, "linear1.bias": b1, "linear2.weight": w2.T, "linear2.bias": b2})
    rows = after_first_norm()
    hidden = (rows @ w1 + b1).clamp(min=0)
    assert (hidden[:, 0] > 0).tolist() == [True, False, False]
    assert (hidden[:, 3] > 0).tolist() == [False, True, False]
    close(feed(rows), hidden @ w2 + b2)


def test_dropout_acts_on_hidden_units_in_training_only():
    feed = FeedForward(3, 3, dropout=0.25).double()
    with torch.no_grad():
        feed.linear1.weight.zero_(), feed.linear1.bias.fill_(1.0)
        feed.linear2.weight.copy_(torch.eye(3)), feed.linear2.bias.fill_(10.0)
    x = drawn(4000, 3)
    torch.manual_seed(0)
    output = feed.train()(x)
    dropped = output == 10.0
    close(output[~dropped], torch.full_like(output[~dropped], 10 + 1 / 0.75))
    assert abs(dropped.double().mean().item() - 0.25) < 0.02  # five deviations of the share of 12000
    close(feed.eval()(x), torch.full_like(x, 11.0))


@pytest.mark.parametrize(
    "make",
    [
        lambda: FeedForward(0, 3),
        lambda: FeedForward(3, 0),
        lambda: FeedForward(3, 3, dropout=1.5),
        lambda: FeedForward(3, 3, activation="tanh"),
        lambda: FeedForward(3, 4)(torch.ones(2, 4)),
    ],
)
def test_feed_forward_refuses_what_does_not_fit(make):
    with pytest.raises(ValueError):
        make()


# attention_columns


@bounded
@given(st.tuples(*[st.integers(1, 6)] * 4))
def test_columns_are_the_row_form_transposed(sizes):
    n, d_model, d, d_v = sizes
    parts = [drawn(d_model, n), drawn(d, d_model, seed=1), drawn(d, d_model, seed=2), drawn(d_v, d_model, seed=3)]
    ours, theirs = ([one.clone().requires_grad_() for one in parts] for _ in range(2))
    got = attention_columns(*ours)
    x, w_query, w_key, w_value = (one.T for one in theirs)
    expected = scaled_dot_product_attention(x @ w_query, x @ w_key, x @ w_value)[0].T
    close(got, expected)
    got.backward(drawn(d_v, n, seed=4))
    expected.backward(drawn(d_v, n, seed=4))
    for one, other in zip(ours, theirs, strict=True):
        close(one.grad, other.grad)


def test_columns_equal_torchs_own_attention():
    x, w_query, w_key, w_value = drawn(5, 7), drawn(3, 5, seed=1), drawn(3, 5, seed=2), drawn(4, 5, seed=3)
    rows = [(weight @ x).T[None] for weight in (w_query, w_key, w_value)]
    close(attention_columns(x, w_query, w_key, w_value), F.scaled_dot_product_attention(*rows)[0].T)


def test_the_running_example_by_columns_gives_the_output_worked_by_hand():
    x, w_query, w_key, w_value = (
        torch.tensor(EXAMPLE[name]).double().T for name in ("inputs", "w_query", "w_key", "w_value")
    )
    output = attention_columns(x, w_query, w_key, w_value)
    close(output[:, 0], [1.8639, 6.3194, 1.7042], PRINTED)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_columns_keep_the_dtype(dtype):
    assert attention_columns(*(drawn(3, 3, seed=seed, dtype=dtype) for seed in range(4))).dtype == dtype


@pytest.mark.parametrize("dtype", DTYPES[:2], ids=str)
def test_in_half_precision_columns_round_projections_and_result_alone(dtype):
    """Values are below 16, so that half a unit of the last place is 4 eps; what is on the way is float32."""
    x = 3 * drawn(8, 40, dtype=dtype)
    unit = torch.eye(8, dtype=dtype)  # the projections are x itself, which is not rounded again
    exact = x.double() @ torch.softmax(x.double().T @ x.double() / math.sqrt(8), dim=0)
    found = attention_columns(x, unit, unit, unit)
    close(found.double(), exact, 4 * torch.finfo(dtype).eps)


def test_columns_refuse_what_does_not_fit():
    x, w = drawn(4, 5), drawn(3, 4)
    for wrong in ((x, w, drawn(2, 4), w), (x, w, w, drawn(3, 5)), (x[None], w, w, w)):
        with pytest.raises(ValueError):
            attention_columns(*wrong)
    with pytest.raises(TypeError):
        attention_columns(x, w, w, w.float())
