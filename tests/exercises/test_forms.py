"""Misconceptions that run, several forms of one among them, and those that the catalogue explains are the same."""

import pytest

from autograder.answer_key.misconceptions import misconceptions_of
from selfcheck.catalogue import exercises


@pytest.mark.parametrize("name", sorted({exercise.id for exercise in exercises()}))
def test_every_misconception_that_runs_is_explained_and_every_explained_one_runs(name):
    explained = {one.id for exercise in exercises() if exercise.id == name for one in exercise.misconceptions}
    assert {one.partition("/")[0] for one in misconceptions_of(name)} == explained
