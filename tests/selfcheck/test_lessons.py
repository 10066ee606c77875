"""A model that knows its lessons by heart has not learnt what they teach."""

import pytest
import torch
from torch import nn

from autograder.answer_key.checks import hidden_checks, visible_checks
from selfcheck import runner
from selfcheck.arrays import unpack
from selfcheck.catalogue import exercises

LEARNS = ("text_learns", "text_order", "text_learns_with_empty", "pair_learns")
CHECKS = {one.name: one for part in exercises() for one in visible_checks(part) + hidden_checks(part)}
WIDTH = 64


class ByHeart(nn.Module):
    """A random vector for each text, of which no two are alike, and one linear layer."""

    def __init__(self, outputs):
        super().__init__()
        self.output, self.vectors = nn.Linear(WIDTH, outputs), {}

    def vector(self, *rows):
        words = tuple(tuple(row.tolist()) for row in rows)
        if words not in self.vectors:
            self.vectors[words] = torch.randn(WIDTH)
        return self.vectors[words]

    def forward(self, *texts):
        logits = self.output(torch.stack([self.vector(*rows) for rows in zip(*texts, strict=True)]))
        return logits[:, 0] if logits.shape[1] == 1 else logits


def by_heart(vocab_size, *sizes, **more):
    return ByHeart(sizes[0] if len(sizes) >= 5 else 1)  # a classifier is built with one size more


@pytest.mark.parametrize("name", LEARNS)
def test_who_knows_the_lessons_by_heart_fails_what_was_not_in_them(name):
    check = CHECKS[name]
    (step,) = check.calls(1)
    (answer,) = runner.answer(by_heart, [step])
    assert check.view(step, unpack(answer["value"])).values() == [0]
