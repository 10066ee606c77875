"""A module that begins with NaN or infinite parameters is no answer: every check that builds one fails."""

import math

import pytest

from autograder.answer_key.checks import hidden_checks, visible_checks
from selfcheck import runner
from selfcheck.arrays import pack
from selfcheck.catalogue import exercises
from selfcheck.module_state import StateMismatch, set_state

torch = pytest.importorskip("torch")
WITHOUT_PARAMETERS = {"positions.PositionalEncoding", "efficient.KeyValueCache"}
CLASSES = [one for one in exercises() if one.symbol[:1].isupper() and one.id not in WITHOUT_PARAMETERS]


def spoilt(symbol, number, place):
    """A class like this one, whose parameter of this place begins with such a number."""

    class Spoilt(symbol):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            list(self.parameters())[place].data.flatten()[-1:].fill_(number)

    return Spoilt


@pytest.mark.parametrize("exercise", CLASSES, ids=lambda one: one.id)
def test_a_module_that_begins_with_nan_or_inf_loses_every_check_that_builds_one(exercise):
    symbol = runner.find(exercise.id)
    for check in (*visible_checks(exercise), *hidden_checks(exercise)):
        for number, place in ((math.nan, 0), (math.inf, -1)):
            answers = runner.answer(spoilt(symbol, number, place), check.calls(1))
            kinds = {answer.get("error", {}).get("type") for answer in answers}
            assert "StateMismatch" in kinds, (check.name, kinds)


def test_what_is_not_learned_may_be_infinite():
    """Such as a mask that is added to scores, or a buffer of memory that nothing has filled yet."""

    class Masked(torch.nn.Linear):
        def __init__(self):
            super().__init__(2, 2)
            self.mask = torch.nn.Parameter(torch.full((2, 2), -math.inf), requires_grad=False)
            self.register_buffer("empty", torch.full((2,), math.nan))

    assert "mask" in set_state(Masked(), {})
    with pytest.raises(StateMismatch, match="the parameter mask begins with NaN or infinite numbers"):
        set_state(Masked(), {"mask": pack(torch.zeros(2, 2))})
