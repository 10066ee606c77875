"""A prompt is short enough to be kept in mind while one writes."""

import re

import pytest

from selfcheck.catalogue import exercises

WORDS = 150  # between blanks; formulas on lines of their own are not counted


@pytest.mark.parametrize("exercise", exercises(), ids="{0.number}-{0.id}".format)
def test_a_prompt_has_at_most_150_words(exercise):
    sentences = re.sub(r"\$\$.*?\$\$", "", exercise.prompt, flags=re.DOTALL)
    assert len(sentences.split()) <= WORDS
