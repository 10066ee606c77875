"""Misconceptions that run, several forms of one among them, and those that the catalogue explains are the same."""

import pytest

from autograder.answer_key.checks import hidden_checks
from autograder.answer_key.misconceptions import misconceptions_of
from selfcheck.catalogue import exercises
from selfcheck.recorded import visible_keys

#: Their arguments are numbers alone; or a module that is to be changed, which "kept" and "state" compare.
NOTHING_TO_CHANGE = {
    *("masks.causal_mask", "masks.sliding_window_mask", "multi_head.load_torch_weights", "positions.alibi_bias"),
    *("positions.sinusoidal_encoding", "positions.shift_matrix"),
}


@pytest.mark.parametrize("name", sorted({exercise.id for exercise in exercises()}))
def test_every_misconception_that_runs_is_explained_and_every_explained_one_runs(name):
    explained = {one.id for exercise in exercises() if exercise.id == name for one in exercise.misconceptions}
    assert {one.partition("/")[0] for one in misconceptions_of(name)} == explained


@pytest.mark.parametrize("exercise", exercises(), ids="{0.number}-{0.id}".format)
def test_every_misconception_takes_the_arguments_of_its_exercise(exercise):
    """One that Python refuses for its signature is never what a learner answers."""
    own = ("unexpected keyword argument", "<locals>")
    for key in visible_keys(exercise):
        for name, answers in key.misconceptions.items():
            texts = [str(answer.get("error", {}).get("text", "")) for answer in answers]
            assert not [one for one in texts if any(part in one for part in own)], f"{name} in {key.check.name}"


@pytest.mark.parametrize("exercise", exercises(), ids="{0.number}-{0.id}".format)
def test_a_check_sees_what_an_answer_changes_that_is_not_its_own(exercise):
    checks = [key.check for key in visible_keys(exercise)] + hidden_checks(exercise)
    assert any("unchanged" in one.compares for one in checks) == (exercise.id not in NOTHING_TO_CHANGE)
