"""The checks of an exercise: visible, hidden, and a course's own; and the seeds of their hidden draws."""

from __future__ import annotations

import hashlib
import hmac
import itertools
import math

from selfcheck.catalogue import Exercise
from selfcheck.plan import Check, checks_in

from ..course.extra_checks import extra_checks

DRAWS = 3  # hidden draws of a check, at most
ENOUGH_CALLS = 5  # in all of these: a check that makes many calls in each draw needs fewer
MOST_REPEATS = 16  # seeds whose calls were made before, until a check counts as one that has no other calls to make
RECORDED_SEED = 20170612


def recorded_seed(check: Check) -> int:
    """The seed of the draw of a visible check that learners get."""
    return RECORDED_SEED + len(check.name)


def seed_of(secret: bytes, check: Check, draw: int | str = 0) -> int:
    """The hidden seed of a check: the same in every run of a course, different between courses."""
    text = f"{check.exercise}/{check.name}/{draw}".encode()
    return int.from_bytes(hmac.new(secret, text, hashlib.sha256).digest()[:8], "big")


def hidden_seeds(secret: bytes, check: Check) -> list[int]:
    """The seeds of a check's hidden draws: the fewest that make enough calls, and one where each trains a model.

    Each makes other calls than the draw that learners get and than those before it, where the check has others to make:
    calls that are made again would test nothing, and a check that always makes the same may be known by heart.
    """
    made = [check.calls(recorded_seed(check))]
    seeds: list[int] = []
    repeats = 0
    draws = min(DRAWS, math.ceil(ENOUGH_CALLS / max(len(made[0]), 1)))
    if any(step.get("lessons") for step in made[0]):
        draws = 1  # it takes seconds, and asks about dozens of texts that the model was not fitted to
    candidates = (seed_of(secret, check, draw) for draw in itertools.count())
    while len(seeds) < draws:
        seed = next(candidates)
        calls = check.calls(seed)
        if calls in made and repeats < MOST_REPEATS:
            repeats += 1
        else:
            made.append(calls)
            seeds.append(seed)
    return seeds


def visible_checks(exercise: Exercise) -> list[Check]:
    """The visible checks of an exercise, in the catalogue's order; KeyError for a name without a check."""
    known = {check.name: check for check in checks_in(f"selfcheck.checks.{exercise.module}")}
    return [known[name] for name in exercise.points]


def hidden_checks(exercise: Exercise, extra: tuple[tuple[str, str], ...] = ()) -> list[Check]:
    """The hidden checks of an exercise; where an id has two parts, those of the part's problem set.

    extra: module and source text of a course's further ones, which come last
    """
    return [
        check
        for check in checks_in(f"autograder.answer_key.hidden.{exercise.module}")
        if check.exercise == exercise.id and check.problem_set in (None, exercise.problem_set)
    ] + extra_checks(extra, exercise)
