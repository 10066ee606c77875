"""Puts the argument checks that a stub gives in front of a wrong answer, as in a learner's own file."""

from __future__ import annotations

import functools
from collections.abc import Callable

import torch

from ..reference_package import reference
from . import misconception


def behind_given_checks(exercise: str, name: str | None = None, like: str = "") -> Callable[[Callable], Callable]:
    """Register a misconception of an exercise that refuses bad arguments as the stub does.

    name: its id, where it is not the function's name; like: see `misconception`
    """

    def register(function: Callable) -> Callable:
        @functools.wraps(function)
        def wrong(*args, **kwargs):
            refuse_bad_arguments(exercise, *args, **kwargs)
            return function(*args, **kwargs)

        wrong.__name__ = name or function.__name__
        misconception(exercise, like)(wrong)
        return function

    return register


def refuse_bad_arguments(exercise: str, *args, **kwargs) -> None:
    """Raise what the reference raises; its answer is thrown away, and no random number is used up."""
    with torch.no_grad(), torch.random.fork_rng(devices=[]):
        reference(exercise)(*args, **kwargs)
