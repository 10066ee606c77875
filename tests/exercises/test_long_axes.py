"""Every visible check can make its call with one long axis, whatever is drawn: a release would end otherwise."""

import pytest

from autograder.answer_key.checks import visible_checks
from autograder.answer_key.varied import varied, with_a_long_axis
from selfcheck.catalogue import exercises
from selfcheck.plan import Draw

DRAWS = 20


@pytest.mark.parametrize("exercise", exercises(), ids="{0.number}-{0.id}".format)
def test_a_check_has_room_for_a_long_axis_in_every_draw(exercise):
    for check in filter(varied, visible_checks(exercise)):
        for seed in range(DRAWS):
            assert with_a_long_axis(check, Draw(seed)), check.name
