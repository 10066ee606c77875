"""The reference's masked softmax against torch's own in float64, numbers worked by hand, and properties.

float64 results are compared to 1e-12: a few roundings of about 1e-16 each, on numbers of order 1.
"""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn.functional import scaled_dot_product_attention

from attention.masks import causal_mask, masked_softmax
from attention.worked_example import EXAMPLE

pytestmark = pytest.mark.proof()
EXACT = {"rtol": 0.0, "atol": 1e-12}
DTYPES = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
T, F, INF = True, False, math.inf

bounded = settings(max_examples=40, derandomize=True, deadline=None)


def random(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def chance(*shape, seed=0, share=0.6):
    return torch.rand(shape, generator=torch.Generator().manual_seed(seed)) < share


def test_the_running_examples_causal_weights():
    query, key = (
        torch.tensor(EXAMPLE["inputs"], dtype=torch.float64) @ torch.tensor(EXAMPLE[name], dtype=torch.float64)
        for name in ("w_query", "w_key")
    )
    weights = masked_softmax(query @ key.mT / math.sqrt(3), causal_mask(3))
    assert weights[0].tolist() == [1, 0, 0]
    # Four decimals are printed in the book.
    torch.testing.assert_close(weights[1], torch.tensor([0.0010, 0.9990, 0.0], dtype=torch.float64), rtol=0, atol=5e-5)


def test_masked_softmax_by_hand():
    scores = torch.tensor([math.log(1), math.log(2), math.log(5)], dtype=torch.float64)
    expected = torch.tensor([1 / 6, 0.0, 5 / 6], dtype=torch.float64)
    torch.testing.assert_close(masked_softmax(scores, torch.tensor([T, F, T])), expected, **EXACT)


@bounded
@given(st.integers(1, 5), st.integers(1, 6), st.integers(0, 1000))
def test_masked_softmax_is_the_softmax_of_the_allowed_entries_alone(rows, columns, seed):
    scores, mask = random(rows, columns, seed=seed), chance(rows, columns, seed=seed + 1, share=0.5)
    weights = masked_softmax(scores, mask)
    assert (weights[~mask] == 0).all()
    for row, allowed, found in zip(scores, mask, weights, strict=True):
        if allowed.any():
            torch.testing.assert_close(found[allowed], row[allowed].softmax(dim=0), **EXACT)
        else:
            assert (found == 0).all()


@bounded
@given(st.floats(-1e4, 1e4), st.integers(0, 1000))
def test_a_constant_added_to_the_scores_and_a_forbidden_score_change_nothing(number, seed):
    scores, mask = random(4, 6, seed=seed), chance(4, 6, seed=seed + 1)
    moved = (scores + number).masked_fill(~mask, -number)
    # Adding 1e4 costs the scores four of their sixteen digits.
    torch.testing.assert_close(masked_softmax(moved, mask), masked_softmax(scores, mask), rtol=0, atol=1e-10)


@pytest.mark.parametrize("mask_shape", [(4, 6), (2, 1, 1, 6), (2, 3, 4, 6), (1, 3, 1, 1), (6,), ()])
def test_masked_softmax_agrees_with_torchs_own_attention(mask_shape):
    query, key = random(2, 3, 4, 5), random(2, 3, 6, 5, seed=1)
    mask = chance(*mask_shape, seed=2)
    value = torch.eye(6, dtype=torch.float64).expand(2, 3, 6, 6)  # so that the output is the weights
    whole = mask.expand(2, 3, 4, 6)  # torch's own takes no mask of fewer than two axes
    theirs = scaled_dot_product_attention(query, key, value, attn_mask=whole)
    theirs = theirs.masked_fill(~whole.any(dim=-1, keepdim=True), 0.0)
    torch.testing.assert_close(masked_softmax(query @ key.mT / math.sqrt(5), mask), theirs, **EXACT)


def test_without_a_mask_it_is_the_softmax():
    scores = random(2, 3, 4)
    for dim in (-3, -1, 0, 1, 2):
        torch.testing.assert_close(masked_softmax(scores, dim=dim), scores.softmax(dim=dim), **EXACT)


@pytest.mark.parametrize("dim", [-3, -2, -1, 0, 1, 2])
def test_the_axis_dim_sums_to_one_or_to_zero(dim):
    scores, mask = random(3, 4, 5), chance(3, 4, 5, share=0.4)
    some = mask.any(dim=dim)
    assert not some.all()  # there are empty slices
    torch.testing.assert_close(masked_softmax(scores, mask, dim).sum(dim), some.double(), **EXACT)


def test_a_score_of_minus_infinity_is_masked():
    scores = torch.tensor([[-INF, 0.0, 0.0], [-INF, -INF, -INF], [1.0, -INF, -INF]], requires_grad=True)
    weights = masked_softmax(scores, torch.tensor([T, T, F]))
    assert weights.tolist() == [[0.0, 1.0, 0.0], [0.0, 0.0, 0.0], [1.0, 0.0, 0.0]]
    weights.square().sum().backward()
    assert (scores.grad == 0).all()  # each row has one entry or none: its weight cannot change


def test_nan_among_allowed_scores_is_not_hidden_and_among_forbidden_ones_is():
    scores = torch.tensor([[math.nan, 0.0], [1.0, 1.0]])
    assert masked_softmax(scores)[0].isnan().all()
    assert masked_softmax(scores, torch.tensor([F, T])).tolist() == [[0.0, 1.0], [0.0, 1.0]]


@pytest.mark.parametrize("size", [1e3, 1e4, 1e300])
def test_large_scores_are_no_trouble(size):
    scores = torch.tensor([[size, -size, size], [-size, -size, size]], dtype=torch.float64)
    assert masked_softmax(scores, torch.tensor([T, T, F])).tolist() == [[1.0, 0.0, 0.0], [0.5, 0.5, 0.0]]


@pytest.mark.parametrize("dtype", DTYPES)
def test_an_empty_row_has_zero_weights_and_a_zero_gradient_in_every_dtype(dtype):
    scores = random(3, 4).to(dtype).requires_grad_()
    mask = torch.tensor([[T, F, T, T], [F, F, F, F], [T, T, T, T]])
    with torch.autograd.set_detect_anomaly(True):  # no NaN on the way either
        weights = masked_softmax(scores, mask)
        (weights * random(3, 4, seed=1).to(dtype)).sum().backward()
    assert weights.dtype == scores.grad.dtype == dtype
    assert (weights[1] == 0).all() and (scores.grad[1] == 0).all()
    assert (scores.grad[0] != 0).any() and scores.grad.isfinite().all() and weights.isfinite().all()


@pytest.mark.parametrize("dtype", DTYPES[:3])
def test_narrow_dtypes_round_the_same_weights(dtype):
    scores, mask = random(5, 7).to(dtype), chance(5, 7)
    wide = masked_softmax(scores.double(), mask)
    # torch computes in float32 within; what is left is the rounding of the result, half a unit of its last place.
    torch.testing.assert_close(masked_softmax(scores, mask).double(), wide, rtol=torch.finfo(dtype).eps, atol=1e-7)


def test_gradients_are_right_empty_rows_included():
    scores = random(2, 3, 5).requires_grad_()
    mask = chance(3, 5)
    mask[1] = False
    # gradcheck compares with differences of 1e-6, good to about 1e-9; its own tolerance is wider.
    assert torch.autograd.gradcheck(lambda scores: masked_softmax(scores, mask), scores)
    assert torch.autograd.gradcheck(lambda scores: masked_softmax(scores, mask.mT, dim=-2), scores.mT)
    assert torch.autograd.gradgradcheck(lambda scores: masked_softmax(scores, mask), scores)


@pytest.mark.parametrize("shape", [(), (1,), (0,), (0, 4), (4, 0), (2, 0, 3)])
def test_odd_shapes_are_kept(shape):
    scores = random(*shape)
    for mask in (None, torch.tensor(True), torch.tensor(False)):
        weights = masked_softmax(scores, mask)
        assert weights.shape == shape
        assert (weights == (0.0 if mask is not None and not mask else scores.softmax(dim=-1))).all()
