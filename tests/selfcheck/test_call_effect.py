"""Whether answers depend on a forbidden function that ran is found by moving it, however little a comparison allows."""

import builtins

import numpy as np
import pytest
import torch

from selfcheck import runner
from selfcheck.arguments import tensor
from selfcheck.arrays import pack
from selfcheck.call_effect import BENDS, MOVES, STAYS, UNTOLD, Bend, as_watched, best_name, effect
from selfcheck.call_watch import watching
from selfcheck.eager import nothing_compiled
from selfcheck.plan import call

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
    """Asks a function, as the judge asks a package: an error is an answer of its own kind.

    Of a function alone no branches are recorded: one that raises only behind a bend is to be asked as a package.
    """

    def ask(bends):
        found = []
        for bend in bends:
            with watching(SOFTMAX, bend and bend.by):
                try:
                    found.append({"0": [{"value": pack(function())}]})
                except (AssertionError, ValueError) as error:
                    found.append({"0": [{"error": {"type": type(error).__name__}}]})
        return found

    return ask


PACKAGE = """
import numpy as np
import torch


def mine(x):
    return x.exp() / x.exp().sum(-1, keepdim=True)
"""
PLANS = {"0": {"calls": [call(tensor(X.tolist(), "float32")).packed()]}}


@pytest.fixture
def package(tmp_path):
    """Asks the function `answer` of a package, of which the text is given, below that of PACKAGE."""
    folder = tmp_path / "attention"
    folder.mkdir()
    (folder / "__init__.py").touch()

    def asks(text):
        (folder / "masks.py").write_text(PACKAGE + text)

        def ask(bends):
            found = []
            for bend in bends:
                with runner.fresh_package(str(tmp_path)):
                    watch = {"forbidden": SOFTMAX, "importing": SOFTMAX, **as_watched(bend)}
                    found.append(runner.answer_exercise("masks.answer", PLANS, watch))
            return found

        return ask

    return asks


def answers_depend(ask):
    """What the effect is of moving what ran, by the answers that were given before."""
    (given,) = ask([None])
    found = effect(ask, given)
    assert found in (STAYS, MOVES)
    return found == MOVES


def mine(x=X):
    return x.exp() / x.exp().sum(-1, keepdim=True)


COMPARED = """

def answer(x):
    theirs = torch.softmax(x, -1)
    assert torch.allclose(mine(x), theirs, rtol=0, atol={tolerance})
    return {given}
"""


@pytest.mark.parametrize("tolerance", [1e-1, 1e-2, 1e-4, 1e-6])
def test_a_comparison_is_no_use_and_a_use_behind_a_comparison_is_one(package, tolerance):
    def depends(given):
        return answers_depend(package(COMPARED.format(tolerance=tolerance, given=given)))

    assert not depends("mine(x)")
    assert depends("theirs")
    assert depends("theirs.double().numpy().tolist()")
    assert depends("(theirs + mine(x)) / 2")


#: Ways to compare, of which a right answer may take any; each ends the code where `theirs` is another.
COMPARISONS = {
    "assert": "assert torch.allclose(own, theirs)",
    "raise": "if not torch.allclose(own, theirs):\n        raise ValueError",
    "of torch": "torch.testing.assert_close(own, theirs)",
    "of NumPy": "np.testing.assert_allclose(own.numpy(), theirs.numpy(), rtol=1e-5)",
    "asserted": "assert torch.testing.assert_close(own, theirs) is None",
    "in a function": "same(own, theirs)",
    "kept": "result = same(own, theirs)",
    "in a lambda": "(lambda a, b: same(a, b))(own, theirs)",
    "exit": "if (own - theirs).abs().max() > 1e-5:\n        raise SystemExit",
    "in a loop": "for a, b in zip(own, theirs):\n        assert all(torch.allclose(c, d) for c, d in zip(a, b))",
    "return behind it": "if torch.allclose(own, theirs):\n        return own\n    raise ValueError",
    "one by one": "for a, b in zip(own.flatten(), theirs.flatten()):\n        assert (a - b).abs() < 1e-5",
    "return in the middle": "if not torch.allclose(own, theirs):\n        return None",
    "caught": "try:\n        same(own, theirs)\n    except AssertionError as error:\n        raise OSError from error",
}
SAME = """

def same(one, other):
    return torch.testing.assert_close(one, other)


def answer(x):
    own, theirs = mine(x), torch.softmax(x, -1)
    {comparison}
    return own
"""
#: It takes no bend that leaves a trace in the rounded answer: shares stay where a number is added to all scores.
ROUNDED = """

def answer(x):
    scores = x.double() - x.double().amax(-1, keepdim=True)
    own = torch.softmax(scores, -1)
    theirs = torch.softmax(scores + 1.0, -1)
    same = (own - theirs).abs().max() < 2e-12
    {comparison}
    return own.round(decimals=7)
"""


@pytest.mark.parametrize("comparison", COMPARISONS.values(), ids=COMPARISONS)
def test_a_right_answer_may_compare_as_it_likes(package, comparison):
    assert not answers_depend(package(SAME.format(comparison=comparison)))


def test_a_right_answer_may_compare_while_it_is_imported(package):
    tried = "\n\nx = torch.linspace(-1, 1, 12).reshape(3, 4)\nassert torch.allclose(answer(x), torch.softmax(x, -1))\n"
    assert not answers_depend(package("\n\ndef answer(x):\n    return mine(x)\n" + tried))
    flagged = tried.replace("assert ", "fits = ")
    assert not answers_depend(package(flagged.replace("answer(x)", "mine(x)", 1) + CHECKED))


CHECKED = """

def answer(x):
    if not fits:
        raise ValueError
    return mine(x)
"""


@pytest.mark.parametrize(
    "comparison",
    [
        "assert same",
        "if not same:\n        raise ValueError",
        "if not same:\n        [][0]",
        "own = [own][1 - int(same)]",
        "own = own / (1 if same else 'nothing')",
        "while not same:\n        raise SystemExit",
        "if not same:\n        return None",
        "own = [None, own][int(same)]",
    ],
)
def test_who_compares_and_rounds_counts_as_using_it(package, comparison):
    assert answers_depend(package(ROUNDED.format(comparison=comparison)))


#: Of it the answer takes nothing but branches.
READ_OFF = """

def below(one, other):
    return True if one < other else False


def answer(x):
    scores = x.double() - x.double().amax(-1, keepdim=True)
    theirs = torch.softmax(scores, -1)
    if not below((theirs - torch.softmax(scores + 1.0, -1)).abs().max(), 2e-12):
        raise ValueError
    found = torch.zeros_like(theirs)
    for i, j in torch.cartesian_prod(*map(torch.arange, x.shape)):
        low, high = 0.0, 1.0
        for _ in range(24):
            middle = (low + high) / 2
            low, high = (low, middle) if below(theirs[i, j], middle) else (middle, high)
        found[i, j] = low
    return found
"""


def test_an_answer_that_is_read_off_by_comparisons_is_a_use(package):
    assert answers_depend(package(READ_OFF))


KEPT = """
import builtins

kept = vars(builtins).setdefault("kept", {})


def answer(x):
    scores = x.double() - x.double().amax(-1, keepdim=True)
    if str(x) not in kept:
        own = torch.softmax(scores, -1)
        assert (own - torch.softmax(scores + 1.0, -1)).abs().max() < 2e-12
        kept[str(x)] = own.round(decimals=7)
    return kept[str(x)]
"""


def test_what_takes_the_same_branches_is_a_process_of_its_own(package):
    """In one process the answer of an earlier run could be kept; here processes are played by what they hold."""
    ask = package(KEPT)

    def apart(bends):
        found = []
        for bend in bends:
            vars(builtins).pop("kept", None)
            found += ask([bend])
        return found

    assert answers_depend(apart)
    vars(builtins).pop("kept", None)


@pytest.mark.parametrize("tolerance", [1e-4, 1e-5, 1e-6, 3e-7])
def test_half_of_it_behind_a_comparison_is_a_use_however_steep_the_function_is(tolerance):
    """By how much an answer moves with what is given depends on the draw; here it is tried throughout."""
    own = np.float32([0.11, 0.26, 0.63])

    def answer(moved, compares):
        if compares and moved > tolerance:
            return {"error": {"type": "AssertionError"}}
        return {"value": pack((own + np.float32(moved) + own) / 2)}

    for steepness in np.geomspace(0.1, 2.0, 200):

        def ask(bends, steepness=steepness):
            asked = [bend or Bend(0.0) for bend in bends]
            return [{"0": [answer(steepness * one.by, not one.branches) | {"branches": "x"}]} for one in asked]

        assert effect(ask, ask([None])[0]) == MOVES, steepness


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
    assert asked == [Bend(0.0), Bend(BENDS[0])]


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
def test_what_is_compiled_answers_as_it_would_uncompiled(package, settings):
    """Nothing is compiled when it is asked again, and nothing complains of that."""
    compiled = (
        f"def answer(x):\n    same(mine(x), torch.softmax(x, -1))\n    return torch.compile(mine, **{settings})(x)\n"
    )
    with nothing_compiled():
        assert torch.compile(mine, **settings) is mine and torch.compile(**settings)(mine) is mine
        assert not answers_depend(package(SAME.partition("\n\ndef answer")[0] + "\n\n" + compiled))


def test_where_the_branches_cannot_be_recorded_nobody_can_tell(package):
    ask = package(SAME.format(comparison=COMPARISONS["assert"]))

    def stopped(bends):
        return [STOPPED if bend and bend.branches else answers for bend, answers in zip(bends, ask(bends), strict=True)]

    assert effect(stopped, ask([None])[0]) == UNTOLD


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
    assert best_name(["torch.nn.Softmax.forward", "torch.softmax"], SOFTMAX) == "torch.nn.Softmax"
    assert best_name(["made up by a hostile process"], SOFTMAX) == "a function that is forbidden here"
