"""The input draws an exercise is graded on, each with the answers that are due."""

from __future__ import annotations

import functools

from selfcheck.catalogue import Exercise
from selfcheck.diagnose import Key
from selfcheck.recorded import visible_keys

from ..course.policy import Terms
from .reference import ONE_AT_A_TIME, hidden_keys

PUBLIC_TERMS = Terms(b"attention by hand")  # of a judgement outside any course
TRAINED = ("classifier.TextClassifier", "classifier.PairMatcher")  # their checks train a model


def keys_of(exercise: Exercise, terms: Terms) -> list[Key]:
    """Every draw an exercise is graded on: the recorded ones, and the hidden ones of a course's terms."""
    with ONE_AT_A_TIME:  # whoever else needs them waits, and has them
        return _keys_of(exercise, terms)


@functools.lru_cache(maxsize=256)  # a course's, and more
def _keys_of(exercise: Exercise, terms: Terms) -> list[Key]:
    return visible_keys(exercise) + hidden_keys(exercise, terms)
