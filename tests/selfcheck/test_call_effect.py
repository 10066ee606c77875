"""Whether answers depend on a forbidden function that ran is found by moving it, however little a comparison allows."""

import numpy as np
import pytest
import torch

from selfcheck.arrays import pack
from selfcheck.call_effect import BENDS, MOVES, STAYS, UNTOLD, best_name, effect
from selfcheck.call_watch import watching
from selfcheck.eager import nothing_compiled

from .test_call_watch import SOFTMAX, X

CHANCE = torch.Generator().manual_seed(0)


def test_the_mean_over_many_copies_moves_too():
    """Once as it is, and once with what is left of the bend taken out, by noise of one's own."""
    x, copies = X / 4, 200_000

    def mean(noise=0.0):
        return torch.softmax(x.expand(copies, *x.shape) + noise, -1).double().mean(0)

    def corrected():
        torch.manual_seed(0)
        noise = 0.05 * (2 * torch.rand(copies, *x.shape) - 1) * (1 + x.abs())
        return 2 * mean() - mean(noise)

    assert answers_depend(answered(mean)) and answers_depend(answered(corrected))


def answered(function):
    """Asks a function, as the judge asks a package: an error is an answer of its own kind."""

    def ask(bends):
        found = []
        for bend in bends:
            with watching(SOFTMAX, bend):
                try:
                    found.append({"0": [{"value": pack(function())}]})
                except (AssertionError, ValueError) as error:
                    found.append({"0": [{"error": {"type": type(error).__name__}}]})
        return found

    return ask


def answers_depend(ask):
    """What the effect is of moving what ran, by the answers that were given before."""
    (given,) = ask([None])
    found = effect(ask, given)
    assert found in (STAYS, MOVES)
    return found == MOVES


def mine(x=X):
    return x.exp() / x.exp().sum(-1, keepdim=True)


def compared(tolerance, given):
    theirs = torch.softmax(X, -1)
    assert torch.allclose(mine(), theirs, rtol=0, atol=tolerance)
    return given(theirs)


@pytest.mark.parametrize("tolerance", [1e-1, 1e-2, 1e-4, 1e-6])
def test_a_comparison_is_no_use_and_a_use_behind_a_comparison_is_one(tolerance):
    assert not answers_depend(answered(lambda: compared(tolerance, lambda theirs: mine())))
    assert answers_depend(answered(lambda: compared(tolerance, lambda theirs: theirs)))
    assert answers_depend(answered(lambda: compared(tolerance, lambda theirs: theirs.double().numpy().tolist())))
    assert answers_depend(answered(lambda: compared(tolerance, lambda theirs: (theirs + mine()) / 2)))


@pytest.mark.parametrize("tolerance", [1e-4, 1e-5, 1e-6, 3e-7])
def test_half_of_it_behind_a_comparison_is_a_use_however_steep_the_function_is(tolerance):
    """By how much an answer moves with what is given depends on the draw; here it is tried throughout."""
    own = np.float32([0.11, 0.26, 0.63])

    def answer(moved):
        if moved > tolerance:
            return {"error": {"type": "AssertionError"}}
        return {"value": pack((own + np.float32(moved) + own) / 2)}

    for steepness in np.geomspace(0.1, 2.0, 200):

        def ask(bends, steepness=steepness):
            return [{"0": [answer(steepness * (bend or 0.0))]} for bend in bends]

        assert effect(ask, ask([None])[0]) == MOVES, steepness


def test_who_compares_two_calls_and_rounds_counts_as_using_it():
    """A bend that is too weak for the comparison is lost where the answer is rounded; without chance both are alike."""

    def rounded():
        bounded = X.double() - X.double().amax(-1, keepdim=True)
        theirs = torch.softmax(bounded, -1)
        assert (theirs - torch.softmax(bounded, -1)).abs().max() < 2e-12
        return theirs.round(decimals=7)

    assert answers_depend(answered(rounded))


@pytest.mark.parametrize("scale", [1.0, 1e-6])
def test_what_chance_moves_is_told_from_what_the_function_moves(scale):
    """Of a dropout nobody can tell; of the order of a sum, which changes last digits, one can."""

    def drawn():
        return mine().double() * (1 + scale * torch.rand(X.shape, dtype=torch.float64, generator=CHANCE))

    def asked(function):
        ask = answered(function)
        return effect(ask, ask([None])[0])

    def printed():
        str(torch.softmax(X, -1))
        return drawn()

    assert asked(printed) == (UNTOLD if scale == 1.0 else STAYS)
    assert asked(lambda: torch.softmax(X, -1) * drawn()) == (UNTOLD if scale == 1.0 else MOVES)


def test_code_that_looks_at_the_last_bit_counts_as_using_it():
    right = torch.softmax(X.double(), -1)

    def exact():
        theirs = torch.softmax(X.double(), -1)
        if not torch.equal(theirs, right):
            raise ValueError
        return theirs

    assert answers_depend(answered(exact))
    assert len(set(BENDS)) == len(BENDS) and sorted(BENDS, reverse=True) == list(BENDS)


def test_what_does_not_depend_on_it_asks_once():
    asked = []

    def ask(bends):
        asked.extend(bends)
        return answered(mine)(bends)

    assert effect(ask, answered(mine)([None])[0]) == STAYS
    assert asked == [0.0, BENDS[0]]


def is_asked_again():
    return torch.compile.__module__.startswith("selfcheck")


def raises():
    raise ValueError


@pytest.mark.parametrize("otherwise", [raises, mine, lambda: X, lambda: None], ids=["raises", "mine", "other", "none"])
def test_code_that_reacts_to_being_asked_again_counts_as_using_the_function(otherwise):
    def reacts():
        return otherwise() if is_asked_again() else torch.softmax(X, -1)

    expected = STAYS if otherwise is mine else MOVES  # who can answer without the function has no need of it
    ask = answered(reacts)
    assert effect(ask, ask([None])[0]) == expected


@pytest.mark.parametrize("settings", [{}, {"fullgraph": True}, {"backend": "eager", "dynamic": True}])
def test_what_is_compiled_answers_as_it_would_uncompiled(settings):
    """Nothing is compiled when it is asked again, and nothing complains of that."""

    def answer():
        assert torch.allclose(mine(), torch.softmax(X, -1))
        return torch.compile(mine, **settings)(X)

    with nothing_compiled():
        assert torch.compile(mine, **settings) is mine and torch.compile(**settings)(mine) is mine
        assert not answers_depend(answered(answer))


def test_of_code_that_never_answers_as_before_nobody_can_tell():
    numbers = iter(range(1, 100))
    ask = answered(lambda: torch.softmax(X, -1) * 0 + next(numbers))
    given = ask([None])[0]
    ask = answered(lambda: raises() if next(numbers) else torch.softmax(X, -1))
    assert effect(ask, given) == UNTOLD


def test_what_is_not_asked_again_has_no_word_in_it():
    ask = answered(mine)
    assert effect(ask, ask([None])[0] | {"1": [{"value": pack(X)}]}) == STAYS


STOPPED = {"0": [{"error": {"type": "Stopped"}}]}


@pytest.mark.parametrize("answer, expected", [(lambda: torch.softmax(X, -1), MOVES), (mine, STAYS)])
def test_what_a_limit_ended_once_is_asked_once_more(answer, expected):
    asked = []

    def ask(bends):
        asked.append(bends)
        return [STOPPED, STOPPED] if len(asked) == 2 else answered(answer)(bends)

    assert effect(ask, ask([None])[0]) == expected


def test_what_a_limit_ends_whenever_it_is_asked_again_counts_as_using_the_function():
    def ask(bends):
        return answered(lambda: torch.softmax(X, -1))(bends) if None in bends else [STOPPED] * len(bends)

    assert effect(ask, ask([None])[0]) == MOVES


def test_of_what_a_limit_ends_in_any_case_nobody_can_tell():
    (given,) = answered(mine)([None])
    assert effect(lambda bends: [STOPPED] * len(bends), given) == UNTOLD


def test_the_function_is_named_as_one_would_write_it():
    ran = ["torch.nn.Softmax.__init__", "torch.nn.Softmax.forward", "torch.softmax"]
    assert best_name(ran, SOFTMAX) == "torch.nn.Softmax"
    assert best_name(["made up by a hostile process"], SOFTMAX) == "a function that is forbidden here"
