"""What a check of hard attention tells of a row from which nothing is to be drawn."""

import math

import torch

from selfcheck.arrays import pack, unpack
from selfcheck.checks._sequence_to_sequence_draws import drawn_from_nothing

SCORES = torch.tensor([[0.0, -math.inf], [-math.inf] * 2, [-math.inf, 0.0]])
VALUES = torch.tensor([[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0]] * 2, [[7.0, 8.0], [9.0, 1.0]]])
DUE = torch.tensor([[1.0, 2.0], [0.0, 0.0], [9.0, 1.0]])


def told(value):
    step = {"args": [pack(SCORES), pack(VALUES)], "kwargs": {}}
    due, given = ((unpack(pack(one)), unpack(pack(torch.zeros(3)))) for one in (DUE, value))
    return drawn_from_nothing(step, due, given)


def test_a_value_that_is_drawn_where_every_score_is_minus_infinity_is_told():
    drawn = DUE.clone()
    drawn[1] = torch.tensor([5.0, 6.0])
    assert "nothing is drawn there" in told(drawn)


def test_nothing_is_told_where_another_row_is_wrong():
    assert not told(DUE + 1.0)
    assert not told(VALUES[:, 1])
