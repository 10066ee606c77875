"""Tries a course's further hidden checks on the reference, before anybody is judged by them."""

from __future__ import annotations

import functools

from selfcheck import runner
from selfcheck.arrays import unpack
from selfcheck.catalogue import exercises
from selfcheck.diagnose import Key, first_difference
from selfcheck.plan import Check

from ..course.extra_checks import BadCheck, extra_checks, told
from ..course.policy import Terms
from .reference import DRAWS, ONE_AT_A_TIME, hidden_checks, live_key, seed_of, visible_checks
from .reference_package import reference


@functools.lru_cache(maxsize=64)
def try_checks(terms: Terms) -> int:
    """Have the reference answer every further hidden check of these terms, twice; returns how many there are.

    Raises BadCheck for the first that cannot be used: one that stops, whose name is taken, or that the reference fails.
    """
    tried = 0
    for exercise in exercises():
        known = {check.name for check in visible_checks(exercise) + hidden_checks(exercise)} if terms.extra else ()
        for check in extra_checks(terms.extra, exercise):
            if check.name in known:
                raise BadCheck(f"{_place(check)}: {exercise.id} has a check of this name already: choose another")
            for draw in range(DRAWS):
                _try(check, seed_of(terms.secret, check, draw))
            tried += 1
    return tried


def _try(check: Check, seed: int) -> None:
    try:
        key = live_key(check, seed, names=False)
        with ONE_AT_A_TIME:
            again = runner.answer(reference(check.exercise), key.calls, "gradient" in check.compares)
        difference = first_difference(key, key.expected, again)
        for one, answer in zip(key.calls, key.expected, strict=True):
            if check.view and "value" in answer:
                check.view(one, unpack(answer["value"]))
    except (Exception, SystemExit) as error:  # whatever an instructor's code comes to
        module, line = check.exercise.partition(".")[0], check.make.__code__.co_firstlineno
        raise BadCheck(told(error, module, line)) from error
    reason = _reason(key) or (difference and f"it answers otherwise the second time: {difference[1].text}")
    if reason:
        raise BadCheck(f"{_place(check)}: the reference fails this check: {reason}")


def _reason(key: Key) -> str:
    """Why the reference's answers are not what a check of this kind compares; "" where they are."""
    errors = [answer.get("error") for answer in key.expected]
    if not errors:
        return "it makes no call: expected call(…) or a list of them"
    if key.check.compares == ("error",):
        return "" if all(errors) else 'it raises nothing, where compares="error" expects an exception'
    raised = next((error for error in errors if error), None)
    if raised and "error" not in key.check.compares:
        return f"it raises {raised['type']}: {raised['text']}"
    return ""


def _place(check: Check) -> str:
    return f"{check.exercise.partition('.')[0]}.py, line {check.make.__code__.co_firstlineno}: {check.name}"
