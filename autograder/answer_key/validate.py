"""Tries a course's further hidden checks on the reference, before anybody is judged by them."""

from __future__ import annotations

import functools

from selfcheck.arrays import unpack
from selfcheck.catalogue import exercises
from selfcheck.diagnose import Key, first_difference
from selfcheck.plan import Check

from ..course.extra_checks import InvalidCheck, error_text, extra_checks
from ..course.policy import GradingPolicy
from .checks import hidden_checks, hidden_seeds, visible_checks
from .live import answers_of, live_key
from .reference_package import reference


@functools.lru_cache(maxsize=64)
def try_checks(policy: GradingPolicy) -> int:
    """Have the reference answer every further hidden check of this policy, twice; returns how many there are.

    Raises InvalidCheck for the first that stops, whose name is taken, or that the reference fails.
    """
    tried = 0
    for exercise in exercises():
        known = {check.name for check in visible_checks(exercise) + hidden_checks(exercise)} if policy.extra else ()
        for check in extra_checks(policy.extra, exercise):
            if check.name in known:
                raise InvalidCheck(f"{_place(check)}: {exercise.id} has a check of this name already: choose another")
            _try(check, policy.secret)
            tried += 1
    return tried


def _try(check: Check, secret: bytes) -> None:
    try:
        reasons = (_reason_at(check, seed) for seed in hidden_seeds(secret, check))
        reason = next(filter(None, reasons), "")
    except (Exception, SystemExit) as error:  # whatever an instructor's code comes to
        module, line = check.exercise.partition(".")[0], check.make.__code__.co_firstlineno
        raise InvalidCheck(error_text(error, module, line)) from error
    if reason:
        raise InvalidCheck(f"{_place(check)}: the reference fails this check: {reason}")


def _reason_at(check: Check, seed: int) -> str:
    """Why the reference fails a check for a seed; "" where it passes."""
    key = live_key(check, seed, names=False)
    difference = first_difference(key, key.expected, answers_of(reference(check.exercise), key))
    for step, answer in zip(key.calls, key.expected, strict=True):
        if check.view and "value" in answer:
            check.view(step, unpack(answer["value"]))
    return _reason(key) or (f"it answers otherwise the second time: {difference[1].text}" if difference else "")


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
