"""Slips in modules and their parameters: what is said of an answer is true of it."""

import pytest
import torch
from torch import nn

from selfcheck import runner
from selfcheck.compare import compare
from selfcheck.diagnose import Key
from selfcheck.generic import named_in_general
from selfcheck.generic_slips import SLIPS
from selfcheck.plan import Check, built, call, linears, tensor

X = tensor([[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]])
SQUARE = {"weight": tensor([[1.0, 2.0, -1.0], [0.5, -1.5, 1.0], [2.0, 0.0, 1.0]])}
NAMES = ("first", "second")


def told(check, right, wrong, step):
    """The difference of a wrong answer from a right one to a step, with its cause."""
    steps = [step.packed()]
    expected, got = (runner.answer(one, steps, "gradient" in check.compares) for one in (right, wrong))
    difference = compare(check, steps[0], expected[0], got[0])
    return named_in_general(Key(check, steps, expected, {}), got, 0, difference)


class Two(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = (nn.Linear(3, 3, bias=False) for _ in range(2))

    def forward(self, x):
        return self.second(self.first(x))


class Shared(Two):
    def __init__(self):
        super().__init__()
        self.second = self.first


class Unused(Two):
    def forward(self, x):
        return self.first(x)


class Nothing(Two):
    def forward(self, x):
        self.second(self.first(x))


STATE = {f"{name}.weight": SQUARE["weight"] for name in NAMES}
STATE["second.weight"] = tensor([[0.5, 1.0, 1.0], [1.0, 0.0, -2.0], [0.0, 3.0, 1.0]])
STEP = built(call(), call(X), state=STATE)


@pytest.mark.parametrize(
    ("compares", "wrong", "cause", "says"),
    [
        ("values", Shared, "one_object", "second.weight and first.weight are one parameter"),
        ("gradient", Shared, "one_object", "one layer was made"),
        ("gradient", Unused, "unused", "does not depend on second.weight"),
        ("gradient", Nothing, "no_return", "got None; is the return statement missing?"),
        ("values", Nothing, "no_return", "got None"),
    ],
)
def test_what_a_module_does_with_its_parameters_is_told(compares, wrong, cause, says):
    found = told(Check("toy.Two", "one", "x", lambda rng: None, compares=(compares,)), Two, wrong, STEP)
    assert found.cause == f"generic.{cause}" and says in found.text, found
    assert found.cause in SLIPS


class SharedAndCut(Shared):
    def forward(self, x):
        return super().forward(x)[:, :2]


@pytest.mark.parametrize(
    ("dtype", "state", "cause"), [("float64", STATE, "generic.one_object"), ("float32", {}, "generic.another_size")]
)
def test_parameters_that_are_tied_where_their_names_are_free_are_no_slip(dtype, state, cause):
    """The output layer of a language model is its embedding, under a second name."""
    check = Check("toy.Two", "one", "x", lambda rng: None, compares=("values",))
    found = told(check, Two, SharedAndCut, built(call(), call(tensor(X.nested(), dtype)), state=state))
    assert (found.kind, found.cause) == ("shape", cause), found


def test_none_from_each_of_two_uses_is_none():
    twice = built(call(), call(X), call(X), state=STATE)
    found = told(Check("toy.Two", "one", "x", lambda rng: None, compares=("values",)), Two, Nothing, twice)
    assert found.cause == "generic.no_return"


def copied(mine, theirs):
    with torch.no_grad():
        for one, other in zip(mine.parameters(), theirs.parameters(), strict=True):
            one.copy_(other)


def once_more(change):
    def answer(mine, theirs):
        before = [one.detach().clone() for one in mine.parameters()]
        copied(mine, theirs)
        with torch.no_grad():
            change(mine, theirs, before)

    return answer


def moved(factor):
    """All parameters go that many times as far as they should."""

    def change(mine, theirs, before):
        for one, old in zip(mine.parameters(), before, strict=True):
            one.copy_(old + factor * (one - old))

    return change


OTHER = {
    "first.weight": tensor([[3.0, 1.0, 0.0], [2.0, 7.0, 1.0], [0.5, 4.0, 9.0]]),
    "second.weight": tensor([[4.0, 0.0, 1.0], [1, 5, 2], [0, 1, 6]]),
}
MODULES = call(linears(NAMES, 3, 3, False, STATE), linears(NAMES, 3, 3, False, OTHER))


@pytest.mark.parametrize(
    ("change", "cause", "says"),
    [
        (lambda m, t, old: m.second.weight.copy_(old[1]), "not_written", "still has its old numbers"),
        (lambda m, t, old: m.second.weight.copy_(t.first.weight), "another_parameter", "belong into first.weight"),
        (lambda m, t, old: m.first.weight.copy_(t.first.weight.T), "transposed", "rows and columns exchanged"),
        (lambda m, t, old: m.first.weight.add_(old[0]), "added_to_old", "the sum of its old numbers"),
        (lambda m, t, old: t.first.weight.zero_(), "other_module_written", "was to stay as it was"),
        (moved(0.25), "another_distance", "All parameters move 0.25 times as far as is due"),
        (moved(2), "another_distance", "is step called twice?"),
        (moved(-1), "other_way", "All parameters move the other way"),
        (lambda m, t, old: m.first.weight.mul_(0.3), "", "the values differ in first.weight"),
    ],
)
def test_what_became_of_a_parameter_is_told(change, cause, says):
    check = Check("toy.copy", "one", "x", lambda rng: None, compares=("state",))
    found = told(check, copied, once_more(change), MODULES)
    assert found.cause == (cause and f"generic.{cause}") and says in found.text, found
