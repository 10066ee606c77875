"""The reference package and the checks that it answers."""

from __future__ import annotations

import functools
import hashlib
import hmac
import importlib
import importlib.util
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from selfcheck.catalogue import Exercise
from selfcheck.plan import Check, checks_in

from ..course.extra_checks import extra_checks
from ..course.paths import REFERENCE

NAME = "_reference_attention"  # beside a learner's package, which is named attention


def reference(exercise: str) -> Callable[..., Any]:
    """The reference's function for an id "module.symbol"."""
    module, _, symbol = exercise.partition(".")
    _package()
    function: Callable[..., Any] = getattr(importlib.import_module(f"{NAME}.{module}"), symbol)
    if "torch" in sys.modules:
        # The first multi-threaded exp of a process can be off by 1e-4 (torch 2.13, CPU).
        sys.modules["torch"].set_num_threads(1)
    return function


@functools.cache
def _package() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        NAME, REFERENCE / "__init__.py", submodule_search_locations=[str(REFERENCE)]
    )
    if spec is None or spec.loader is None:
        raise ImportError(f"the reference package is not in {REFERENCE}: is this a complete checkout?")
    package = importlib.util.module_from_spec(spec)
    sys.modules[NAME] = package
    spec.loader.exec_module(package)
    return package


def seed_of(secret: bytes, check: Check, draw: int = 0) -> int:
    """The hidden seed of a check: the same in every run of a course, different between courses."""
    text = f"{check.exercise}/{check.name}/{draw}".encode()
    return int.from_bytes(hmac.new(secret, text, hashlib.sha256).digest()[:8], "big")


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
