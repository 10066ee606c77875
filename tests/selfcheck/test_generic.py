"""Slips of any code: what is said is true of the answer, and nothing is said of an answer that is merely wrong."""

import math
import random

import pytest

from selfcheck.arrays import Array, array, nest, pack
from selfcheck.catalogue import exercises
from selfcheck.compare import compare
from selfcheck.diagnose import Key
from selfcheck.generic import named_in_general, numbers_slip
from selfcheck.generic_sizes import another_size, merged_axes, taken_for_one
from selfcheck.generic_slips import SLIPS
from selfcheck.plan import Check, built, call, tensor
from selfcheck.show import exercise_text
from selfcheck.verdict import judge

RNG = random.Random(5)
GRID = [[round(RNG.gauss(0, 1), 2) for _ in range(5)] for _ in range(4)]
BATCH = [[[round(RNG.gauss(0, 1), 2) for _ in range(5)] for _ in range(4)] for _ in range(3)]
SHARES = [[abs(one) / 4 + 0.0123 for one in row] for row in GRID]
SQUARE = [row[:4] for row in GRID]
WEIGHTS = [[0.2, 0.3, 0.5], [0.0, 0.0, 0.0], [0.6, 0.1, 0.3], [0.1, 0.1, 0.8]]
LOWER = [[j <= i for j in range(4)] for i in range(4)]
STEP = call(query=tensor(BATCH)).packed()
LARGE = call(tensor([[1000.0, 0.0, -1000.0]])).packed()


def changed(values, where, to):
    """Nested lists with other parts at some places of the first axis."""
    return [to(at, part) if at in where else part for at, part in enumerate(values)]


def mapped(function, values):
    return [mapped(function, one) for one in values] if isinstance(values, list) else function(values)


def additive(mask):
    return mapped(lambda one: 0.0 if one else -math.inf, mask)


def turned(values):
    return [list(column) for column in zip(*values, strict=True)]


def other(at, part):
    return mapped(lambda one: one * 1.7 + 0.3 + at, part)


@pytest.mark.parametrize(
    ("due", "given", "cause", "says"),
    [
        (GRID, turned(GRID), "transposed", "axes 0 and 1, which have changed places"),
        (GRID, mapped(lambda one: max(one, 0.0), GRID), "clipped", "negative numbers, which have become 0"),
        (SQUARE, turned(SQUARE), "transposed", "axes 0 and 1"),
        (LOWER, turned(LOWER), "transposed", "axes 0 and 1"),
        (GRID, GRID[::-1], "reversed", "Along axis 0 (length 4, the rows) your answer stands in reverse order"),
        (GRID, [row[::-1] for row in GRID], "reversed", "axis 1 (length 5, the columns)"),
        (GRID, [GRID[-1], *GRID[:-1]], "shifted", "one position too late"),
        (GRID, [*GRID[1:], GRID[0]], "shifted", "one position too early"),
        (LOWER, [[j < i for j in range(4)] for i in range(4)], "shifted", "one position too late"),
        (GRID, GRID[1:], "first_missing", "The first along axis 0 is missing"),
        (GRID, GRID[:-1], "last_missing", "The last along axis 0 is missing"),
        (GRID, [row[:-1] for row in GRID], "last_missing", "The last along axis 1 is missing"),
        (GRID, [GRID[-1]] * 4, "equal_rows", "the one due in the last: do they share one list"),
        (BATCH, changed(BATCH, {1, 2}, other), "first_alone", "Along axis 0 (length 3) only the first part"),
        (BATCH, changed(BATCH, {0, 1}, other), "one_alone", "only number 2 (counted from 0) is right"),
        (GRID, changed(GRID, {3}, other), "last_wrong", "everything is right but the last"),
        (GRID, changed(GRID, {0}, other), "first_wrong", "everything is right but the first"),
        (GRID, mapped(lambda one: one * math.sqrt(5), GRID), "factor", "which is √5, and 5 is the length of the last"),
        (
            GRID,
            mapped(lambda one: one / 5, GRID),
            "factor",
            "which is 1/5, and 5 is the length of the last axis of query",
        ),
        (GRID, mapped(lambda one: one * 1.25, GRID), "factor", "times 1.25"),
        (GRID, mapped(lambda one: -one, GRID), "sign", "opposite sign"),
        (GRID, mapped(lambda one: one + 2, GRID), "offset", "plus 2"),
        (LOWER, mapped(lambda one: not one, LOWER), "inverted", "True and False have changed places"),
        (additive(LOWER), additive(mapped(lambda one: not one, LOWER)), "inverted", "0 and minus infinity"),
        (mapped(lambda one: 3 * one, GRID), mapped(lambda one: math.trunc(3 * one), GRID), "truncated", "a whole one"),
        (GRID, mapped(lambda one: round(one, 1), GRID), "rounded", "rounded to 1 decimals"),
        (SHARES, mapped(lambda one: round(one, 2), SHARES), "rounded", "rounded to 2 decimals"),
        (GRID, [GRID[0], *mapped(lambda one: one * (1 + 4e-4 * math.sin(9 * one)), GRID[1:])], "imprecise", "agree"),
        (GRID, mapped(lambda one: one * (1 + 4e-4 * math.sin(9 * one)), GRID), "imprecise", "agree"),
        (WEIGHTS, changed(WEIGHTS, {1}, lambda at, row: [math.nan] * 3), "masked_nan", "these are NaN"),
        (WEIGHTS, changed(WEIGHTS, {1}, lambda at, row: [1 / 3] * 3), "masked_uniform", "every weight is 1/3"),
        (
            GRID,
            [[one if (i + j) % 4 else 0.0 for j, one in enumerate(row)] for i, row in enumerate(GRID)],
            "zeros",
            "zero",
        ),
    ],
)
def test_a_slip_is_named_in_a_sentence_that_is_true_of_it(due, given, cause, says):
    found = numbers_slip(STEP, array(due, "tensor"), array(given, "tensor"), 1e-5)
    assert found and (found.cause, says in found.text) == (cause, True), found
    assert f"generic.{cause}" in SLIPS


def test_dropout_is_named_by_its_share():
    step = call(tensor(GRID), dropout_p=0.2).packed()
    given = [[one / 0.8 if (i + j) % 4 else 0.0 for j, one in enumerate(row)] for i, row in enumerate(GRID)]
    found = numbers_slip(step, array(GRID), array(given), 1e-5)
    assert found.cause == "dropped" and "divided by 1 - 0.2, as dropout leaves them" in found.text
    assert numbers_slip(STEP, array(GRID), array(given), 1e-5) is None  # no share of this call explains the factor
    given = mapped(lambda one: one * 0.8 / 0.9, given)
    assert numbers_slip(STEP, array(GRID), array(given), 1e-5).cause == "dropped"  # a tenth is written into much code


def test_an_exponential_that_overflows_is_named_by_the_input():
    due, given = array([[1.0, 0.0, 0.0]], "tensor"), array([[math.nan] * 3], "tensor")
    found = numbers_slip(LARGE, due, given, 1e-5)
    assert found.cause == "overflow" and "the input reaches 1000" in found.text and "maximum" not in found.text
    assert numbers_slip(STEP, due, given, 1e-5) is None


def test_a_nan_of_the_input_and_an_infinity_are_no_exponentials():
    due, nan, infinity = (array([numbers], "tensor") for numbers in ([1.0, 0.0], [math.nan] * 2, [math.inf] * 2))
    found = numbers_slip(call(tensor([[1e9, math.nan]])).packed(), due, nan, 1e-5)
    assert found.cause == "nan_given" and "a NaN of the input reaches it" in found.text
    assert numbers_slip(LARGE, due, infinity, 1e-5) is None
    half = call(tensor([[1800.0, 1700.0]], "float16"))
    assert numbers_slip(half.packed(), due, infinity, 1e-5).cause == "half_sum"


@pytest.mark.parametrize("shape", [(4, 5), (3, 4, 5), (2, 3, 4, 4), (6,), (5, 5)])
@pytest.mark.parametrize("kind", ["numbers", "weights", "mask", "counts"])
def test_of_answers_that_are_merely_wrong_nothing_is_said(shape, kind):
    rng = random.Random(str(shape))

    def draw(_=None):
        if kind == "mask":
            return rng.random() < 0.5
        if kind == "counts":
            return rng.randrange(4)
        return rng.random() if kind == "weights" else rng.gauss(0, 1)

    size = math.prod(shape)
    for _ in range(300):
        due, given = (array(nest([draw() for _ in range(size)], shape), "tensor") for _ in range(2))
        found = numbers_slip(STEP, due, given, 1e-5)
        assert found is None, (found, due.nested(), given.nested())


def test_a_wrong_entry_here_and_there_has_no_name():
    rng = random.Random(3)
    for _ in range(200):
        given = [list(row) for row in GRID]
        for _ in range(rng.randrange(2, 9)):
            given[rng.randrange(4)][rng.randrange(5)] += rng.choice([-1, 1]) * (0.4 + rng.random())
        found = numbers_slip(STEP, array(GRID), array(given), 1e-5)
        # One part alone may be right, or wrong, by chance: then that is so.
        assert found is None or found.cause in ("first_alone", "one_alone", "last_wrong", "first_wrong"), found
        if found:
            right = [a == b for a, b in zip(GRID, given, strict=True)]
            columns = [a == b for a, b in zip(turned(GRID), turned(given), strict=True)]
            alone = 1 if found.cause.endswith("alone") else -1
            assert any(sum(of) == (1 if alone == 1 else len(of) - 1) for of in (right, columns)), found


@pytest.mark.parametrize("order", [[1, 0, 2], [2, 1, 0], [1, 2, 0]])
def test_right_results_in_another_order_are_told_in_that_order(order):
    """As gradients that come back as key, query, value; the length of an axis is not what is wrong then."""
    for due in ([GRID, turned(GRID), SQUARE], [GRID, GRID[::-1], mapped(abs, GRID)]):
        came = [due[place] for place in order]
        slip = numbers_slip(STEP, tuple(map(array, due)), tuple(map(array, came)), 1e-6)
        assert slip.cause == "exchanged" and slip.text.endswith(", ".join(str(place + 1) for place in order))


def test_few_numbers_that_are_the_same_by_chance_are_no_other_order():
    slip = numbers_slip(STEP, (array([1.0, 2.0]), array([2.0, 1.0])), (array([2.0, 1.0]), array([1.0, 2.0])), 1e-6)
    assert slip is None or slip.cause != "exchanged"


def test_a_right_answer_has_no_slip():
    for value in (GRID, LOWER, BATCH, WEIGHTS):
        assert numbers_slip(STEP, array(value), array(value), 1e-5) is None


EXERCISE = next(one for one in exercises() if one.id == "masks.causal_mask")


def key_of(due, reveal=True):
    check = Check(EXERCISE.id, next(iter(EXERCISE.points)), "x", lambda rng: None)
    value = {"value": pack(due if isinstance(due, Array) else array(due, "tensor")), "changed": []}
    return Key(check, [STEP], [value], {}, reveal)


def answer_of(given):
    return [{"value": pack(array(given, "tensor")), "changed": []}]


def test_a_verdict_names_the_slip_and_keeps_the_first_difference():
    (result,) = judge(EXERCISE, [key_of(GRID)], [answer_of(turned(GRID))]).checks
    assert result.misconception == "generic.transposed" and result.kind == "shape"
    assert "In detail: expected shape (4, 5), got (5, 4)" in result.message
    assert EXERCISE.message_of("generic.transposed").section == result.section == "sec-slips-axes"
    (result,) = judge(EXERCISE, [key_of(GRID)], [answer_of(mapped(lambda one: one + 2, GRID))]).checks
    assert (result.misconception, result.section) == ("generic.offset", EXERCISE.section)


def test_a_slip_that_several_checks_show_is_told_once():
    names = list(EXERCISE.points)[:2]
    keys = [Key(Check(EXERCISE.id, name, "x", lambda rng: None), [STEP], key_of(GRID).expected, {}) for name in names]
    text = exercise_text(judge(EXERCISE, keys, [answer_of(turned(GRID)), answer_of(GRID[::-1])]))
    assert text.count("In detail:") == 2
    text = exercise_text(judge(EXERCISE, keys, [answer_of(GRID[::-1]), answer_of([row[::-1] for row in GRID])]))
    assert text.count("In detail:") == 2  # along another axis
    again = answer_of(changed(GRID, {3}, other)), answer_of(changed(GRID, {3}, lambda at, row: [9.0] * 5))
    text = exercise_text(judge(EXERCISE, keys, list(again)))
    assert text.count("In detail:") == 1 and ": the same" in text


def test_of_an_input_that_is_not_shown_no_slip_tells():
    shown, hidden = key_of(GRID), key_of(SQUARE, reveal=False)
    (result,) = judge(EXERCISE, [shown, hidden], [answer_of(GRID), answer_of(turned(SQUARE))]).checks
    assert (result.kind, result.misconception) == ("unseen", None)
    assert "transposed" not in result.message and "axes" not in result.message


def sized(queries, keys):
    return call(query=tensor([[1.0] * 3] * queries), key=tensor([[2.0] * 3] * keys)).packed()


def test_two_sizes_that_are_taken_for_one_are_named():
    text = taken_for_one([sized(4, 4), sized(5, 5)], [sized(4, 6), sized(2, 5)])
    assert (
        "Here your code is right wherever axis -2 of query is as long as axis -2 of key, and wrong wherever it is not"
        in text
    )
    assert taken_for_one([sized(4, 4)], [sized(4, 6), sized(2, 5)]) == ""  # one case proves nothing
    assert taken_for_one([sized(4, 4), sized(5, 6)], [sized(4, 6), sized(2, 5)]) == ""
    assert taken_for_one([sized(4, 4), sized(5, 5)], [sized(4, 6), sized(3, 3)]) == ""


def test_a_length_that_belongs_to_another_axis_or_number_is_named():
    step = call(tensor(BATCH), 7).packed()  # (3, 4, 5)

    def found(*shape):
        return another_size(step, array(BATCH), array(nest([0.0] * math.prod(shape), shape)))

    assert found(3, 4, 7).text == "Axis 2 of your answer has length 7, which is argument 2; 5 is due"
    assert "Axis 1 of your answer has length 3, which is the length of axis -3 of argument 1" in found(3, 3, 5).text
    assert found(3, 4, 9) is None  # no size of the call
    assert found(4, 3, 5) is None and found(3, 4) is None  # more is wrong than one length
    assert found(3, 4, 1) is None  # many things lead to a length of 1
    result = judge(EXERCISE, [key_of(BATCH)], [answer_of([[row[:3] for row in rows] for rows in BATCH])]).checks[0]
    assert result.misconception == "generic.another_size" and "In detail: expected shape (3, 4, 5)" in result.message


def test_axes_that_have_become_one_are_named():
    def merged(*shape):
        return merged_axes(array(BATCH), array(nest([0.0] * math.prod(shape), shape)))

    assert merged(12, 5).text == "Axes 0 and 1 of what is due, 3 and 4 long, are one axis of 12 in yours"
    assert merged(3, 20).cause == "axes_merged" and merged(60) is None and merged(4, 15) is None
    result = judge(EXERCISE, [key_of(BATCH)], [answer_of([[0.0] * 5] * 12)]).checks[0]
    assert result.misconception == "generic.axes_merged"


def test_a_verdict_says_which_sizes_are_taken_for_one():
    names = list(EXERCISE.points)[:4]
    checks = [Check(EXERCISE.id, name, "x", lambda rng: None) for name in names]
    steps = [sized(4, 4), sized(5, 5), sized(4, 6), sized(2, 5)]
    due = {"value": pack(array([1.0], "tensor")), "changed": []}
    keys = [Key(one, [step], [due], {}) for one, step in zip(checks, steps, strict=True)]
    raised = {"error": {"type": "RuntimeError", "kinds": ["RuntimeError"], "text": "odd"}, "changed": []}
    results = judge(EXERCISE, keys, [[due], [due], [raised], [raised]]).checks
    assert [one.misconception for one in results] == [None, None, "generic.coinciding", None]
    assert results[2].section == "sec-worked-hidden-faults"


def test_one_branch_without_return_is_told_from_a_missing_one():
    key = key_of(GRID)
    both = Key(key.check, [STEP, STEP], key.expected * 2, {})
    none = {"value": {"kind": "none"}, "changed": []}
    difference = compare(key.check, STEP, key.expected[0], none)
    assert difference.cause == "generic.no_return"
    named = named_in_general(both, [*answer_of(GRID), none], 1, difference)
    assert named.cause == "generic.one_return_missing" and "a branch has no return" in named.text
    assert named_in_general(both, [none, none], 0, difference) is difference
    pair = {"value": {"kind": "tuple", "items": [key.expected[0]["value"], {"kind": "none"}]}, "changed": []}
    assert named_in_general(both, [*answer_of(GRID), pair], 1, difference) is difference


DUE = [[0.0 if (7 * row + column) % 5 == 0 else 0.25 + row / 7 for column in range(6)] for row in range(4)]
TOLD_BY_ROWS = [[number or 1.5 for number in DUE[0]]] * 4


@pytest.mark.parametrize("call_of", [lambda rate: call(dropout_p=rate), lambda rate: in_training(dropout=rate)])
def test_where_dropout_is_due_a_missing_one_is_told_and_nothing_that_its_zeros_bring_about(call_of):
    due, alike = array(DUE, "tensor"), array(TOLD_BY_ROWS, "tensor")
    slip = numbers_slip(call_of(0.25).packed(), due, alike, 1e-5)
    assert slip.cause == "not_dropped" and "dropout of 0.25 sets some of them to 0, 5 of 24 here" in slip.text
    assert numbers_slip(call_of(0.0).packed(), due, alike, 1e-5).cause == "equal_rows"
    assert numbers_slip(call_of(0.25).packed(), due, array([DUE[0]] * 4, "tensor"), 1e-5) is None


def in_training(**settings):
    return built(call(4, **settings), call(tensor(GRID)), training=True)


def test_of_results_that_a_check_does_not_read_nothing_is_told_but_weights():
    right, wrong = ((array(GRID), array(SHARES)), (array(mapped(lambda one: 2 * one, GRID)), array(SHARES[::-1])))
    assert numbers_slip(STEP, right, wrong, 1e-5).cause == "factor"
    check = Check(EXERCISE.id, "one", "x", lambda rng: None, view=lambda step, answer: answer[1])
    due, came = ({"value": pack(value), "changed": []} for value in (right, wrong))
    named = named_in_general(Key(check, [STEP], [due], {}), [came], 0, compare(check, STEP, due, came))
    assert named.cause == "generic.reversed" and "(result 2 of 2)" in named.text
