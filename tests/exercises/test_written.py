"""An exercise that `new` scaffolded is its author's own before it is done."""

import pytest

from autograder.authoring import scaffold
from autograder.course.paths import ROOT
from selfcheck.catalogue import exercises


@pytest.mark.parametrize("exercise", exercises(), ids="{0.number}-{0.id}".format)
def test_nothing_stands_as_new_wrote_it(exercise):
    left = scaffold.left_to_write(ROOT, exercise.id)
    assert left == [], "\n".join(["write these, and take the line that says so away:", *left])
