"""Proves the reference's `worked_example` against numbers worked by hand, torch in float64, and properties.

Tolerances: 1e-12 where two float64 computations are compared (sums of fewer than 100 terms of size about 10 err by
less than 1e-13); 5e-5 where a number is printed with four decimals, half a unit of the last. The module has no
gradients and keeps no dtype: it computes in float64 whatever comes in.
"""

import ast
import inspect
import math
import subprocess
import sys

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from attention import worked_example
from attention.worked_example import EXAMPLE, dot_scores, project, self_attention, softmax, weighted_sum
from autograder.build import stubs
from autograder.course.paths import REFERENCE
from selfcheck.checks import worked_example as checks

pytestmark = pytest.mark.proof(
    depends=["src/selfcheck/catalogue/worked_example.toml", "src/selfcheck/recorded/worked_example.json"],
    ignores="src/selfcheck/catalogue/*.toml",  # read as a whole
)
EXACT, PRINTED = 1e-12, 5e-5
FIRST_HEAD = [EXAMPLE[name] for name in ("inputs", "w_query", "w_key", "w_value")]
SECOND_HEAD = [EXAMPLE[name] for name in ("inputs", "w_query2", "w_key2", "w_value2")]
FUNCTIONS = [project, dot_scores, softmax, weighted_sum, self_attention]

bounded = settings(max_examples=40, derandomize=True, deadline=None, database=None)
numbers = st.floats(-20, 20, width=32)
axes = hnp.array_shapes(min_dims=1, max_dims=4, min_side=1, max_side=5)


def layers(*sizes):
    """Random inputs and matrices; sizes (L, d_in, d, d_v)."""
    length, d_in, d, d_v = sizes
    rng = np.random.default_rng(sum(sizes))
    return [rng.standard_normal(shape) for shape in ((length, d_in), (d_in, d), (d_in, d), (d_in, d_v))]


def close(got, expected, tolerance=EXACT):
    np.testing.assert_allclose(got, expected, rtol=0, atol=tolerance)


# Numbers worked by hand (the table of the course's interface)


def test_the_running_example_gives_the_queries_keys_and_values_worked_by_hand():
    queries, keys, values = project(*FIRST_HEAD)
    assert queries.tolist() == [[1, 0, 2], [2, 2, 2], [2, 1, 3]]
    assert keys.tolist() == [[0, 1, 1], [4, 4, 0], [2, 3, 1]]
    assert values.tolist() == [[1, 2, 3], [2, 8, 0], [2, 6, 3]]


def test_the_running_example_gives_the_scores_worked_by_hand():
    assert dot_scores(*project(*FIRST_HEAD)[:2]).tolist() == [[2, 4, 4], [4, 16, 12], [4, 12, 10]]
    assert dot_scores(*project(*SECOND_HEAD)[:2]).tolist() == [[2, 6, 5], [4, 4, 6], [4, 8, 8]]


@pytest.mark.parametrize(
    ("scale", "first_output", "first_weights"),
    [
        (False, [1.9366, 6.6831, 1.5951], [0.0634, 0.4683, 0.4683]),
        (True, [1.8639, 6.3194, 1.7042], [0.1361, 0.4319, 0.4319]),
    ],
)
def test_the_running_example_gives_the_outputs_worked_by_hand(scale, first_output, first_weights):
    outputs, weights = self_attention(*FIRST_HEAD, scale=scale)
    close(outputs[0], first_output, PRINTED)
    close(weights[0], first_weights, PRINTED)


def test_minus_infinity_gives_the_causal_weights_worked_by_hand():
    scores = np.array([[2.0, -np.inf, -np.inf], [4, 16, -np.inf], [4, 12, 10]]) / math.sqrt(3)
    close(softmax(scores)[:2], [[1, 0, 0], [0.0010, 0.9990, 0]], PRINTED)


def test_the_checks_use_the_numbers_of_the_example():
    assert FIRST_HEAD == [checks.INPUTS, checks.W_QUERY, checks.W_KEY, checks.W_VALUE]
    queries, keys, values = project(*FIRST_HEAD)
    assert [queries.tolist(), keys.tolist(), values.tolist()] == [checks.QUERIES, checks.KEYS, checks.VALUES]
    assert dot_scores(queries, keys).tolist() == checks.SCORES
    close(checks.WEIGHTS, softmax(checks.SCORES), PRINTED)


# Independent oracles: torch in float64


@pytest.mark.parametrize("sizes", [(5, 7, 3, 4), (1, 2, 6, 3), (8, 3, 1, 1), (3, 1, 2, 9)])
@pytest.mark.parametrize("scale", [False, True])
def test_self_attention_is_torchs_attention(sizes, scale):
    inputs, w_query, w_key, w_value = layers(*sizes)
    outputs, weights = self_attention(inputs, w_query, w_key, w_value, scale=scale)
    x, *matrices = (torch.from_numpy(matrix)[None] for matrix in (inputs, w_query, w_key, w_value))
    q, k, v = (x @ matrix for matrix in matrices)
    factor = None if scale else 1.0  # None: torch's own 1/√d
    close(outputs, torch.nn.functional.scaled_dot_product_attention(q, k, v, scale=factor)[0].numpy(), 1e-10)
    eye = torch.eye(sizes[0], dtype=torch.float64)[None]  # with these as values, the outputs are the weights
    close(weights, torch.nn.functional.scaled_dot_product_attention(q, k, eye, scale=factor)[0].numpy(), 1e-10)


@bounded
@given(st.data())
def test_softmax_is_torchs_along_every_axis(data):
    scores = data.draw(hnp.arrays(np.float64, axes, elements=numbers))
    axis = data.draw(st.integers(-scores.ndim, scores.ndim - 1))
    close(softmax(scores, axis), torch.softmax(torch.from_numpy(scores), axis).numpy())


@bounded
@given(st.data())
def test_scores_and_sums_are_loops_over_their_formulas(data):
    length, keys, d, d_v = (data.draw(st.integers(1, 5)) for _ in range(4))
    q, k = (data.draw(hnp.arrays(np.float64, (rows, d), elements=numbers)) for rows in (length, keys))
    v = data.draw(hnp.arrays(np.float64, (keys, d_v), elements=numbers))
    scores = dot_scores(q, k)
    for i in range(length):
        for j in range(keys):
            assert math.isclose(scores[i, j], math.fsum(q[i] * k[j]), abs_tol=1e-11)
    outputs = weighted_sum(scores, v)
    for i in range(length):
        for feature in range(d_v):
            assert math.isclose(outputs[i, feature], math.fsum(scores[i] * v[:, feature]), rel_tol=1e-12, abs_tol=1e-9)


# Properties


@bounded
@given(hnp.arrays(np.float64, axes, elements=numbers), st.floats(-1e4, 1e4))
def test_only_differences_of_scores_count(scores, shift):
    close(softmax(scores + shift), softmax(scores), 1e-10)  # the sum rounds at 1e4 · 1e-16


@bounded
@given(hnp.arrays(np.float64, axes, elements=st.one_of(numbers, st.just(-np.inf), st.sampled_from([1e4, -1e4]))))
def test_weights_are_positive_and_sum_to_one_or_to_zero_in_an_empty_row(scores):
    weights = softmax(scores)
    assert np.isfinite(weights).all() and (weights >= 0).all()
    close(weights.sum(axis=-1), 1.0 - np.isneginf(scores).all(axis=-1))
    assert (weights[np.isneginf(scores)] == 0).all()


@bounded
@given(st.data())
def test_outputs_stay_within_the_range_of_the_values(data):
    length, keys, d_v = (data.draw(st.integers(1, 5)) for _ in range(3))
    weights = softmax(data.draw(hnp.arrays(np.float64, (length, keys), elements=numbers)))
    values = data.draw(hnp.arrays(np.float64, (keys, d_v), elements=numbers))
    outputs = weighted_sum(weights, values)
    assert (outputs <= values.max(axis=0) + EXACT * 20).all()
    assert (outputs >= values.min(axis=0) - EXACT * 20).all()


@bounded
@given(st.permutations(range(6)))
def test_shuffled_tokens_give_the_same_outputs_shuffled(order):
    inputs, *matrices = layers(6, 4, 3, 5)
    outputs, weights = self_attention(inputs, *matrices, scale=True)
    shuffled, shuffled_weights = self_attention(inputs[order], *matrices, scale=True)
    close(shuffled, outputs[order])
    close(shuffled_weights, weights[order][:, order])


# Extremes


@pytest.mark.parametrize("sign", [1, -1])
def test_scores_of_ten_thousand_give_the_weights_of_their_differences(sign):
    row = sign * (np.array([10_000.0, 10_001.5, 10_000.25]))
    close(softmax([row.tolist(), [0.0, 0.0, 0.0]])[0], softmax(row - sign * 10_000))
    assert softmax([1e4, -1e4]).tolist() == [1, 0]
    assert softmax([[1e4, 1e4], [-1e4, -1e4]]).tolist() == [[0.5, 0.5], [0.5, 0.5]]


def test_an_empty_slice_gives_zeros_along_every_axis():
    empty = -np.inf
    assert softmax([empty, empty]).tolist() == [0, 0]
    assert softmax([[empty, empty], [empty, 1.0]]).tolist() == [[0, 0], [0, 1]]
    assert softmax([[empty, empty], [empty, 1.0]], axis=0).tolist() == [[0, 0], [0, 1]]
    assert softmax(np.full((2, 3, 4), empty), axis=1).tolist() == np.zeros((2, 3, 4)).tolist()
    assert weighted_sum(softmax([[empty, empty]]), [[1, 2, 3], [4, 5, 6]]).tolist() == [[0, 0, 0]]


@pytest.mark.parametrize("shape", [(0,), (2, 0), (0, 3), (2, 0, 3)])
def test_softmax_of_nothing_is_nothing(shape):
    for axis in range(-len(shape), len(shape)):
        assert softmax(np.zeros(shape), axis).shape == shape


def test_no_tokens_and_no_features_are_no_error():
    outputs, weights = self_attention(np.zeros((0, 4)), np.ones((4, 2)), np.ones((4, 2)), np.ones((4, 3)), scale=True)
    assert outputs.shape == (0, 3) and weights.shape == (0, 0)
    assert dot_scores([[], []], [[], [], []]).tolist() == [[0, 0, 0], [0, 0, 0]]
    assert weighted_sum(np.zeros((2, 0)), np.zeros((0, 3))).tolist() == [[0, 0, 0], [0, 0, 0]]


# What comes in and what comes out


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "int64", "uint8", "bool"])
def test_every_kind_of_number_is_computed_in_float64(dtype):
    matrices = [np.array(matrix).astype(dtype) for matrix in FIRST_HEAD]
    outputs, weights = self_attention(*matrices, scale=True)
    again = self_attention(*(matrix.astype(float) for matrix in matrices), scale=True)
    assert outputs.dtype == weights.dtype == np.float64
    close(outputs, again[0])
    scores = np.array([[1, 0, 1]]).astype(dtype)
    assert (
        softmax(scores).dtype == dot_scores(scores, scores).dtype == weighted_sum(scores.T, scores).dtype == np.float64
    )
    close(softmax(scores), [[math.e / (2 * math.e + 1), 1 / (2 * math.e + 1), math.e / (2 * math.e + 1)]])


def test_lists_tuples_and_arrays_give_the_same():
    expected, _ = self_attention(*FIRST_HEAD)
    tuples = [tuple(map(tuple, matrix)) for matrix in FIRST_HEAD]
    rows_of_arrays = [[np.array(row) for row in matrix] for matrix in FIRST_HEAD]
    mixed = [np.array(FIRST_HEAD[0]), FIRST_HEAD[1], tuples[2], rows_of_arrays[3]]
    for matrices in (tuples, rows_of_arrays, mixed, [np.array(matrix) for matrix in FIRST_HEAD]):
        assert self_attention(*matrices)[0].tolist() == expected.tolist()


def test_inputs_are_not_modified():
    scores = np.array([[2.0, 4.0, -np.inf], [-np.inf] * 3, [1e4, 0.0, 1.0]])
    before = scores.copy()
    for axis in (0, 1):
        assert softmax(scores, axis) is not scores
        np.testing.assert_array_equal(scores, before)
    matrices = layers(4, 5, 3, 2)
    copies = [matrix.copy() for matrix in matrices]
    self_attention(*matrices, scale=True)
    project(*matrices)
    dot_scores(matrices[1], matrices[2])
    weighted_sum(matrices[0], matrices[3])
    for matrix, copy in zip(matrices, copies, strict=True):
        np.testing.assert_array_equal(matrix, copy)
    listed = [[3, 1], [0, 2]]
    softmax(listed), dot_scores(listed, listed), weighted_sum(listed, listed)
    assert listed == [[3, 1], [0, 2]]


def test_a_result_shares_no_memory_with_what_came_in():
    empty = np.zeros((2, 0))
    assert not np.shares_memory(softmax(empty), empty)
    one = np.zeros((1, 1))
    assert not np.shares_memory(softmax(one), one)


# Errors: what was expected, what came, what to try


def zeros(*shape):
    return np.zeros(shape)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda: project(zeros(2, 4), zeros(3, 4), zeros(4, 3), zeros(4, 3)),
            "w_query must have one row per input feature, 4, got shape (3, 4); transpose it?",
        ),
        (
            lambda: project(zeros(2, 4), zeros(4, 3), zeros(5, 3), zeros(4, 3)),
            "w_key must have one row per input feature, 4, got shape (5, 3); transpose it?",
        ),
        (
            lambda: project([[1, 2]], [[1], [1]], [[1], [1]], [[1, 1]]),
            "w_value must have one row per input feature, 2, got shape (1, 2); transpose it?",
        ),
        (
            lambda: project(zeros(2, 4), zeros(4, 3), zeros(4, 2), zeros(4, 3)),
            "w_query and w_key must have the same number of columns, got shapes (4, 3) and (4, 2)",
        ),
        (lambda: project([1, 2], [[1]], [[1]], [[1]]), "inputs must be a matrix (rows, columns), got shape (2,)"),
        (lambda: project([[1, 2], [3]], [[1]], [[1]], [[1]]), "inputs must have rows of one length"),
        (
            lambda: dot_scores(zeros(3, 4), zeros(3, 5)),
            "queries and keys must have the same number of columns, got shapes (3, 4) and (3, 5); transpose one",
        ),
        (lambda: softmax(3.0), "scores must have at least one axis, got a single number; put it in a list?"),
        (lambda: dot_scores(zeros(3), zeros(2, 3)), "queries must be a matrix (rows, columns), got shape (3,)"),
        (lambda: softmax(zeros(2, 3), axis=2), "axis must lie between -2 and 1 for scores of shape (2, 3), got 2"),
        (lambda: softmax([1, 2], axis=-2), "axis must lie between -1 and 0 for scores of shape (2,), got -2"),
        (
            lambda: weighted_sum(zeros(3, 4), zeros(3, 4)),
            "weights must have one column per value, 3, got shape (3, 4); transpose it?",
        ),
        (lambda: weighted_sum(zeros(2, 3, 3), zeros(3, 4)), "weights must be a matrix (rows, columns), got shape"),
        (
            lambda: self_attention(zeros(2, 4), zeros(4, 3), zeros(4, 2), zeros(4, 3)),
            "w_query and w_key must have the same number of columns, got shapes (4, 3) and (4, 2)",
        ),
        (
            lambda: self_attention(zeros(2, 4), zeros(3, 3), zeros(3, 3), zeros(3, 3)),
            "w_query must have one row per input feature, 4, got shape (3, 3)",
        ),
    ],
)
def test_bad_shapes_are_refused_with_what_was_expected_and_what_came(call, text):
    with pytest.raises(ValueError) as raised:
        call()
    assert text in str(raised.value)


@pytest.mark.parametrize("wrong", [None, "scores", {"a": 1}, [["a", "b"], ["c", "d"]], [[None, 1.0]]])
def test_what_is_no_array_of_numbers_is_refused(wrong):
    for call in (lambda: dot_scores(wrong, [[1, 2]]), lambda: softmax(wrong), lambda: weighted_sum(wrong, [[1], [2]])):
        with pytest.raises(TypeError, match="must hold numbers, got"):
            call()


# The text around the code


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_each_docstring_names_every_argument_and_what_it_raises(function):
    text = inspect.getdoc(function)
    names = inspect.signature(function).parameters
    assert all(f"{name}:" in text or f"{name}," in text for name in names)
    assert "Returns" in text and "Raises ValueError" in text


def test_the_shapes_of_the_docstrings_are_those_that_come_out():
    length, d_in, d, d_v, keys = 5, 4, 3, 7, 6
    matrices = layers(length, d_in, d, d_v)
    assert [result.shape for result in project(*matrices)] == [(length, d), (length, d), (length, d_v)]
    assert dot_scores(zeros(length, d), zeros(keys, d)).shape == (length, keys)
    assert softmax(zeros(2, length, keys)).shape == (2, length, keys)
    assert weighted_sum(zeros(length, keys), zeros(keys, d_v)).shape == (length, d_v)
    assert [result.shape for result in self_attention(*matrices)] == [(length, d_v), (length, length)]


def test_the_module_offers_its_public_names_and_no_others():
    assert sorted(worked_example.__all__) == sorted(["EXAMPLE", *(function.__name__ for function in FUNCTIONS)])


def test_the_stub_imports_nothing_and_keeps_the_argument_checks():
    text = stubs.stub(REFERENCE / "worked_example.py")
    tree = ast.parse(text)
    assert not [node for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom))]
    names: dict = {}
    exec(compile(tree, "stub", "exec"), names)
    with pytest.raises(ValueError, match="transpose it"):
        names["weighted_sum"]([[1, 2]], [[1]])
    with pytest.raises(NotImplementedError, match=r"exercise 2\.4"):
        names["weighted_sum"]([[1, 2]], [[1], [1]])


def test_the_comparing_side_needs_neither_numpy_nor_torch():
    code = """
import sys
sys.modules["numpy"] = sys.modules["torch"] = None
from selfcheck.catalogue import exercises
from selfcheck.recorded import visible_keys
from selfcheck.verdict import judge
for exercise in exercises():
    if exercise.module == "worked_example":
        keys = visible_keys(exercise)
        assert judge(exercise, keys, [key.expected for key in keys]).passed
        for one in exercise.misconceptions:
            wrong = [key.misconceptions.get(one.id, key.expected) for key in keys]
            assert judge(exercise, keys, wrong).misconceptions == [one.id], one.id
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
