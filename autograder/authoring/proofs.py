"""The proof of the checks themselves: wrong answers fail and are named, right ones pass, whatever a course's secret is.

Each function returns a line for whatever does not hold; nothing means that it is proven.
"""

from __future__ import annotations

import functools
import importlib.util
import random
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from selfcheck import runner
from selfcheck.catalogue import Exercise
from selfcheck.compare import Answer
from selfcheck.diagnose import Key, explained_by
from selfcheck.recorded import visible_keys
from selfcheck.verdict import FAILED, PASSED, judge

from ..answer_key.keys import keys_of
from ..answer_key.misconceptions import misconceptions_of
from ..answer_key.reference_package import reference
from ..course.paths import ALTERNATIVES, SOLUTIONS
from ..course.policy import GradingPolicy

BANK = "_alternatives"  # the name under which the package of right answers is imported


def misconceptions_here(exercise: Exercise) -> dict[str, Callable[..., Any]]:
    """The runnable misconceptions of a catalogue entry, in every form; an id with two parts shares them."""
    own = {entry.id for entry in exercise.misconceptions}
    return {name: code for name, code in misconceptions_of(exercise.id).items() if explained_by(name) in own}


class NotACheckout(RuntimeError):
    """The right answers in other styles are not here."""


def alternatives_here(exercise: Exercise) -> dict[str, Callable[..., Any]]:
    """The right answers in other styles, by name; NotACheckout outside a checkout of the repository."""
    return _bank(ALTERNATIVES).alternatives_of(exercise.id)


@functools.cache
def _bank(folder: Path) -> ModuleType:
    """The package of right answers in a folder; they build on the reference, under the name that learners import."""
    if not (folder / "__init__.py").is_file():
        raise NotACheckout(
            f"expected right answers in other styles in {folder}, and there are none: they are part of the "
            "repository, not of an installed course; run this in a checkout"
        )
    if str(SOLUTIONS) not in sys.path:
        sys.path.insert(0, str(SOLUTIONS))
    spec = importlib.util.spec_from_file_location(
        BANK, folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    if spec is None or spec.loader is None:
        raise NotACheckout(f"{folder} cannot be imported: restore it from the repository")
    package = importlib.util.module_from_spec(spec)
    sys.modules[BANK] = package
    spec.loader.exec_module(package)
    return package


def answers_of(function: Callable[..., Any], keys: Sequence[Key]) -> list[list[Answer]]:
    """What a function answers to each draw."""
    return [runner.answer(function, key.calls, "gradient" in key.check.compares) for key in keys]


def misconceptions_fail(exercise: Exercise) -> list[str]:
    """Every misconception fails a visible check, and each check that it fails names it and no other."""
    keys, lines = visible_keys(exercise), []
    for name, function in misconceptions_here(exercise).items():
        result = judge(exercise, keys, answers_of(function, keys))
        unnamed = [check.check for check in result.checks if check.verdict == FAILED and check.misconception is None]
        if result.passed:
            lines.append(f"{exercise.id}: {name} passes every visible check")
        elif result.misconceptions != [explained_by(name)] or unnamed:
            lines.append(f"{exercise.id}: {name} is named {result.misconceptions}, unnamed in {unnamed}")
    return lines


def misconceptions_are_named(exercise: Exercise, secret: bytes, chosen: Sequence[str] | None = None) -> list[str]:
    """Every misconception, or each chosen one, is named on hidden draws too, itself and no other, and loses points."""
    keys = keys_of(exercise, GradingPolicy(secret))
    keys = [key for key in keys if key.misconceptions]  # of the hidden draws the first of each check
    lines = []
    for name in misconceptions_here(exercise) if chosen is None else chosen:
        result = judge(exercise, keys, [key.misconceptions.get(name, key.expected) for key in keys])
        if result.misconceptions != [explained_by(name)] or result.points >= result.max_points:
            lines.append(f"{exercise.id}, secret {secret!r}: {name} is named {result.misconceptions}")
    return lines


def pairs_of(exercises: Sequence[Exercise], count: int, seed: int = 0) -> list[tuple[Exercise, bytes, list[str]]]:
    """Random pairs of misconceptions of one exercise, each with a secret of its own."""
    rng = random.Random(seed)
    able = [exercise for exercise in exercises if len(exercise.misconceptions) > 1]
    pairs = []
    for number in range(count):
        exercise = rng.choice(able)
        pair = rng.sample([entry.id for entry in exercise.misconceptions], 2)
        pairs.append((exercise, f"pair {seed}/{number}".encode(), pair))
    return pairs


def alternatives_pass(exercise: Exercise, secret: bytes) -> list[str]:
    """Every right answer in another style gets full marks, and no misconception is named for it."""
    keys, lines = keys_of(exercise, GradingPolicy(secret)), []
    for name, function in alternatives_here(exercise).items():
        result = judge(exercise, keys, answers_of(function, keys))
        wrong = [f"{check.check}: {check.message}" for check in result.checks if check.verdict != PASSED]
        if wrong or result.points != exercise.max_points:
            first = wrong[0] if wrong else "nothing"
            lines.append(f"{exercise.id}, secret {secret!r}: {name} fails {first}; {len(wrong)} in all")
    return lines


def reference_passes(exercise: Exercise, secret: bytes) -> list[str]:
    """The reference gets full marks, and raises where an error is due and nowhere else."""
    keys = keys_of(exercise, GradingPolicy(secret))
    result = judge(exercise, keys, answers_of(reference(exercise.id), keys))
    lost = [check for check in result.checks if not check.points]
    lines = [f"{exercise.id}, secret {secret!r}: {check.check} {check.message}" for check in lost]
    for key in keys:
        raised = ["error" in answer for answer in key.expected]
        if not (all(raised) if "error" in key.check.compares else not any(raised)):
            lines.append(f"{exercise.id}, secret {secret!r}: {key.check.name} raises where it should not, or not")
    return lines
