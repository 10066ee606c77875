"""What torch says when a module is written wrongly, in the words of the torch that is installed, and what we add."""

import pytest
import torch
from torch import nn

from selfcheck.exceptions import explain
from selfcheck.traces import describe


class NoSuper(nn.Module):
    def __init__(self):
        self.layer = nn.Linear(2, 2)


class ParameterWithoutSuper(nn.Module):
    def __init__(self):
        self.weight = nn.Parameter(torch.ones(2))


def a_plain_tensor_for_a_parameter():
    nn.Linear(2, 2).weight = torch.ones(2, 2)


@pytest.mark.parametrize(
    ("slip", "says"),
    [
        (NoSuper, "nn.Module's own __init__ makes room for layers"),
        (ParameterWithoutSuper, "nn.Module's own __init__ makes room for layers"),
        (lambda: torch.ones(2, 3, 4).reshape(2, 2, 3, 4), "reshape keeps the number of entries"),
        (lambda: torch.ones(2, 3, 4).transpose(1, 2).view(2, 12), "After a transpose the entries lie out of order"),
        (lambda: nn.Linear(2, 2)(torch.ones(2, dtype=torch.float64)), "a new tensor is float32 unless you say dtype"),
        (
            lambda: torch.ones(2, 2) @ torch.ones(2, 2, dtype=torch.float64),
            "a new tensor is float32 unless you say dtype",
        ),
        (lambda: nn.Linear(2, 2).weight.copy_(torch.ones(2, 2)), "cannot be changed in place"),
        (a_plain_tensor_for_a_parameter, "cannot take the place of a parameter"),
    ],
)
def test_torchs_words_are_explained(slip, says):
    with pytest.raises((RuntimeError, AttributeError, TypeError)) as caught:
        slip()
    kind, text = explain("masks.causal_mask", describe(caught.value), reveal=True)
    assert kind == "raised" and says in text, text
