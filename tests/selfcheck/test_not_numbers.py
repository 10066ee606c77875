"""An answer of the right form with a number that is none, NaN or infinite, passes no check of values."""

import base64

import pytest

from selfcheck.arrays import pack
from selfcheck.catalogue import exercises
from selfcheck.compare import compare
from selfcheck.diagnose import first_difference
from selfcheck.plan import Check
from selfcheck.recorded import visible_keys

BITS = {  # of one number, its lowest byte first
    "nan": {"float64": "000000000000f87f", "float32": "0000c07f", "float16": "007e", "bfloat16": "c07f"},
    "inf": {"float64": "000000000000f07f", "float32": "0000807f", "float16": "007c", "bfloat16": "807f"},
    "-inf": {"float64": "000000000000f0ff", "float32": "000080ff", "float16": "00fc", "bfloat16": "80ff"},
}
NAN, INF = float("nan"), float("inf")
PLACES = {"all": None, "the first": 0, "the last": -1}


def spoilt(tree, name, place):
    """A packed answer with all its floating numbers replaced, or with one in each of its arrays."""
    if tree["kind"] in ("tuple", "items"):
        return tree | {"items": [spoilt(item, name, place) for item in tree["items"]]}
    if tree["kind"] == "number" and tree["type"] == "float":
        return tree | {"value": name}
    if tree.get("dtype") not in BITS[name]:
        return tree
    one, data = bytes.fromhex(BITS[name][tree["dtype"]]), base64.b64decode(tree["data"])
    numbers = [data[start : start + len(one)] for start in range(0, len(data), len(one))]
    for position in range(len(numbers))[slice(None) if place is None else slice(place, place + 1 or None)]:
        numbers[position] = one
    return tree | {"data": base64.b64encode(b"".join(numbers)).decode()}


BLIND = Check("masks.causal_mask", "blind", "", lambda rng: [], view=lambda one, answer: 0)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", BITS)
def test_no_number_passes_for_none_that_is_due(name, place):
    passed, tried = [], 0
    for exercise in exercises():
        for key in visible_keys(exercise):
            if "values" not in key.check.compares or any("error" in one for one in key.expected):
                continue
            got = [one | {"value": spoilt(one["value"], name, PLACES[place])} for one in key.expected]
            if got == key.expected:  # booleans and whole numbers, or an infinity that is due
                continue
            tried += 1
            if first_difference(key, key.expected, got) is None:
                passed.append(key.check.name)
    assert tried > 200 and not passed


def answer(values):
    return {"value": pack(values)}


@pytest.mark.parametrize(
    ("expected", "got", "text"),
    [
        ([1.0, 2.0], [1.0, NAN], "NaN at [1]; 1 of 2 entries are no finite numbers"),
        (([1.0], [2.0]), ([1.0], [-INF]), "an infinity at [0] in result 2 of 2; 1 of 1 entries are no finite numbers"),
        ([1.0, 2.0], [[1.0], [INF]], "NaN or an infinity is among the numbers"),
        ([1.0, -INF], [NAN, -INF], "NaN at [0]; 1 of 2 entries are no finite numbers"),
    ],
)
def test_whatever_a_view_sees_a_number_that_is_none_is_named(expected, got, text):
    assert compare(BLIND, {}, answer(expected), answer(got)).text == text


@pytest.mark.parametrize(
    ("expected", "got"),
    [
        ([1.0, -INF], [1.0, -1e30]),  # to hide with a large number is right where the view says so
        ([1.0, -INF], [2.0, NAN]),  # what stands for the infinity is the view's affair
        ([NAN], [1.0]),
        ([1.0, -INF], [[NAN]]),
    ],
)
def test_where_the_expected_number_is_not_finite_a_view_decides_alone(expected, got):
    assert compare(BLIND, {}, answer(expected), answer(got)) is None


def shut(one, answer):
    raise TypeError("of a form that this view does not read")


@pytest.mark.parametrize(("came", "same"), [([1.0, 2.0 + 1e-9], True), ([1.0, 2.1], False), (([1.0], [2.0]), False)])
def test_an_expected_answer_that_the_view_does_not_read_is_compared_as_it_is(came, same):
    """Misconceptions return such answers: their last bits differ from one processor to the next."""
    check = Check("masks.causal_mask", "shut", "", lambda rng: [], view=shut)
    assert (compare(check, {}, answer([1.0, 2.0]), answer(came)) is None) == same
