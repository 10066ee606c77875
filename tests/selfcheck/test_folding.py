"""The misconceptions' answers in a file of recorded answers are short, and the same when they are asked for."""

import math

import pytest

from selfcheck.arrays import array, pack, unpack
from selfcheck.recorded.folding import Folded, folded, unfolded
from selfcheck.trees import close

NUMBERS = [0.1, -1 / 3, 0.0, 1e30, -2e-9, math.inf, -math.inf, math.nan]


def answers(numbers, dtype="float64"):
    return {"wrong": [{"value": pack(array(numbers, "tensor", dtype)), "changed": ["0"]}]}


def numbers_in(table):
    return unpack(table["wrong"][0]["value"]).values()


def test_numbers_come_back_within_a_hundredth_of_the_tolerance():
    table = unfolded(folded(answers(NUMBERS), 1e-5))
    assert table["wrong"][0]["value"]["dtype"] == "float64" and table["wrong"][0]["changed"] == ["0"]
    assert all(close(a, b, 1e-7) for a, b in zip(NUMBERS, numbers_in(table), strict=True))


@pytest.mark.parametrize("number", [1e300, 1e-300, 0.1])
def test_a_number_that_float32_would_change_stays_as_it_is(number):
    tolerance = 1e-5 if number != 0.1 else 1e-9
    assert numbers_in(unfolded(folded(answers([1.0, number]), tolerance))) == [1.0, number]


@pytest.mark.parametrize("dtype", ["float32", "float16", "int64", "bool"])
def test_other_dtypes_stay_as_they_are(dtype):
    before = answers([True, False], dtype)
    assert unfolded(folded(before, 1e-5)) == before


def test_answers_without_numbers_stay_as_they_are():
    before = {"a": [{"error": {"type": "ValueError", "text": "data"}}], "b": [{"value": {"kind": "none"}}], "c": []}
    assert unfolded(folded(before, 1e-5)) == before


def test_they_are_unfolded_when_they_are_asked_for():
    lazy = Folded("no such text")  # nothing happens until then
    with pytest.raises(ValueError):
        len(lazy)
    lazy = Folded(folded(answers([1.0]), 1e-5))
    assert list(lazy) == ["wrong"] and len(lazy) == 1 and "right" not in lazy and numbers_in(lazy) == [1.0]
