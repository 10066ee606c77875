"""Whatever a learner's process answers is compared in the grader's own process within a time, and ends in a verdict."""

import base64
import functools
import json
import math
import sys
import time
from collections import Counter
from dataclasses import replace

import pytest

from autograder.answer_key.keys import keys_of
from autograder.course.policy import GradingPolicy
from autograder.judge.answers import answers_in, of_comparable_size
from selfcheck.catalogue import exercises
from selfcheck.differences import differences_of
from selfcheck.recorded import visible_keys
from selfcheck.verdict import judge

LONG = 2000  # entries: no more of a wrong answer is compared where few are expected
MOST_SECONDS = 3.0  # of the processor, for all answers to one exercise
TRIES = 3
MOST_SEEN = 2  # times that a view reads one answer: to find it wrong, and for all misconceptions together
MOST_CALLS = 100  # begun or ended, of functions in the grader, for each entry that is answered
#: Exercises whose answers are a tuple, seen through views, and seen row by row.
ASKED = ["worked_example.project", "worked_example.dot_scores", "encoder.layer_norm", "positions.shift_matrix"]


def array(*shape, kind="tensor", dtype="int8"):
    data = base64.b64encode(bytes(math.prod(shape))).decode()
    return {"kind": kind, "dtype": dtype, "shape": shape, "data": data}


def within(tree, depth, kind):
    for _ in range(depth):
        tree = {"kind": kind, "items": [tree]}
    return tree


HOSTILE = {
    "one long row": array(LONG),
    "one long column": array(LONG, 1),
    "empty rows": array(LONG, 0),
    "a long row of a list": array(LONG, kind="list"),
    "as many axes as there may be": array(*[1] * 63, 7),
    "two of as many axes": array(2, *[1] * 62, 7),
    "three of as many axes": array(3, *[1] * 62, 7),
    "three of as many axes, empty": array(3, *[1] * 62, 0),
    "axes of two": array(*[2] * 10),
    "tuples within tuples around an array": within(array(LONG), 7, "tuple"),
    "lists within lists around an array": within(array(LONG), 30, "items"),
    "lists within lists around a column": within(array(LONG, 1), 6, "items"),
    "many of nothing": {"kind": "items", "items": [{"kind": "none"}] * 900},
    "numbers beyond all types": {
        "kind": "items",
        "items": [{"kind": "number", "type": "int", "value": "9" * 99}] * 900,
    },
    "arrays side by side": {"kind": "tuple", "items": [array(3)] * 500},
}


@pytest.fixture(scope="module", params=ASKED)
def asked(request):
    exercise = next(one for one in exercises() if one.id == request.param)
    return exercise, keys_of(exercise, GradingPolicy(b"a course"))


def judged(exercise, keys, value):
    """The verdicts where every call is answered by this, and the seconds of the processor that this took."""
    answered = {str(place): [{"value": value} for _ in key.calls] for place, key in enumerate(keys)}
    line = {"place": 0, "said": base64.b64encode(json.dumps(answered).encode()).decode()}
    plans = {str(place): {"calls": list(key.calls)} for place, key in enumerate(keys)}
    began = time.thread_time()
    given = answers_in(plans, line)
    given = [of_comparable_size(key.expected, given[str(place)]) for place, key in enumerate(keys)]
    return judge(exercise, keys, given, differences=differences_of(keys, given)), time.thread_time() - began


@pytest.mark.parametrize("name", HOSTILE)
def test_whatever_is_answered_is_compared_in_time_and_is_wrong(asked, name):
    tries = (judged(*asked, HOSTILE[name]) for _ in range(TRIES))  # on a busy machine one time may be anything
    result = next(result for result, seconds in tries if seconds < MOST_SECONDS)
    assert result.points == 0


NONE = {"kind": "none"}
#: Facts whose names a learner chooses, as a module's parameters have: names that parts of a packed value have too.
NAMED = {
    "gradients": {"kind": NONE, "shape": NONE, "data": NONE},
    "states": {"shape": {}, "data": {"kind": NONE, "shape": NONE, "items": NONE}},
    "drawn": {"kind": True, "shape": True, "data": True},
    "lost": {"0": {"kind": "tensor", "shape": "x", "data": "x"}},
    "parameters": {"kind": [2], "shape": [3], "data": [5]},
}


@pytest.mark.parametrize("fact", NAMED)
def test_names_that_a_learner_chooses_are_not_taken_for_parts_of_an_answer(fact):
    exercise = next(one for one in exercises() if one.id == "masks.causal_mask")
    keys = visible_keys(exercise)
    said = {str(place): [answer | {fact: NAMED[fact]} for answer in key.expected] for place, key in enumerate(keys)}
    line = {"said": base64.b64encode(json.dumps(said).encode()).decode()}
    given = answers_in({place: {"calls": answers} for place, answers in said.items()}, line)
    given = [of_comparable_size(key.expected, given[str(place)]) for place, key in enumerate(keys)]
    assert judge(exercise, keys, given, differences=differences_of(keys, given)).passed


@pytest.mark.parametrize("fact", ["gradients", "states"])
def test_a_large_array_is_large_whatever_stands_beside_it(fact):
    large, small = array(10, LONG), array(1)
    arrays = {"shape": NONE, "data": large}
    given = [{"value": small, fact: arrays if fact == "gradients" else {"data": arrays, "shape": {}}}]
    assert "too large" in of_comparable_size([{"value": small}], given)[0]["error"]["text"]


def counting(key, seen):
    """The key, with a view that counts how often it reads the long column in place of an answer to each call."""
    view = key.check.view
    if view is None:
        return key

    @functools.wraps(view)
    def counted(call, answer):
        seen[id(call)] += getattr(answer, "shape", None) == (LONG, 1)
        return view(call, answer)

    return replace(key, check=replace(key.check, view=counted))


@pytest.mark.parametrize("exercise", exercises(), ids=lambda exercise: exercise.id)
def test_an_answer_is_read_once_and_not_once_for_each_misconception(exercise):
    seen, calls = Counter(), 0
    keys = [counting(key, seen) for key in visible_keys(exercise)]
    answers = [[{"value": HOSTILE["one long column"], "changed": []} for _ in key.calls] for key in keys]

    def count(*_):
        nonlocal calls
        calls += 1

    sys.setprofile(count)
    try:
        result = judge(exercise, keys, answers)
    finally:
        sys.setprofile(None)
    assert result.points == 0
    assert max(seen.values(), default=0) <= MOST_SEEN
    assert calls <= MOST_CALLS * LONG * sum(map(len, answers))
