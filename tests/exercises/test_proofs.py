"""Proves every exercise: wrong answers fail and are named, right ones get full marks, stubs get zero."""

import functools

import pytest

from autograder import reference, stubs
from autograder.misconceptions import misconceptions_of
from selfcheck import runner
from selfcheck.catalogue import exercises, parts_of
from selfcheck.diagnose import first_difference
from selfcheck.recorded import plans_of, visible_keys
from selfcheck.verdict import judge
from tests.alternatives import alternatives_of

SECRETS = [b"one course", b"another course"]
ALL = exercises()
TRAINED = ("classifier.TextClassifier", "classifier.PairMatcher")  # their checks train models: one course's secret
name_of = "{0.number}-{0.id}".format
parts = pytest.mark.parametrize("exercise", ALL, ids=name_of)
hidden = pytest.mark.parametrize(
    ("exercise", "secret"),
    [
        pytest.param(exercise, secret, id=f"{secret.decode()}-{name_of(exercise)}")
        for secret in SECRETS
        for exercise in ALL
        if secret == SECRETS[0] or exercise.id not in TRAINED
    ],
)


def answers_of(function, keys):
    return [runner.answer(function, key.calls, "gradient" in key.check.compares) for key in keys]


@functools.cache
def hidden_keys(exercise, secret):
    return reference.hidden_keys(exercise, secret)


@functools.cache
def all_keys(exercise):
    return visible_keys(exercise) + hidden_keys(exercise, SECRETS[0])


def misconceptions_here(exercise):
    """Those of the catalogue's entry: an id with two parts shares its runnable ones between them."""
    return {one.id: misconceptions_of(exercise.id)[one.id] for one in exercise.misconceptions}


@parts
def test_every_misconception_fails_a_visible_check_and_is_named(exercise):
    keys = visible_keys(exercise)
    for name, function in misconceptions_here(exercise).items():
        result = judge(exercise, keys, answers_of(function, keys))
        assert not result.passed, f"{name} passes every visible check"
        assert result.misconceptions == [name], f"{name} is diagnosed as {result.misconceptions}"
        unnamed = [one.check for one in result.checks if one.verdict == "failed" and one.misconception is None]
        assert not unnamed, f"{name} fails {unnamed} unnamed"


@hidden
def test_every_misconception_is_named_on_hidden_draws_too(exercise, secret):
    keys = visible_keys(exercise) + hidden_keys(exercise, secret)
    keys = [key for key in keys if key.misconceptions]  # of the hidden draws the first of each check
    for name in misconceptions_here(exercise):
        result = judge(exercise, keys, [key.misconceptions.get(name, key.expected) for key in keys])
        assert result.misconceptions == [name], f"{name} is diagnosed as {result.misconceptions}"
        assert result.points < result.max_points


@hidden
def test_alternatives_get_full_marks(exercise, secret):
    keys = all_keys(exercise) if secret == SECRETS[0] else hidden_keys(exercise, secret)  # the visible ones once
    assert len(alternatives_of(exercise.id)) >= 3
    for name, function in alternatives_of(exercise.id).items():
        result = judge(exercise, keys, answers_of(function, keys))
        wrong = [(one.check, one.message) for one in result.checks if one.verdict != "passed"]
        assert not wrong, f"{name}: {wrong}"
        assert result.points == exercise.max_points


@parts
def test_the_reference_gets_full_marks_and_answers_every_call(exercise):
    keys = all_keys(exercise)
    result = judge(exercise, keys, answers_of(reference.reference(exercise.id), keys))
    assert result.passed and result.points == exercise.max_points
    for key in keys:
        raised = ["error" in answer for answer in key.expected]
        assert all(raised) if "error" in key.check.compares else not any(raised), key.check.name


@parts
def test_the_stub_gets_nothing_and_a_friendly_text(exercise, tmp_path):
    assert stubs.write_stubs(tmp_path / "attention") == []
    keys = all_keys(exercise)
    plans = plans_of(keys)
    with runner.fresh_package(str(tmp_path)):
        answers = runner.answer_exercise(exercise.id, plans)
    result = judge(exercise, keys, [answers[str(place)] for place in range(len(keys))])
    earned = {one.check for one in result.checks if one.points}
    assert not earned, earned
    number = parts_of(exercise.id)[0].number  # a stub names the first part of its exercise
    assert any(f"not started yet: exercise {number}" in one.message for one in result.checks)


@parts
def test_inputs_discriminate(exercise):
    """Each visible check fails at least one misconception, and by a margin: ten times its tolerance."""
    for key in visible_keys(exercise):
        if "error" in key.check.compares or not exercise.misconceptions:
            continue
        assert key.misconceptions, f"no misconception fails {key.check.name}"
        loose = type(key.check)(**{**key.check.__dict__, "tolerance": 10 * key.check.tolerance})
        loose_key = type(key)(loose, key.calls, key.expected, {})
        for name, wrong in key.misconceptions.items():
            assert first_difference(loose_key, key.expected, wrong), f"{name} differs by little in {key.check.name}"


@parts
def test_the_catalogue_entry_is_complete(exercise):
    assert exercise.prompt.strip() and exercise.title and exercise.section
    assert len(exercise.hints) == 3 and all(len(hint) > 20 for hint in exercise.hints)
    assert 1 <= exercise.difficulty <= 5 and 1 <= exercise.minutes <= 60
    assert len(exercise.misconceptions) >= 2
    assert all(len(one.message) > 40 and one.section for one in exercise.misconceptions)
    assert {check.name for check in reference.visible_checks(exercise)} == set(exercise.points)
    assert all(points > 0 for points in exercise.points.values())
    graded = reference.hidden_checks(exercise)
    assert graded and sum(check.points for check in graded) == exercise.hidden_points


def test_there_are_four_misconceptions_an_exercise_on_average():
    assert sum(len(exercise.misconceptions) for exercise in ALL) >= 4 * len(ALL)


def test_every_runnable_misconception_is_in_the_catalogue():
    for name in {exercise.id for exercise in ALL}:
        written = {one.id for exercise in ALL if exercise.id == name for one in exercise.misconceptions}
        assert set(misconceptions_of(name)) == written, name
