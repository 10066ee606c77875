"""Slips that are named of any exercise: rows, functions, factors, and results that are joined or too many."""

import numpy as np
import pytest

from selfcheck.arrays import array, pack, unpack
from selfcheck.generic import SLIPS, numbers_slip
from selfcheck.generic_functions import counted
from selfcheck.generic_rows import joined, nan_gradient

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
    "whole": (10 * DUE, np.round(10 * DUE + np.array([1.0, -2.0, 3.0]))),
}


def found(due, came):
    slip = numbers_slip({"args": [], "kwargs": {}}, unpack(pack(due)), unpack(pack(came)), 1e-5)
    return slip and slip.cause


@pytest.mark.parametrize("cause", WRONG)
def test_a_slip_is_named_where_it_is_true(cause):
    assert found(*WRONG[cause]) == cause
    assert f"generic.{cause}" in SLIPS


def test_other_numbers_are_no_slip():
    assert found(DUE, np.random.default_rng(1).normal(size=(4, 3))) is None


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
