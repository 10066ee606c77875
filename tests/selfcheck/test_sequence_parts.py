"""What checks of hard attention and of hierarchical attention tell of a wrong answer."""

import math

import torch

from selfcheck.arrays import pack, unpack
from selfcheck.checks._sequence_to_sequence_draws import drawn_from_nothing
from selfcheck.checks._sequence_to_sequence_parts import other_weights

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


def told_of_words(weights, bend=lambda vectors: vectors):
    """Of one document with one sentence of three words, four features wide; bend: what is done to the vectors first."""
    words = torch.tensor([[0.5, 1.0, -2.0, 0.3], [1.5, -0.4, 0.7, 0.2], [-1.0, 0.6, 0.1, 2.0]], dtype=torch.float64)
    right = torch.tensor([[0.2, 0.3, 0.5]], dtype=torch.float64) @ words
    given = torch.tensor([weights], dtype=torch.float64) @ bend(words)
    return other_weights({"uses": [{"args": [pack(words[None, None])]}]}, unpack(pack(right)), unpack(pack(given)))


def test_a_mean_of_the_right_words_is_told_with_its_weights():
    assert "other weights: 0.1, 0.1, 0.8 where 0.2, 0.3, 0.5 are due" in told_of_words([0.1, 0.1, 0.8])


def test_a_mean_of_other_vectors_is_not_told_as_one_of_the_right_words():
    assert not told_of_words([0.1, 0.1, 0.8], torch.tanh)
