"""Runnable wrong answers, one file per module; the catalogue explains each under the function's name."""

from __future__ import annotations

import importlib
from collections.abc import Callable

_registered: dict[str, dict[str, Callable]] = {}


def misconception(exercise: str, like: str = "") -> Callable[[Callable], Callable]:
    """Register a wrong answer to the exercise "module.symbol"; the function's name is the misconception's id.

    The function takes the exercise's arguments and returns what somebody with this wrong idea would return.
    like: the id of a misconception that this is another form of: the same idea, which the same message explains, in
        code that answers otherwise to some draw. Its own id is then "<like>/<name>".
    """

    def register(function: Callable) -> Callable:
        known = _registered.setdefault(exercise, {})
        name = f"{like}/{function.__name__}" if like else function.__name__
        if name in known:
            raise ValueError(f"{exercise} has two misconceptions named {name}")
        known[name] = function
        return function

    return register


def misconceptions_of(exercise: str) -> dict[str, Callable]:
    """The runnable wrong answers to an exercise, by id; the forms of one misconception stand beside it."""
    importlib.import_module(f"{__name__}.{exercise.partition('.')[0]}")
    return dict(_registered.get(exercise, {}))
