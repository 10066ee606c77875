"""Proves the reference's `dot_product` against torch's own attention in float64, hand numbers, and properties.

Tolerances: 1e-12 where two float64 computations are compared; 5e-5 where a number is printed with four decimals; 16
rounding units of the dtype in half precision, where each of about ten operations on numbers of size 1 rounds once.
"""

import inspect
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional as F

from attention.dot_product import scaled_dot_product_attention
from attention.masks import causal_mask
from attention.worked_example import EXAMPLE, project

pytestmark = pytest.mark.proof()
EXACT, PRINTED = 1e-12, 5e-5
DTYPES = [torch.float16, torch.bfloat16, torch.float32, torch.float64]

bounded = settings(max_examples=40, derandomize=True, deadline=None, database=None)
sizes = st.tuples(*[st.integers(1, 6)] * 4)


def inputs(batch=((), (), ()), sizes=(4, 5, 3, 2), dtype=torch.float64, seed=0):
    """Random query, key and value; sizes (L, S, d_k, d_v)."""
    length, keys, d_k, d_v = sizes
    rng = torch.Generator().manual_seed(seed)
    shapes = [(*batch[0], length, d_k), (*batch[1], keys, d_k), (*batch[2], keys, d_v)]
    return [torch.randn(shape, generator=rng, dtype=torch.float64).to(dtype) for shape in shapes]


def random_mask(*shape, seed=0):
    """A random mask with no empty row."""
    mask = torch.rand(shape, generator=torch.Generator().manual_seed(seed)) < 0.5
    mask[..., 0] |= ~mask.any(dim=-1)
    return mask


def close(got, expected, tolerance=EXACT):
    torch.testing.assert_close(got, torch.as_tensor(expected, dtype=got.dtype), rtol=0, atol=tolerance)


# Numbers worked by hand


def example():
    found = project(*(EXAMPLE[name] for name in ("inputs", "w_query", "w_key", "w_value")))
    return [torch.as_tensor(part).double() for part in found]


def test_the_running_example_gives_the_output_worked_by_hand():
    output, weights = scaled_dot_product_attention(*example())
    close(output[0], [1.8639, 6.3194, 1.7042], PRINTED)
    close(weights.sum(dim=-1), [1, 1, 1])


def test_the_running_example_under_a_causal_mask_gives_the_weights_worked_by_hand():
    output, weights = scaled_dot_product_attention(*example(), causal_mask(3))
    close(weights[1], [0.0010, 0.9990, 0], PRINTED)
    close(output[0], [1, 2, 3])  # query 1 sees key 1 alone, so it gets value 1


def test_three_queries_and_four_keys_give_the_row_worked_by_hand():
    query = torch.tensor([[1, 3, 0], [2, 3, 0], [4, 1, 0]]).double()
    key = torch.tensor([[1, 3, 0], [2, 1, 0], [3, 2, 0], [4, 1, 0]]).double()
    value = torch.tensor([[1, 2], [2, 1], [3, 2], [4, 1]]).double()
    output, weights = scaled_dot_product_attention(query, key, value)
    close(weights[0], [0.5574, 0.0311, 0.3129, 0.0986], PRINTED)
    close(output[0], [1.9527, 1.8703], PRINTED)


def test_two_keys_of_four_under_a_mask_give_the_weights_worked_by_hand():
    # The query is scaled up so that the scores are 2, 4, 6, 8; with two allowed, the weights are 1/(1+e²) and its rest.
    query, key = math.sqrt(2) * torch.ones(1, 2).double(), torch.arange(1.0, 5).double()[:, None].expand(4, 2)
    output, weights = scaled_dot_product_attention(query, key, key, torch.tensor([True, True, False, False]))
    close(weights[0], [0.1192, 0.8808, 0, 0], PRINTED)
    close(output[0], [1.8808, 1.8808], PRINTED)


# torch's own attention as the oracle


@bounded
@given(sizes=sizes, seed=st.integers(0, 99))
def test_the_output_is_that_of_torch(sizes, seed):
    query, key, value = inputs(((2, 3), (2, 3), (2, 3)), sizes, seed=seed)
    mask = random_mask(2, 1, sizes[0], sizes[1], seed=seed)
    for attn_mask in (None, mask):
        output, weights = scaled_dot_product_attention(query, key, value, attn_mask)
        close(output, F.scaled_dot_product_attention(query, key, value, attn_mask=attn_mask))
        identity = torch.eye(sizes[1]).double().expand(2, 3, -1, -1)
        close(weights, F.scaled_dot_product_attention(query, key, identity, attn_mask=attn_mask))


@pytest.mark.parametrize("causal", [False, True])
def test_the_gradients_are_those_of_torch(causal):
    ours, theirs = ([x.requires_grad_() for x in inputs(sizes=(5, 5, 3, 2))] for _ in range(2))
    scaled_dot_product_attention(*ours, causal_mask(5) if causal else None)[0].square().sum().backward()
    F.scaled_dot_product_attention(*theirs, is_causal=causal).square().sum().backward()
    for mine, other in zip(ours, theirs, strict=True):
        close(mine.grad, other.grad)


@pytest.mark.parametrize(
    "batch",
    [
        ((2, 3), (1, 3), (1, 3)),
        ((2, 1), (3,), (3,)),
        ((), (4,), (4,)),
        ((), (), (2,)),
        ((2,), (), (3, 1)),
        ((0,), (0,), (1,)),
    ],
)
def test_leading_dimensions_broadcast_in_both_results(batch):
    query, key, value = inputs(batch)
    shape = torch.broadcast_shapes(*batch)
    output, weights = scaled_dot_product_attention(query, key, value)
    assert output.shape == (*shape, 4, 2) and weights.shape == (*shape, 4, 5)
    whole = [x.expand(*shape, *x.shape[-2:]) for x in (query, key, value)]
    close(output, F.scaled_dot_product_attention(*whole))


@pytest.mark.parametrize("shape", [(5,), (4, 5), (4, 1), (1, 5), (1, 1), (3, 1, 5), (2, 1, 1, 5), (2, 3, 4, 5), ()])
def test_a_mask_of_any_shape_that_broadcasts_is_the_mask_written_out(shape):
    arguments = inputs([(2, 3)] * 3)
    mask = torch.rand(shape, generator=torch.Generator().manual_seed(1)) < 0.6
    short, whole = (scaled_dot_product_attention(*arguments, m) for m in (mask, mask.expand(2, 3, 4, 5).clone()))
    for one, other in zip(short, whole, strict=True):
        close(one, other)


# Properties


@bounded
@given(sizes=sizes, seed=st.integers(0, 99))
def test_weights_are_positive_and_each_row_sums_to_one(sizes, seed):
    _, weights = scaled_dot_product_attention(*inputs(sizes=sizes, seed=seed))
    assert (weights >= 0).all()
    close(weights.sum(dim=-1), torch.ones(sizes[0]))


@bounded
@given(seed=st.integers(0, 99))
def test_reordering_keys_with_their_values_changes_nothing_but_the_order_of_weights(seed):
    query, key, value = inputs(seed=seed)
    order = torch.randperm(5, generator=torch.Generator().manual_seed(seed))
    output, weights = scaled_dot_product_attention(query, key, value)
    moved, moved_weights = scaled_dot_product_attention(query, key[order], value[order])
    close(moved, output)
    close(moved_weights, weights[:, order])


@bounded
@given(seed=st.integers(0, 99))
def test_a_forbidden_key_has_no_influence_at_all(seed):
    query, key, value = inputs(seed=seed)
    mask = random_mask(5, seed=seed)
    output, weights = scaled_dot_product_attention(query, key, value, mask)
    key[~mask], value[~mask] = 1e4, -1e4
    changed, changed_weights = scaled_dot_product_attention(query, key, value, mask)
    assert torch.equal(changed, output) and torch.equal(changed_weights, weights)
    assert (weights[:, ~mask] == 0).all()


def test_scores_of_ten_thousand_give_finite_weights():
    query, key, value = inputs()
    output, weights = scaled_dot_product_attention(1e3 * query, 1e3 * key, value)
    assert output.isfinite().all()
    close(weights.sum(dim=-1), torch.ones(4))


# Empty rows


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_a_query_that_may_attend_to_nothing_gets_zeros_and_finite_gradients(dtype):
    arguments = [x.requires_grad_() for x in inputs(dtype=dtype)]
    mask = random_mask(4, 5)
    mask[2] = False
    output, weights = scaled_dot_product_attention(*arguments, mask)
    assert (output[2] == 0).all() and (weights[2] == 0).all() and output.isfinite().all()
    with torch.autograd.set_detect_anomaly(True, check_nan=True):  # no NaN on the way either
        (output.sum() + weights.square().sum()).backward()
    assert all(x.grad.isfinite().all() for x in arguments)
    assert (arguments[0].grad[2] == 0).all()


def test_a_score_of_minus_infinity_counts_as_masked():
    key = torch.tensor([[-torch.inf], [0.0]])
    _, weights = scaled_dot_product_attention(torch.ones(1, 1), key, torch.ones(2, 1))
    assert weights.tolist() == [[0, 1]]
    _, weights = scaled_dot_product_attention(torch.ones(1, 1), key[:1], torch.ones(1, 1))
    assert weights.tolist() == [[0]]


def test_no_keys_give_a_zero_output_and_no_queries_an_empty_one():
    output, weights = scaled_dot_product_attention(*inputs(sizes=(4, 0, 3, 2)))
    assert output.tolist() == [[0, 0]] * 4 and weights.shape == (4, 0)
    output, weights = scaled_dot_product_attention(*inputs(sizes=(0, 5, 3, 2)))
    assert output.shape == (0, 2) and weights.shape == (0, 5)


# Dropout


def with_identity_values(dropout_p, mask=None):
    """The weights used for the output, and those returned: with unit vectors as values the output is the weights."""
    query, key, _ = inputs(sizes=(60, 50, 4, 1))
    torch.manual_seed(0)
    return scaled_dot_product_attention(query, key, torch.eye(50).double(), mask, dropout_p)


@pytest.mark.parametrize("dropout_p", [0.1, 0.25, 0.5])
def test_dropout_zeroes_its_share_of_the_weights_and_rescales_the_others(dropout_p):
    used, returned = with_identity_values(dropout_p)
    dropped = used == 0
    close(used[~dropped], returned[~dropped] / (1 - dropout_p))
    # 3000 weights: the share's standard deviation is below 0.0092, and five of them are allowed
    assert abs(dropped.double().mean() - dropout_p) < 5 * math.sqrt(dropout_p * (1 - dropout_p) / 3000)


def test_the_returned_weights_are_those_before_dropout():
    close(with_identity_values(0.5)[1], with_identity_values(0.0)[1])


def test_without_dropout_the_output_is_repeatable_and_with_probability_one_it_is_zero():
    used, returned = with_identity_values(0.0)
    close(used, returned)
    assert (with_identity_values(1.0)[0] == 0).all()


def test_dropout_and_a_mask_together_leave_forbidden_keys_forbidden():
    mask = random_mask(60, 50)
    used, returned = with_identity_values(0.25, mask)
    assert (used[~mask] == 0).all() and (used[mask] == 0).any()
    close(returned.sum(dim=-1), torch.ones(60))


# What the interface promises


@pytest.mark.parametrize("mask", [None, torch.tensor([[True, False, True], [False, False, False]])])
def test_gradients_are_those_of_finite_differences(mask):
    arguments = [x.requires_grad_() for x in inputs(((2, 1), (3,), (3,)), (2, 3, 2, 2))]
    assert torch.autograd.gradcheck(lambda *given: scaled_dot_product_attention(*given, mask), arguments)


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_dtype_is_kept_and_close_to_float64(dtype, masked):
    arguments = inputs([(2, 3)] * 3, dtype=dtype)
    mask = random_mask(4, 5) if masked else None
    got = scaled_dot_product_attention(*arguments, mask)
    expected = scaled_dot_product_attention(*(x.double() for x in arguments), mask)
    for one, other in zip(got, expected, strict=True):
        assert one.dtype == dtype and one.device == arguments[0].device and one.isfinite().all()
        torch.testing.assert_close(one.double(), other, rtol=0, atol=16 * torch.finfo(dtype).eps)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("size", [1.0, 9.0])
def test_in_half_precision_the_results_alone_are_rounded(dtype, size):
    """Weights are at most 1 and values at most 2, so that half a unit of the last place is eps / 2 and eps."""
    query, key, value = (x.clamp(-2, 2) for x in inputs([(2,)] * 3, (32, 40, 8, 3), dtype))
    query, key = size * query, size * key
    output, weights = scaled_dot_product_attention(query, key, value)
    exact_output, exact_weights = scaled_dot_product_attention(query.double(), key.double(), value.double())
    eps, within = torch.finfo(dtype).eps, 2e-5  # float32 on the way: scores of hundreds are exact to about 1e-5
    assert (weights.double() - exact_weights).abs().max() <= eps / 2 + within
    assert (output.double() - exact_output).abs().max() <= eps + within


def test_in_float16_scores_beyond_its_range_are_no_trouble():
    query = torch.full((2, 4), 300.0, dtype=torch.float16).requires_grad_()
    key = torch.tensor([[300.0] * 4, [299.0] * 4], dtype=torch.float16)  # scores of 180000 and 179400
    output, weights = scaled_dot_product_attention(query, key, torch.eye(2, dtype=torch.float16))
    assert weights.tolist() == output.tolist() == [[1.0, 0.0]] * 2
    output.sum().backward()
    assert (query.grad == 0).all()


def test_arguments_are_not_modified():
    arguments = [*inputs(), random_mask(4, 5)]
    before = [x.clone() for x in arguments]
    scaled_dot_product_attention(*arguments, dropout_p=0.5)
    assert all(torch.equal(x, y) for x, y in zip(arguments, before, strict=True))


# Errors say what was expected, what came, and what to try


@pytest.mark.parametrize(
    ("shapes", "text"),
    [
        ([(4, 3), (5, 2), (5, 2)], r"same last dimension, at least 1, got shapes \(4, 3\) and \(5, 2\)"),
        ([(4, 3), (5, 3), (6, 2)], r"same length S, got shapes \(5, 3\) and \(6, 2\)"),
        ([(4, 3), (5, 3), (5,)], r"value must be \(\.\.\., length, features\), got shape \(5,\); unsqueeze\(0\)\?"),
        ([(2, 4, 3), (3, 5, 3), (3, 5, 2)], r"must be equal or broadcast, got query \(2, 4, 3\), key \(3, 5, 3\)"),
        ([(4, 0), (5, 0), (5, 2)], r"at least 1, got shapes \(4, 0\) and \(5, 0\)"),
    ],
)
def test_a_shape_that_does_not_fit_is_a_value_error_that_names_both(shapes, text):
    with pytest.raises(ValueError, match=text):
        scaled_dot_product_attention(*(torch.zeros(shape) for shape in shapes))


@pytest.mark.parametrize("shape", [(5, 4), (3, 5), (2, 4, 5)])
def test_a_mask_that_does_not_fit_is_a_value_error_that_says_what_to_try(shape):
    with pytest.raises(ValueError, match=r"attn_mask must broadcast to \(4, 5\), got .*; transpose it, or add axes\?"):
        scaled_dot_product_attention(*inputs(), torch.ones(shape, dtype=torch.bool))


@pytest.mark.parametrize("mask", [torch.zeros(4, 5), torch.ones(4, 5, dtype=torch.int64), [[True] * 5] * 4])
def test_a_mask_that_is_not_boolean_is_a_type_error(mask):
    with pytest.raises(TypeError, match=r"attn_mask must be a boolean tensor, True = attend, got .*additive mask"):
        scaled_dot_product_attention(*inputs(), mask)


@pytest.mark.parametrize("dropout_p", [-0.1, 1.5, math.nan])
def test_a_dropout_that_is_no_probability_is_a_value_error(dropout_p):
    with pytest.raises(ValueError, match=rf"dropout_p must be a probability between 0 and 1, got {dropout_p}"):
        scaled_dot_product_attention(*inputs(), dropout_p=dropout_p)


def test_a_wrong_dtype_is_a_type_error_that_says_what_to_try():
    query, key, value = inputs()
    with pytest.raises(TypeError, match=r"key must have a floating-point dtype, got torch.int64; try key.float\(\)"):
        scaled_dot_product_attention(query, key.long(), value)
    with pytest.raises(TypeError, match=r"one dtype, got .*value torch.float32; convert them with \.to\(dtype\)"):
        scaled_dot_product_attention(query, key, value.float())


# Documentation


def test_the_docstring_gives_source_shapes_and_errors():
    text = inspect.getdoc(scaled_dot_product_attention)
    parts = (
        "Vaswani et al. 2017",
        "query: (..., L, d_k)",
        "key: (..., S, d_k)",
        "value: (..., S, d_v)",
        "True = attend",
    )
    assert all(part in text for part in (*parts, "Returns output (..., L, d_v) and weights (..., L, S)", "Raises"))
