"""Proves every exercise: wrong answers fail and are named, right ones get full marks, stubs get zero."""

import pytest

from autograder.answer_key import checks, reference_package
from autograder.answer_key.keys import trains_a_model
from autograder.authoring import proofs
from autograder.build import stubs
from autograder.course.policy import GradingPolicy
from selfcheck import runner
from selfcheck.catalogue import exercises, parts_of
from selfcheck.diagnose import first_difference
from selfcheck.recorded import plans_of, visible_keys
from selfcheck.verdict import judge

from . import lazy
from .parts import proof_of_an_exercise

SECRETS = [b"one course", b"another course"]
ALL = exercises()
name_of = "{0.number}-{0.id}".format
each = pytest.mark.parametrize("exercise", ALL, ids=name_of)
hidden = pytest.mark.parametrize(
    ("exercise", "secret"),
    [
        pytest.param(exercise, secret, id=f"{secret.decode()}-{name_of(exercise)}")
        for secret in SECRETS
        for exercise in ALL
        if secret == SECRETS[0] or not trains_a_model(exercise)
    ],
)


@proof_of_an_exercise
@each
def test_every_misconception_fails_a_visible_check_and_is_named(exercise):
    assert proofs.misconceptions_fail(exercise) == []


@proof_of_an_exercise
@hidden
def test_every_misconception_is_named_on_hidden_draws_too(exercise, secret):
    assert proofs.misconceptions_are_named(exercise, secret) == []


@proof_of_an_exercise
@hidden
def test_alternatives_get_full_marks(exercise, secret):
    assert len(proofs.alternatives_here(exercise)) >= 3
    assert proofs.alternatives_pass(exercise, secret) == []


@proof_of_an_exercise
@each
def test_the_reference_gets_full_marks_and_answers_every_call(exercise):
    assert proofs.reference_passes(exercise, SECRETS[0]) == []


@pytest.mark.proof(ignores="solutions/attention/*.py")  # all stubs are written; what the exercise imports is used
@proof_of_an_exercise
@each
def test_the_stub_gets_nothing_and_a_friendly_text(exercise, tmp_path):
    assert stubs.write_stubs(tmp_path / "attention") == []
    keys = proofs.keys_of(exercise, GradingPolicy(SECRETS[0]))
    plans = plans_of(keys)
    with runner.fresh_package(str(tmp_path)):
        answers = runner.answer_exercise(exercise.id, plans)
    result = judge(exercise, keys, [answers[str(place)] for place in range(len(keys))])
    earned = {one.check for one in result.checks if one.points}
    assert not earned, earned
    number = parts_of(exercise.id)[0].number  # a stub names the first part of its exercise
    assert any(f"not started yet: exercise {number}" in one.message for one in result.checks)


@proof_of_an_exercise
@pytest.mark.parametrize("exercise", [one for one in ALL if not trains_a_model(one)], ids=name_of)
def test_an_answer_that_does_nothing_gets_nothing(exercise):
    keys = proofs.keys_of(exercise, GradingPolicy(SECRETS[0]))
    is_class = isinstance(reference_package.reference(exercise.id), type)
    for name, answer in lazy.ANSWERS.items():
        answers = proofs.answers_of(lazy.as_class(answer) if is_class else answer, keys)
        earned = [one.check for one in judge(exercise, keys, answers).checks if one.points]
        assert not earned, f"{name} earns {earned}"


@proof_of_an_exercise
@each
def test_numbers_in_the_form_that_is_due_get_nothing(exercise):
    """As of a model that learns a number for each class, of `0 * x.sum()`, of equal weights: they look at nothing."""
    keys = proofs.keys_of(exercise, GradingPolicy(SECRETS[0]))
    for name, numbers in lazy.NUMBERS.items():
        answers = [[lazy.of_the_form(due, numbers) for due in key.expected] for key in keys]
        earned = [one.check for one in judge(exercise, keys, answers).checks if one.points]
        assert not earned, f"{name}: {earned}"


@proof_of_an_exercise
@pytest.mark.parametrize("exercise", [one for one in ALL if one.id == "classifier.train_step"], ids=name_of)
def test_what_leaves_the_step_out_earns_little(exercise):
    """Loss, type, refusal and an untouched batch are right without it; the step is what the exercise is about."""
    keys = proofs.keys_of(exercise, GradingPolicy(SECRETS[0]))
    result = judge(exercise, keys, proofs.answers_of(proofs.misconceptions_here(exercise)["no_update"], keys))
    assert result.points <= 0.4 * result.max_points, [one.check for one in result.checks if one.points]


@proof_of_an_exercise
@each
def test_inputs_discriminate(exercise):
    """Each visible check fails a misconception by a margin, ten times its tolerance; each of these fails some so."""
    by_little, by_margin = set(), set()
    for key in visible_keys(exercise):
        if "error" in key.check.compares or not exercise.misconceptions:
            continue
        loose = type(key.check)(**{**key.check.__dict__, "tolerance": 10 * key.check.tolerance})
        loose_key = type(key)(loose, key.calls, key.expected, {})
        found = {name for name, wrong in key.misconceptions.items() if first_difference(loose_key, key.expected, wrong)}
        assert found, f"no misconception fails {key.check.name} by a margin"
        by_margin |= found
        by_little |= key.misconceptions.keys() - found
    assert not by_little - by_margin, "no check fails these by a margin"


@proof_of_an_exercise
@each
def test_the_catalogue_entry_is_complete(exercise):
    assert exercise.prompt.strip() and exercise.title and exercise.section
    assert len(exercise.hints) == 3 and all(len(hint) > 20 for hint in exercise.hints)
    assert 1 <= exercise.difficulty <= 5 and 1 <= exercise.minutes <= 60
    assert len(exercise.misconceptions) >= 2
    assert all(len(one.message + one.remedy) > 40 and one.section for one in exercise.misconceptions)
    assert {check.name for check in checks.visible_checks(exercise)} == set(exercise.points)
    assert all(points > 0 for points in exercise.points.values())
    graded = checks.hidden_checks(exercise)
    assert graded and sum(check.points for check in graded) == exercise.hidden_points


def test_there_are_four_misconceptions_an_exercise_on_average():
    assert sum(len(exercise.misconceptions) for exercise in ALL) >= 4 * len(ALL)
