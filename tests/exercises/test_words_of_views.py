"""What a check says that its view derives is told in words that need no other view."""

import re

import pytest

from autograder.answer_key.checks import hidden_checks, visible_checks
from selfcheck.catalogue import exercises
from selfcheck.compare import _derived

NAMES_ANOTHER = re.compile(r": (as|likewise)\b|\bsee `|`\w+_\w+`", re.IGNORECASE)


@pytest.mark.parametrize("exercise", exercises(), ids="{0.number}-{0.id}".format)
def test_what_a_view_derives_is_told_without_the_name_of_another(exercise):
    checks = [check for check in (*visible_checks(exercise), *hidden_checks(exercise)) if check.view]
    steps = ({"uses": [{}]}, {"uses": [{"tokens": [0]}]}, {"uses": [{}, {}, {}]})
    told = {(check.name, text) for check in checks for step in steps for text in [_derived_or_nothing(check, step)]}
    assert {name: text for name, text in told if NAMES_ANOTHER.search(text)} == {}


def _derived_or_nothing(check, step):
    """The words for a step; "" where the view's words ask for a step of another kind."""
    try:
        return _derived(check, step)
    except (KeyError, IndexError):
        return ""
