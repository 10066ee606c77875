"""Where parameters are so large that a right model may overflow, no point depends on its numbers being finite."""

import math

import pytest

from autograder.answer_key.checks import hidden_checks
from selfcheck.arrays import pack
from selfcheck.catalogue import exercises
from selfcheck.compare import compare

NAMES = ("text_padding_layers", "pair_padding_most", "translator_padding_most")
CHECKS = {check.name: check for exercise in exercises() for check in hidden_checks(exercise) if check.name in NAMES}


def shape_of(name):
    return {"text_padding_layers": (3, 2), "pair_padding_most": (3,), "translator_padding_most": (3, 2, 2)}[name]


def answered(step, name, *numbers):
    """An answer with multiples of one number for each use, of the last of them for all further uses."""
    import torch

    factors = torch.arange(1.0, 1.0 + shape_of(name)[-1]).expand(shape_of(name))
    return {"value": pack(tuple(factors * numbers[min(at, len(numbers) - 1)] for at in range(len(step["uses"]))))}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("number", [math.nan, math.inf], ids=str)
def test_a_model_that_overflows_whatever_its_padding_passes_there_and_nowhere_else(name, number):
    check = CHECKS[name]
    for step in check.calls(1):
        same = answered(step, name, 0.5)
        difference = compare(check, step, same, answered(step, name, number), False)
        assert (difference is None) == (step.get("stirred") == 1000.0)
        assert compare(check, step, same, answered(step, name, 1.5, number), False) is not None
        assert compare(check, step, same, answered(step, name, 1.5, 2.5), False) is not None
        assert compare(check, step, same, same, False) is None
