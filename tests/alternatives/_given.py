"""Puts the argument checks that a stub gives in front of a right answer, as in a learner's own file."""

import functools
from collections.abc import Callable

import torch

from autograder.answer_key.reference_package import reference

from . import alternative


def below_given_checks(exercise: str, *left_out: str) -> Callable[[Callable], Callable]:
    """Register an alternative that refuses bad arguments as the reference does, whose own answer is thrown away.

    left_out: arguments by name that are the alternative's own business
    """

    def register(function: Callable) -> Callable:
        @functools.wraps(function)
        def whole(*args, **kwargs):
            with torch.no_grad():
                reference(exercise)(*args, **{name: value for name, value in kwargs.items() if name not in left_out})
            return function(*args, **kwargs)

        return alternative(exercise)(whole)

    return register
