"""A course's further hidden checks: the instructor's own, from texts that lie outside the repository."""

from __future__ import annotations

import functools
import itertools
import sys
import threading
import traceback
from types import ModuleType

from selfcheck.catalogue import Exercise, exercises, parts_of
from selfcheck.plan import Check, checks_in

_numbers = itertools.count()  # every reading gets a name of its own: what a broken one registered is nobody's
_one_at_a_time = threading.RLock()


class BadCheck(ValueError):
    """A further hidden check that cannot be used; the text names the file's module, the line and what to do."""


def extra_checks(extra: tuple[tuple[str, str], ...], exercise: Exercise) -> list[Check]:
    """The further hidden checks of an exercise; BadCheck where a text cannot be read, or a check is not in order.

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
    """Every check that the text of a module registers, in order; BadCheck as above."""
    with _one_at_a_time:
        return _read(module, source)


@functools.lru_cache(maxsize=256)
def _read(module: str, source: str) -> tuple[Check, ...]:
    name = f"{__package__}.extra_{next(_numbers)}_{module}"
    made = ModuleType(name)
    made.__file__ = file = _file(module)
    try:
        code = compile(source, file, "exec", dont_inherit=True)
        sys.modules[name] = made
        exec(code, made.__dict__)  # noqa: S102  # the instructor's own, as trusted as the repository
        found = tuple(checks_in(name))
    except (Exception, SystemExit) as error:
        sys.modules.pop(name, None)
        raise BadCheck(told(error, module)) from error
    for check in found:
        _look_at(check, module)
    if not found:
        raise BadCheck(f"{module}.py registers no check: expected functions with @check('{module}.…', …, points=…)")
    return found


def _file(module: str) -> str:
    """What the text of a module is called in a traceback."""
    return f"hidden_checks/{module}.py"


def told(error: BaseException, module: str, line: int | None = None) -> str:
    """What an exception says of a module's text, with the last line there that it came through, or else `line`."""
    file = _file(module)
    if isinstance(error, SyntaxError) and error.filename == file:
        return f"{module}.py, line {error.lineno}: {type(error).__name__}: {error.msg}"
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    line = lines[-1] if lines else line
    place = f"{module}.py, line {line}" if line else f"{module}.py"
    return f"{place}: {type(error).__name__}: {error}"


def _look_at(check: Check, module: str) -> None:
    """Whether a check is one of an exercise of this module, and adds points."""
    place = f"{module}.py, line {check.make.__code__.co_firstlineno}: {check.name}"
    known = [one for one in exercises() if one.module == module]
    if check.exercise not in {one.id for one in known}:
        ids = ", ".join(dict.fromkeys(one.id for one in known))
        raise BadCheck(f"{place} is of {check.exercise!r}: expected an exercise of this module, {ids}")
    if type(check.points) is not int or check.points < 1:
        raise BadCheck(f"{place} adds {check.points!r} points: expected a whole number from 1 on, as points=1")
    sets = [one.problem_set for one in parts_of(check.exercise)]
    if check.problem_set not in (None, *sets):
        raise BadCheck(f"{place}: problem_set must be one of {', '.join(sets)}, got {check.problem_set!r}")
