"""Properties of the layer that chapter 2 and its deeper pages claim, on arrays whose sizes all differ."""

import math
from itertools import permutations

import numpy as np
import pytest

from attention.worked_example import dot_scores, project, self_attention, softmax, weighted_sum
from studies import worked_example

from .chapter2 import BOOK, FIRST, SECOND, plain_attention, plain_softmax, product, transposed

PAGES = ("other-sizes-and-orders", "softmax-in-floating-point", "testing-attention")
pytestmark = pytest.mark.proof(
    depends=["book/chapters/02-worked-example.md", *(f"book/deeper/{page}.md" for page in PAGES)]
)


@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("example", [FIRST, SECOND], ids=["running", "second"])
def test_every_intermediate_agrees_with_plain_python(example, scale):
    scores, weights, outputs = plain_attention(example, scale)
    queries, keys, _ = project(*example)
    np.testing.assert_allclose(dot_scores(queries, keys), scores, rtol=1e-12)
    got_outputs, got_weights = self_attention(*example, scale=scale)
    np.testing.assert_allclose(got_weights, weights, rtol=1e-12)
    np.testing.assert_allclose(got_outputs, outputs, rtol=1e-12)


def test_the_cube_of_weighted_values_sums_to_the_matrix_product():
    rng = np.random.default_rng(1)
    weights, values = rng.random((4, 6)), rng.random((6, 5))
    cube = weights[:, :, None] * values[None]  # (query, key, feature)
    assert cube.shape == (4, 6, 5)
    np.testing.assert_allclose(weighted_sum(weights, values), cube.sum(axis=1), rtol=1e-12)
    key_first = values[:, None] * weights.T[:, :, None]  # the layout of the tutorial: (key, query, feature)
    np.testing.assert_allclose(key_first.sum(axis=0), cube.sum(axis=1), rtol=1e-12)


def test_softmax_depends_on_differences_alone_and_survives_ten_thousand():
    row = np.array([2.0, 4.0, 4.0])
    for shift in (-1e4, -1000, 0, 1000, 1e4):
        np.testing.assert_allclose(softmax(row + shift), plain_softmax(row), rtol=1e-9)


@pytest.mark.full
def test_the_plain_formula_overflows_and_underflows_where_the_page_says():
    with np.errstate(over="ignore", invalid="ignore"):
        for shift in (1000, -1000):
            exponentials = np.exp(np.array([2.0, 4.0, 4.0]) + shift)
            assert np.isnan(exponentials / exponentials.sum()).all()
        for dtype, limit in ((np.float16, 11.09), (np.float32, 88.72), (np.float64, 709.78)):
            assert np.isfinite(np.exp(dtype(limit - 0.02)))
            assert np.isinf(np.exp(dtype(limit + 0.02)))


def test_one_maximum_for_the_whole_matrix_is_not_enough():
    scores = np.array([[1000.0, 999.0], [1.0, 0.0]])
    with np.errstate(invalid="ignore"):
        exponentials = np.exp(scores - scores.max())
        one_maximum = exponentials / exponentials.sum(axis=-1, keepdims=True)
    assert np.isnan(one_maximum[1]).all()
    np.testing.assert_allclose(softmax(scores), [plain_softmax([1, 0]), plain_softmax([1, 0])])


def test_minus_infinity_takes_no_weight_and_a_fully_masked_row_gives_zeros():
    weights = softmax([[2, 4, -math.inf], [-math.inf] * 3])
    np.testing.assert_allclose(weights[0], [*plain_softmax([2, 4]), 0])
    assert weights[1].tolist() == [0, 0, 0]


def test_the_wrong_axis_gives_the_right_weights_transposed_on_symmetric_scores_only():
    symmetric = np.array(plain_attention(FIRST, False)[0], dtype=float)
    np.testing.assert_allclose(softmax(symmetric, axis=0), softmax(symmetric, axis=-1).T)
    sums = softmax(symmetric, axis=0).sum(axis=1)
    assert sums.round(2).tolist() == [0.06, 2.33, 0.61]
    other = np.array(plain_attention(SECOND, False)[0], dtype=float)
    assert not np.allclose(softmax(other, axis=0), softmax(other, axis=-1).T)


def test_the_wrong_axis_leaves_the_range_of_the_values():
    scores, _, _ = plain_attention(FIRST, True)
    values = np.array(product(FIRST[0], FIRST[3]))
    outputs = softmax(np.array(scores) / math.sqrt(3), axis=0) @ values
    assert outputs[1].round(2).tolist() == [3.76, 12.66, 3.56]
    assert (outputs[1] > values.max(axis=0)).all()


def test_outputs_lie_within_the_range_of_the_values():
    rng = np.random.default_rng(2)
    values = rng.normal(size=(6, 5))
    outputs = weighted_sum(softmax(3 * rng.normal(size=(4, 6))), values)
    assert (outputs <= values.max(axis=0)).all() and (outputs >= values.min(axis=0)).all()


def test_the_scale_keeps_the_order_and_softens_every_row_of_the_example():
    _, unscaled, _ = plain_attention(FIRST, False)
    _, scaled, _ = plain_attention(FIRST, True)

    def entropy(row):
        return -sum(w * math.log2(w) for w in row)

    for sharp, soft in zip(unscaled, scaled, strict=True):
        assert np.argsort(sharp, kind="stable").tolist() == np.argsort(soft, kind="stable").tolist()
        assert entropy(soft) > entropy(sharp)


def test_with_two_words_the_weight_is_a_logistic_function_of_the_difference():
    _, weights, _ = plain_attention((FIRST[0][:2], *FIRST[1:]), True)
    for (first, second), row in zip([[2, 4], [4, 16]], weights, strict=True):
        assert math.isclose(row[0], 1 / (1 + math.exp(-(first - second) / math.sqrt(3))), rel_tol=1e-12)
    assert [round(w, 4) for w in plain_softmax([112 / 8, 96 / 8])] == [0.8808, 0.1192]
    assert [round(w, 4) for w in plain_softmax([2, 4])] == [0.1192, 0.8808]
    assert 1 - plain_softmax([112, 96])[0] < 2e-7


def test_five_words_of_512_features_give_5_by_5_weights_and_5_by_512_outputs():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(5, 512))
    matrices = [rng.normal(size=(512, 512)) / math.sqrt(512) for _ in range(3)]
    queries, keys, values = project(x, *matrices)
    outputs, weights = self_attention(x, *matrices, scale=True)
    assert queries.shape == keys.shape == values.shape == outputs.shape == (5, 512)
    assert dot_scores(queries, keys).shape == weights.shape == (5, 5)
    narrow = self_attention(x, matrices[0][:, :64], matrices[1][:, :64], matrices[2][:, :32], scale=True)
    assert [array.shape for array in narrow] == [(5, 32), (5, 5)]


@pytest.mark.full
def test_projections_and_mixing_take_equal_work_at_one_and_a_half_times_the_width():
    def projections(length, width):
        return 3 * length * width**2

    def mixing(length, width):
        return 2 * length**2 * width

    assert projections(768, 512) == mixing(768, 512)
    assert mixing(5, 512) / (projections(5, 512) + mixing(5, 512)) < 0.01


def test_self_attention_is_permutation_equivariant_and_the_controls_are_not():
    x, *matrices = (np.array(part, dtype=float) for part in FIRST)

    def attention(rows):
        return self_attention(rows, *matrices, scale=True)[0]

    def with_row_number(rows):
        return attention(rows + np.arange(len(rows))[:, None])

    def running_mean(rows):
        return np.cumsum(rows @ matrices[2], axis=0) / np.arange(1, len(rows) + 1)[:, None]

    def largest_gap(layer):
        orders = [list(order) for order in permutations(range(3))]
        return max(np.abs(layer(x[order]) - layer(x)[order]).max() for order in orders)

    assert largest_gap(attention) < 1e-13
    assert largest_gap(with_row_number) > 1
    assert largest_gap(running_mean) > 1


def test_the_scores_are_symmetric_by_accident():
    middle = np.array(product(FIRST[1], transposed(FIRST[2])))
    assert not (middle == middle.T).all()
    x = np.array(FIRST[0])
    assert (x @ (middle - middle.T) @ x.T == 0).all()


def faulty_outputs(example):
    """The outputs of each of the page's faults, in plain NumPy."""
    inputs, w_query, w_key, w_value = (np.array(part, dtype=float) for part in example)
    q, k, v = inputs @ w_query, inputs @ w_key, inputs @ w_value

    def mix(scores, axis=-1):
        exponentials = np.exp(scores)
        return exponentials / exponentials.sum(axis=axis, keepdims=True) @ v

    return {
        "swapped": mix(k @ q.T / math.sqrt(k.shape[1])),
        "number of keys": mix(q @ k.T / math.sqrt(len(k))),
        "value width": mix(q @ k.T / math.sqrt(v.shape[1])),
        "input width": mix(q @ k.T / math.sqrt(inputs.shape[1])),
        "no scale": mix(q @ k.T),
        "axis": mix(q @ k.T / math.sqrt(k.shape[1]), axis=0),
        "reshaped": mix(q @ k.reshape(k.shape[::-1]) / math.sqrt(k.shape[1])),
    }


def test_three_faults_pass_on_the_running_example_and_none_on_the_second():
    def hidden(example):
        right = plain_attention(example, True)[2]
        return {name for name, wrong in faulty_outputs(example).items() if np.allclose(wrong, right)}

    assert hidden(FIRST) == {"swapped", "number of keys", "value width"}
    assert hidden(SECOND) == set()


def test_the_scores_of_a_sentence_change_when_a_batch_is_flattened():
    other = [[0, 1, 1, 0], [1, 0, 0, 1], [0, 0, 1, 1]]
    alone = plain_attention(FIRST, True)[2]
    _, weights, flat = plain_attention((FIRST[0] + other, *FIRST[1:]), True)
    assert not np.allclose(flat[:3], alone)
    assert all(sum(row[:3]) > 0.5 for row in weights[3:])  # sentence b listens mostly to sentence a


def test_large_scores_make_one_weight_large_and_the_sum_stays_one():
    for factor in (1, 3, 10):
        row = softmax(factor * np.array([1.0, 2.0, 2.5]))
        assert math.isclose(row.sum(), 1)
    assert row.max() > 0.99


def test_without_projections_scores_are_symmetric_and_lean_to_the_diagonal():
    x = np.random.default_rng(4).normal(size=(6, 5))
    scores = dot_scores(x, x)
    np.testing.assert_allclose(scores, scores.T)
    unit = x / np.linalg.norm(x, axis=1, keepdims=True)  # tokens of one length
    assert (dot_scores(unit, unit).argmax(axis=1) == np.arange(6)).all()


def test_the_study_s_faults_are_those_seven_and_its_examples_these_two():
    for example, plain in ((worked_example.FIRST, FIRST), (worked_example.SECOND, SECOND)):
        assert [np.asarray(part).tolist() for part in example] == [list(map(list, part)) for part in plain]
        off = [worked_example.off_by(fault, example) for fault in worked_example.FAULTS]
        right = np.array(plain_attention(plain, True)[2])
        by_hand = sorted(np.abs(wrong - right).max() for wrong in faulty_outputs(plain).values())
        assert sorted(off) == pytest.approx(by_hand, abs=1e-8)
    assert min(off) > 0.1  # "each of the seven faults moves an output by at least a tenth"


def test_the_table_of_work_is_worked_right():
    page = (BOOK / "deeper" / "other-sizes-and-orders.md").read_text(encoding="utf-8")
    for length in (5, 64, 768, 1024):
        projections, mixing = 3 * length * 512**2, 2 * length**2 * 512
        share = 100 * mixing / (projections + mixing)
        assert f"| {length} | {projections:,} | {mixing:,} | {share:.1f} % |" in page
