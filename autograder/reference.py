"""What the reference and the misconceptions answer to the calls of a check."""

from __future__ import annotations

import functools
import hashlib
import hmac
import importlib
import importlib.util
import sys
from collections.abc import Callable
from types import ModuleType

from selfcheck import runner
from selfcheck.catalogue import Exercise
from selfcheck.diagnose import Key, first_difference
from selfcheck.plan import Check, checks_in

from .misconceptions import misconceptions_of
from .places import REFERENCE

NAME = "_reference_attention"  # beside a learner's package, which is named attention
RECORDED_SEED = 20170612
DRAWS = 3  # hidden draws of each visible check


def reference(exercise: str) -> Callable:
    """The reference's function for an id "module.symbol"."""
    module, _, symbol = exercise.partition(".")
    _package()
    function = getattr(importlib.import_module(f"{NAME}.{module}"), symbol)
    if "torch" in sys.modules:
        # The first multi-threaded exp of a process can be off by 1e-4 (torch 2.13, CPU).
        sys.modules["torch"].set_num_threads(1)
    return function


@functools.cache
def _package() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        NAME, REFERENCE / "__init__.py", submodule_search_locations=[str(REFERENCE)]
    )
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


def hidden_checks(exercise: Exercise) -> list[Check]:
    """The hidden checks of an exercise; where an id has two parts, those of the part's problem set."""
    return [
        check
        for check in checks_in(f"autograder.hidden.{exercise.module}")
        if check.exercise == exercise.id and check.problem_set in (None, exercise.problem_set)
    ]


def live_key(check: Check, seed: int, reveal: bool = False) -> Key:
    """A key computed now: the reference's and every misconception's answers to one draw of a check."""
    calls = check.calls(seed)
    gradient = "gradient" in check.compares
    expected = runner.answer(reference(check.exercise), calls, gradient)
    key = Key(check, calls, expected, {}, reveal)
    for name, function in misconceptions_of(check.exercise).items():
        wrong = runner.answer(function, calls, gradient)
        if first_difference(key, expected, wrong):
            key.misconceptions[name] = wrong
    return key


def recorded_key(check: Check) -> Key:
    """The draw of a visible check that learners get."""
    return live_key(check, RECORDED_SEED + len(check.name), reveal=True)


def hidden_keys(exercise: Exercise, secret: bytes) -> list[Key]:
    """The draws that only the grader makes: several of each visible check, and of each hidden one."""
    visible = [
        live_key(check, seed_of(secret, check, draw)) for check in visible_checks(exercise) for draw in range(DRAWS)
    ]
    return visible + [
        live_key(check, seed_of(secret, check, draw)) for check in hidden_checks(exercise) for draw in range(DRAWS)
    ]
