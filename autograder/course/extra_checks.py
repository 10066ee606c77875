"""Reads an instructor's own hidden checks from outside the repository."""

from __future__ import annotations

import functools
import itertools
import sys
import threading
import traceback
from types import ModuleType

from selfcheck.catalogue import Exercise, exercises, parts_of
from selfcheck.plan import Check, checks_in

_numbers = itertools.count()  # a module name for each reading: checks of a broken text are never reused
_lock = threading.RLock()


class InvalidCheck(ValueError):
    """An instructor's hidden check that cannot be used: the message names the module, the line and the remedy."""


def extra_checks(extra: tuple[tuple[str, str], ...], exercise: Exercise) -> list[Check]:
    """An instructor's hidden checks of an exercise; InvalidCheck where a text cannot be read or a check is invalid.

    extra: module and source text, as in `GradingPolicy`
    """
    return [
        check
        for module, source in extra
        if module == exercise.module
        for check in checks_of(module, source)
        if check.exercise == exercise.id and check.problem_set in (None, exercise.problem_set)
    ]


def checks_of(module: str, source: str) -> tuple[Check, ...]:
    """Every check that the text of a module registers, in order; InvalidCheck as in extra_checks."""
    with _lock:
        return _read(module, source)


@functools.lru_cache(maxsize=256)
def _read(module: str, source: str) -> tuple[Check, ...]:
    name = f"{__package__}.extra_{next(_numbers)}_{module}"
    loaded = ModuleType(name)
    loaded.__file__ = file = _file_name(module)
    try:
        code = compile(source, file, "exec", dont_inherit=True)
        sys.modules[name] = loaded
        exec(code, loaded.__dict__)  # noqa: S102  # the instructor's own, as trusted as the repository
        checks = tuple(checks_in(name))
    except (Exception, SystemExit) as error:
        sys.modules.pop(name, None)
        raise InvalidCheck(error_text(error, module)) from error
    for check in checks:
        _require_valid(check, module)
    if not checks:
        raise InvalidCheck(f"{module}.py registers no check: expected functions with @check('{module}.…', …, points=…)")
    return checks


def _file_name(module: str) -> str:
    """The name of a module's text in tracebacks."""
    return f"hidden_checks/{module}.py"


def error_text(error: BaseException, module: str, line: int | None = None) -> str:
    """An exception in a line, with the last line of the module's text that it came through, or else `line`."""
    file = _file_name(module)
    if isinstance(error, SyntaxError) and error.filename == file:
        return f"{module}.py, line {error.lineno}: {type(error).__name__}: {error.msg}"
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    line = lines[-1] if lines else line
    place = f"{module}.py, line {line}" if line else f"{module}.py"
    return f"{place}: {type(error).__name__}: {error}"


def _require_valid(check: Check, module: str) -> None:
    """Raise InvalidCheck for a check of an exercise of another module, or one without points."""
    place = f"{module}.py, line {check.make.__code__.co_firstlineno}: {check.name}"
    known = [exercise.id for exercise in exercises() if exercise.module == module]
    if check.exercise not in known:
        ids = ", ".join(dict.fromkeys(known))
        raise InvalidCheck(f"{place} is of {check.exercise!r}: expected an exercise of this module, {ids}")
    if type(check.points) is not int or check.points < 1:
        raise InvalidCheck(f"{place} adds {check.points!r} points: expected a whole number from 1 on, as points=1")
    sets = [exercise.problem_set for exercise in parts_of(check.exercise)]
    if check.problem_set not in (None, *sets):
        raise InvalidCheck(f"{place}: problem_set must be one of {', '.join(sets)}, got {check.problem_set!r}")
