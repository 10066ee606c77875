"""Slips that are named of any exercise: rows, functions, factors, and results that are joined or too many."""

import numpy as np
import pytest

from selfcheck.arrays import array, pack, unpack
from selfcheck.compare import Difference
from selfcheck.diagnose import Key
from selfcheck.generic import named_in_general, numbers_slip
from selfcheck.generic_functions import counted
from selfcheck.generic_rows import joined, nan_gradient
from selfcheck.generic_slips import SLIPS
from selfcheck.plan import Check
from selfcheck.shapes import shape_advice, shape_slip

DUE = np.random.default_rng(0).normal(size=(4, 3))
SHARES = np.exp(DUE) / np.exp(DUE).sum(axis=-1, keepdims=True)
FIRST_ROW = DUE * (np.arange(4) == 0)[:, None]
WRONG = {
    "largest_alone": (SHARES, np.eye(3)[SHARES.argmax(axis=-1)]),
    "added_up": (DUE, DUE.cumsum(axis=0)),
    "rest_zero": (DUE, FIRST_ROW),
    "rearranged": (DUE, DUE.T.reshape(4, 3)),
    "function": (SHARES, np.log(SHARES)),
    "line_factor": (DUE, DUE / np.linalg.norm(DUE, axis=1, keepdims=True)),
    "line_offset": (DUE, DUE - DUE.mean(axis=1, keepdims=True)),
    "reduced": (DUE, DUE.mean(axis=0)),
    "nan_where_negative": (DUE, np.where(DUE < 0, np.nan, np.sqrt(abs(DUE)))),
    "whole": (10 * DUE, np.round(10 * DUE + np.array([1.0, -2.0, 3.0]))),
}


@pytest.mark.parametrize("view", [None, lambda step, answer: array([round(sum(answer.values()))])])
def test_whole_numbers_are_no_slip_where_a_view_is_compared(view):
    due, came = WRONG["whole"]
    check = Check("toy.one", "one", "x", lambda rng: None, compares=("values",), view=view)
    answers = [{"value": pack(due)}], [{"value": pack(came)}]
    key = Key(check, [{"args": [], "kwargs": {}}], answers[0], {})
    told = named_in_general(key, answers[1], 0, Difference("values", "the values differ"))
    assert told.cause == ("" if view else "generic.whole")


def found(due, came):
    slip = numbers_slip({"args": [], "kwargs": {}}, unpack(pack(due)), unpack(pack(came)), 1e-5)
    return slip and slip.cause


@pytest.mark.parametrize("cause", WRONG)
def test_a_slip_is_named_where_it_is_true(cause):
    assert found(*WRONG[cause]) == cause
    assert f"generic.{cause}" in SLIPS


def test_other_numbers_are_no_slip():
    assert found(DUE, np.random.default_rng(1).normal(size=(4, 3))) is None


def test_a_first_row_of_its_own_is_no_return_inside_a_loop():
    assert found(DUE, 2 * FIRST_ROW) != "rest_zero"


def test_a_factor_is_explained_by_the_norm_of_an_argument_or_by_the_answer_itself():
    given = {"args": [pack(DUE)], "kwargs": {}}
    for came, says in (
        (SHARES / np.linalg.norm(DUE), "divided by the norm of argument 1"),
        (SHARES / SHARES.std(ddof=1), "the standard deviation of your whole answer is 1"),
        (SHARES / SHARES.max(), "the largest absolute value of your whole answer is 1"),
    ):
        slip = numbers_slip(given, unpack(pack(SHARES)), unpack(pack(came)), 1e-5)
        assert slip.cause == "factor" and says in slip.text


def test_one_entry_of_each_line_is_no_factor_of_it():
    due = np.diag([1.0, 2.0, 3.0])
    assert found(due, np.diag([2.0, 5.0, 4.0])) != "line_factor"


def test_a_line_whose_entries_are_all_alike_shows_no_factor():
    assert found(np.tile([1.0, 2.0], (5, 1)), np.tile([2.0, 7.0], (5, 1))) is None


def test_right_shares_in_other_rows_are_rearranged_even_where_scores_are_multiples_of_each_other():
    shares = np.exp(np.outer([1.0, 2.0, 3.0, 4.0], [0.1, 0.5, -0.4]))
    shares /= shares.sum(axis=1, keepdims=True)
    due, came = ([pack(x), pack(x @ DUE[:3, :2])] for x in (shares, shares[[1, 0, 3, 2]]))
    slip = numbers_slip({"args": [], "kwargs": {}}, *(tuple(map(unpack, both)) for both in (due, came)), 1e-5)
    assert slip.cause == "rearranged"


def test_one_number_for_an_array_is_told_by_its_shape():
    assert shape_slip((4, 3), ()) == "generic.one_number" == shape_slip((4,), ())
    assert shape_slip((1,), ()) == "generic.axis_of_one"


def test_axes_of_length_one_are_told_as_missing_or_too_many():
    for want, part, says in (
        ((1, 1), (), "squeeze() without dim"),
        ((2, 1, 1), (2,), "all of them are missing"),
        ((2, 1), (2,), "1 missing"),
        ((2, 3), (2, 3, 1), "1 too many"),
        ((2, 1, 3), (2, 3, 1), "another order"),
        ((1, 2, 2, 1), (2, 1, 2), "1 missing"),
    ):
        assert says in shape_advice(want, part)


def test_rows_that_are_all_nan_are_not_called_equal():
    assert found(DUE, np.full((4, 3), np.nan)) != "equal_rows"


def test_the_same_number_along_an_axis_is_no_mean():
    assert found(np.repeat(DUE[None], 2, axis=0), DUE) != "reduced"


def test_right_parts_in_another_order_are_named_by_their_order():
    slip = numbers_slip({"args": [], "kwargs": {}}, unpack(pack(DUE)), unpack(pack(DUE[[0, 3, 2, 1]])), 1e-5)
    assert slip.cause == "rearranged" and "axis 0 (length 4, the rows)" in slip.text and "order 0, 3, 2, 1" in slip.text


def test_results_side_by_side_and_results_too_many_are_told_apart():
    first, second = (array(one.tolist(), "ndarray") for one in (DUE, SHARES))
    together = array(np.hstack([DUE, SHARES]).tolist(), "ndarray")
    assert joined((first, second), together, 1e-5).cause == "joined"
    assert joined((second, first), together, 1e-5) is None
    assert "1 more" in counted((first, second), (first, second, first), 1e-5).text
    assert "missing" in counted((first, second, first), (first, second), 1e-5).text
    assert counted((first, second, first), (second, first), 1e-5) is None


def test_a_gradient_of_nan_is_named_where_the_numbers_are_finite():
    def answer(value, gradient):
        return {"value": pack(np.array(value)), "gradients": {"0": pack(np.array(gradient))}}

    expected = answer([1.0, 2.0], [3.0, 4.0])
    assert nan_gradient(expected, answer([1.0, 2.0], [np.nan, 4.0])).cause == "nan_gradient"
    assert nan_gradient(expected, answer([1.0, np.nan], [np.nan, 4.0])) is None
    assert nan_gradient(expected, answer([1.0, 2.0], [3.0, 5.0])) is None
