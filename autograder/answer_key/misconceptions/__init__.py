"""Runnable wrong answers, one file per module; the catalogue explains each under the function's name."""

from __future__ import annotations

import importlib
from collections.abc import Callable

_registered: dict[str, dict[str, Callable]] = {}


def misconception(exercise: str) -> Callable[[Callable], Callable]:
    """Register a wrong answer to the exercise "module.symbol"; the function's name is the misconception's id.

    The function takes the exercise's arguments and returns what somebody with this wrong idea would return.
    """

    def register(function: Callable) -> Callable:
        known = _registered.setdefault(exercise, {})
        if function.__name__ in known:
            raise ValueError(f"{exercise} has two misconceptions named {function.__name__}")
        known[function.__name__] = function
        return function

    return register


def misconceptions_of(exercise: str) -> dict[str, Callable]:
    """The runnable wrong answers to an exercise, by id."""
    importlib.import_module(f"{__name__}.{exercise.partition('.')[0]}")
    return dict(_registered.get(exercise, {}))
