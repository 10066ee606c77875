"""Proves the reference's `scores` against pairs worked one at a time, numbers worked by hand, and properties.

Tolerances: 1e-12 where two float64 computations are compared (sums of fewer than 100 terms of size about 10 err by less
than 1e-13); 5e-5 where a number is printed with four decimals; 16 rounding units of the dtype, relative to the largest
score, in half precision, where each of about ten operations rounds once.
"""

import inspect
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from attention import scores
from attention.scores import additive_scores, bilinear_scores, dot_scores, scaled_dot_scores
from attention.worked_example import EXAMPLE, project

pytestmark = pytest.mark.proof()
EXACT, PRINTED = 1e-12, 5e-5
DTYPES = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
FUNCTIONS = [additive_scores, bilinear_scores, dot_scores, scaled_dot_scores]
SAME_WIDTH = [dot_scores, scaled_dot_scores]

bounded = settings(max_examples=30, derandomize=True, deadline=None, database=None)
sizes = st.tuples(*[st.integers(1, 5)] * 5)
batches = st.sampled_from(
    [((), ()), ((3,), (3,)), ((2, 3), (2, 3)), ((2, 3), (1, 3)), ((2, 1), (3,)), ((), (4,)), ((0,), (0,))]
)


def arguments(function, batch=((), ()), sizes=(4, 5, 3, 2, 6), dtype=torch.float64):
    """Random arguments of a score function; sizes (L, S, d_q, d_k, d_hidden), d_q = d_k where it must."""
    length, keys, d_q, d_k, hidden = sizes
    if function in SAME_WIDTH:
        d_q = d_k
    rng = torch.Generator().manual_seed(sum(sizes))
    shapes = [(*batch[0], length, d_q), (*batch[1], keys, d_k)]
    shapes += {additive_scores: [(hidden, d_q + d_k), (hidden,)], bilinear_scores: [(d_q, d_k)]}.get(function, [])
    return [torch.randn(shape, generator=rng, dtype=torch.float64).to(dtype) for shape in shapes]


def one_score(function, q, k, *weights):
    """The score of one query and one key, in plain Python."""
    q, k = q.tolist(), k.tolist()
    if function is additive_scores:
        w1, w2 = (weight.tolist() for weight in weights)
        hidden = [math.tanh(sum(a * b for a, b in zip(row, q + k, strict=True))) for row in w1]
        return sum(a * b for a, b in zip(w2, hidden, strict=True))
    if function is bilinear_scores:
        return sum(
            a * w * b for a, row in zip(q, weights[0].tolist(), strict=True) for w, b in zip(row, k, strict=True)
        )
    product = sum(a * b for a, b in zip(q, k, strict=True))
    return product / math.sqrt(len(k)) if function is scaled_dot_scores else product


def close(got, expected, tolerance=EXACT):
    torch.testing.assert_close(got, torch.as_tensor(expected, dtype=got.dtype), rtol=0, atol=tolerance)


# Numbers worked by hand


def example():
    queries, keys, _ = project(*(EXAMPLE[name] for name in ("inputs", "w_query", "w_key", "w_value")))
    return torch.as_tensor(queries).double(), torch.as_tensor(keys).double()


def test_dot_scores_of_the_running_example_are_those_worked_by_hand():
    close(dot_scores(*example()), [[2, 4, 4], [4, 16, 12], [4, 12, 10]])


def test_scaled_scores_of_the_running_example_are_those_worked_by_hand():
    close(scaled_dot_scores(*example())[0], [1.1547, 2.3094, 2.3094], PRINTED)


def test_bilinear_scores_of_the_running_example_are_those_worked_by_hand():
    exchange = torch.tensor([[1, 0, 0], [0, 0, 1], [0, 1, 0]]).double()  # features 2 and 3
    close(bilinear_scores(*example(), exchange)[0], [2, 12, 8])


def test_additive_scores_of_the_running_example_are_those_worked_by_hand():
    w1 = torch.tensor([[1, 0, 0, -1, 0, 0], [0, 0, 1, 0, -1, 0]]).double()
    w2 = torch.tensor([2, 1]).double()
    # three hyperbolic tangents, each rounded to four decimals
    close(additive_scores(*example(), w1, w2)[0], [2.2848, -2.9541, -2.2848], 3 * PRINTED)


# Independent oracles


@pytest.mark.parametrize("function", FUNCTIONS)
@bounded
@given(sizes=sizes)
def test_each_entry_is_the_score_of_one_query_and_one_key(function, sizes):
    query, key, *weights = arguments(function, sizes=sizes)
    close(function(query, key, *weights), [[one_score(function, q, k, *weights) for k in key] for q in query])


@pytest.mark.parametrize("function", FUNCTIONS)
@bounded
@given(batch=batches)
def test_each_sequence_of_a_batch_is_scored_as_if_alone(function, batch):
    query, key, *weights = arguments(function, batch)
    got = function(query, key, *weights)
    shape = torch.broadcast_shapes(*batch)
    assert got.shape == (*shape, query.shape[-2], key.shape[-2])
    query, key = (x.expand(*shape, *x.shape[-2:]) for x in (query, key))
    for place in torch.cartesian_prod(*map(torch.arange, shape)).reshape(-1, len(shape)).tolist() if shape else []:
        close(got[tuple(place)], function(query[tuple(place)], key[tuple(place)], *weights))


def test_a_dot_product_is_the_bilinear_score_of_the_identity():
    query, key = arguments(dot_scores)
    close(bilinear_scores(query, key, torch.eye(query.shape[-1]).double()), dot_scores(query, key))


def test_a_dot_product_of_projections_is_a_bilinear_score_of_the_inputs():
    query, key, weight = arguments(bilinear_scores, sizes=(4, 5, 6, 6, 1))
    left, right = weight[:, :2], weight[:, 2:4]
    close(bilinear_scores(query, key, left @ right.T), dot_scores(query @ left, key @ right))


def test_scaled_scores_have_the_variance_of_one_feature_at_every_width():
    # 200 · 200 scores; they share vectors, so the error of their variance is about 2/√200 = 0.14 in the worst case
    for width in (4, 64, 256):
        rng = torch.Generator().manual_seed(width)
        query, key = (torch.randn(200, width, generator=rng) for _ in range(2))
        assert abs(scaled_dot_scores(query, key).var() - 1) < 0.3


def test_an_additive_score_never_exceeds_the_sum_of_w2_without_signs():
    query, key, w1, w2 = arguments(additive_scores)
    found = additive_scores(1e6 * query, -1e6 * key, w1, w2)
    assert found.abs().max() <= w2.abs().sum() + EXACT


# What the interface promises of every function


@pytest.mark.parametrize("function", FUNCTIONS)
def test_gradients_are_those_of_finite_differences(function):
    given_arguments = [x.requires_grad_() for x in arguments(function, ((2, 1), (3,)), (2, 3, 2, 3, 2))]
    assert torch.autograd.gradcheck(function, given_arguments)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_dtype_is_kept_and_close_to_float64(function, dtype):
    given_arguments = arguments(function, ((2, 3), (1, 3)), dtype=dtype)
    got = function(*given_arguments)
    expected = function(*(x.double() for x in given_arguments))
    assert got.dtype == dtype and got.device == given_arguments[0].device and got.isfinite().all()
    tolerance = 16 * torch.finfo(dtype).eps * expected.abs().max().item()
    torch.testing.assert_close(got.double(), expected, rtol=0, atol=tolerance)


def test_scaled_scores_that_fit_float16_do_not_overflow_on_the_way():
    vector = torch.full((1, 64), 50.0, dtype=torch.float16)
    assert dot_scores(vector, vector).isinf().all()  # 160 000 > 65 504
    assert scaled_dot_scores(vector, vector).item() == 20_000


@pytest.mark.parametrize("function", FUNCTIONS)
def test_arguments_are_not_modified(function):
    given_arguments = arguments(function, ((2, 3), (1, 3)))
    before = [x.clone() for x in given_arguments]
    function(*given_arguments)
    assert all(torch.equal(x, y) for x, y in zip(given_arguments, before, strict=True))


@pytest.mark.parametrize("function", FUNCTIONS)
def test_no_queries_or_no_keys_give_an_empty_matrix(function):
    for shape in ((0, 5), (4, 0)):
        assert function(*arguments(function, sizes=(*shape, 3, 2, 6))).shape == shape


# Errors say what was expected, what came, and what to try


def tensors(*shapes):
    return [torch.zeros(shape) for shape in shapes]


@pytest.mark.parametrize(
    ("function", "shapes", "text"),
    [
        (additive_scores, [(4, 3), (5, 2), (6, 4), (6,)], r"w1 must be .* \(d_hidden, 5\), got \(6, 4\)"),
        (additive_scores, [(4, 3), (5, 2), (5,), (6,)], r"w1 must be .* got \(5,\)"),
        (additive_scores, [(4, 3), (5, 2), (6, 5), (5,)], r"w2 must be \(d_hidden,\) = \(6,\), got \(5,\)"),
        (additive_scores, [(4, 3), (5, 2), (6, 5), (6, 1)], r"w2 must be .* got \(6, 1\)"),
        (bilinear_scores, [(4, 3), (5, 2), (2, 3)], r"weight must be .* = \(3, 2\), got \(2, 3\); transpose it\?"),
        (dot_scores, [(4, 3), (5, 2)], r"same last dimension, at least 1, got shapes \(4, 3\) and \(5, 2\)"),
        (scaled_dot_scores, [(4, 0), (5, 0)], r"at least 1, got shapes \(4, 0\) and \(5, 0\)"),
        (dot_scores, [(3,), (5, 3)], r"query must be \(\.\.\., length, features\), got shape \(3,\); unsqueeze\(0\)\?"),
        (
            scaled_dot_scores,
            [(2, 4, 3), (3, 5, 3)],
            r"must be equal or broadcast, got query \(2, 4, 3\), key \(3, 5, 3\)",
        ),
    ],
)
def test_a_shape_that_does_not_fit_is_a_value_error_that_names_both(function, shapes, text):
    with pytest.raises(ValueError, match=text):
        function(*tensors(*shapes))


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_wrong_dtype_is_a_type_error_that_says_what_to_try(function):
    query, *others = arguments(function, dtype=torch.float32)
    with pytest.raises(
        TypeError, match=r"query must have a floating-point dtype, got torch.int64; try query.float\(\)"
    ):
        function(query.long(), *others)
    with pytest.raises(TypeError, match=r"one dtype, got query torch.float64, key torch.float32.*\.to\(dtype\)"):
        function(query.double(), *others)
    with pytest.raises(TypeError, match=r"query must be a tensor, got list; try torch.tensor\(query\)"):
        function(query.tolist(), *others)


# Documentation


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_docstring_gives_source_shapes_and_errors(function):
    text = inspect.getdoc(function)
    assert "et al. 20" in text.splitlines()[0]
    assert all(part in text for part in ("query: (..., L,", "key: (..., S,", "Returns scores (..., L, S)", "Raises"))
    assert function.__name__ in scores.__all__
