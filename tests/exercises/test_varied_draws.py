"""What is right in float64 or in evaluation alone, or drops the same each time, is not right: a hidden draw tells."""

import inspect
import json

import pytest

from autograder.answer_key.checks import seed_of, visible_checks
from autograder.answer_key.keys import asked_last, trains_a_model
from autograder.answer_key.live import answers_of, live_key
from autograder.answer_key.long_axes import long_places
from autograder.answer_key.reference_package import reference
from autograder.answer_key.varied import NEAR, SILENT_AT_0, with_a_long_axis
from autograder.authoring import proofs
from autograder.course.policy import GradingPolicy
from selfcheck.arrays import Array, unpack
from selfcheck.catalogue import exercises
from selfcheck.diagnose import Key
from selfcheck.plan import Draw
from selfcheck.trees import leaves
from selfcheck.verdict import judge

from .parts import proof_of_an_exercise

torch = pytest.importorskip("torch")
POLICY = GradingPolicy(b"varied")
BY_ID = {one.id: one for one in exercises()}
MODULES = [one for one in BY_ID.values() if isinstance(reference(one.id), type) and one.symbol != "KeyValueCache"]
UNTAUGHT = [one for one in MODULES if not trains_a_model(one)]
IN_FLOAT32 = [one for one in exercises() if any(asked_last(one, c).tolerance == NEAR for c in visible_checks(one))]
NO_TENSOR = ("train_step",)  # is what a call of it returns
name_of = "{0.number}-{0.id}".format


def is_in_half(step):
    return any(f'"{dtype}"' in json.dumps(step) for dtype in ("float16", "bfloat16"))


def lost(exercise, symbol):
    """The checks at which an answer has no point."""
    keys = proofs.keys_of(exercise, POLICY)
    return {one.check for one in judge(exercise, keys, proofs.answers_of(symbol, keys)).checks if not one.points}


def changed(symbol, change):
    """The reference's function or class, of whose result something else is made."""
    if not isinstance(symbol, type):
        return lambda *args, **kwargs: change(None, symbol(*args, **kwargs))

    name = "append" if symbol.__name__ == "KeyValueCache" else "forward"
    own = getattr(symbol, name)
    return type("Changed", (symbol,), {name: lambda self, *args, **kwargs: change(self, own(self, *args, **kwargs))})


def silenced(result, is_wrong):
    if isinstance(result, tuple):
        return tuple(silenced(part, is_wrong) for part in result)
    return result * 0 if isinstance(result, torch.Tensor) and is_wrong(result) else result


def test_the_modules_that_are_random_by_their_dropout_alone_are_those_that_take_one():
    taking = {one.id for one in MODULES if "dropout" in inspect.signature(reference(one.id)).parameters}
    assert taking == set(SILENT_AT_0)


@proof_of_an_exercise
@pytest.mark.parametrize("exercise", IN_FLOAT32, ids=name_of)
def test_draws_in_float32_ask_for_no_digit_that_float32_does_not_have(exercise):
    for check in visible_checks(exercise):
        asked = asked_last(exercise, check)
        if asked.tolerance != NEAR:
            continue
        seed = seed_of(POLICY.secret, check)
        calls = with_a_long_axis(check, Draw(seed), long_places(exercise).get(check.name, ()))
        wide = answers_of(reference(exercise.id), Key(check, calls, [], {}, reveal=False))
        narrow = live_key(asked, seed, names=False).expected
        for one, other in zip(map(numbers, wide), map(numbers, narrow), strict=True):
            assert one == pytest.approx(other, rel=NEAR / 4, abs=NEAR / 4, nan_ok=True), check.name


def numbers(answer):
    trees = [answer["value"], *answer.get("gradients", {}).values()]
    return [
        entry for tree in trees for leaf in leaves(unpack(tree)) if isinstance(leaf, Array) for entry in leaf.values()
    ]


@proof_of_an_exercise
@pytest.mark.parametrize("exercise", [one for one in IN_FLOAT32 if one.symbol not in NO_TENSOR], ids=name_of)
def test_what_is_right_in_float64_alone_loses_points(exercise):
    def change(module, result):
        return silenced(result, lambda part: part.dtype == torch.float32)

    assert lost(exercise, changed(reference(exercise.id), change))


@proof_of_an_exercise
@pytest.mark.parametrize("exercise", UNTAUGHT, ids=name_of)
def test_what_is_right_in_evaluation_alone_loses_points(exercise):
    def change(module, result):
        return silenced(result, lambda part: module.training)

    otherwise = {
        check.name
        for check in visible_checks(exercise)
        if in_training(asked_last(exercise, check)) and not in_training(check)
    }
    assert otherwise & lost(exercise, changed(reference(exercise.id), change))


def in_training(check):
    return any(step.get("training") for step in check.calls(0))


DROPPING = ("encoder.EncoderLayer", "encoder.FeedForward", "decoder.DecoderLayer", "multi_head.MultiHeadAttention")


@proof_of_an_exercise
@pytest.mark.parametrize("exercise", [BY_ID[name] for name in (*DROPPING, "positions.PositionalEncoding")], ids=name_of)
def test_what_drops_the_same_at_each_call_loses_points(exercise):
    class Seeded(reference(exercise.id)):
        def forward(self, *args, **kwargs):
            with torch.random.fork_rng():
                torch.manual_seed(7)
                return super().forward(*args, **kwargs)

    assert lost(exercise, Seeded)


@proof_of_an_exercise
@pytest.mark.parametrize("exercise", [BY_ID[name] for name in (*DROPPING, "positions.PositionalEncoding")], ids=name_of)
def test_what_drops_the_same_of_each_sequence_loses_points(exercise):
    class Alike(reference(exercise.id)):
        def forward(self, *args, **kwargs):
            if not self.training or any(kwargs.values()) or args[0].dim() < 2:
                return super().forward(*args, **kwargs)
            one, count = [arg[:1] for arg in args], len(args[0])
            found = super().forward(*one, **kwargs)
            repeat = [count] + [1] * (args[0].dim() - 1)
            return (found[0].repeat(repeat), found[1]) if isinstance(found, tuple) else found.repeat(repeat)

    assert lost(exercise, Alike)


@proof_of_an_exercise
@pytest.mark.parametrize("exercise", [BY_ID[name] for name in DROPPING], ids=name_of)
def test_what_drops_the_same_of_each_token_loses_points(exercise, monkeypatch):
    own = torch.nn.functional.dropout

    def for_all_tokens(x, p=0.5, training=True, inplace=False):
        shared = x[..., :1, :] if x.dim() > 2 else x
        return x * own(torch.ones_like(shared), p, training)

    keys = proofs.keys_of(exercise, POLICY)
    monkeypatch.setattr(torch.nn.functional, "dropout", for_all_tokens)
    answers = proofs.answers_of(reference(exercise.id), keys)
    assert judge(exercise, keys, answers).points < exercise.max_points


RECORDING = [
    one for one in exercises() if any("gradient" in c.compares and c.view is None for c in visible_checks(one))
]


@proof_of_an_exercise
@pytest.mark.parametrize("exercise", RECORDING, ids=name_of)
def test_what_is_right_where_no_gradients_are_recorded_alone_loses_points(exercise):
    assert lost(exercise, changed(reference(exercise.id), lambda _, result: moved(result)))


HALF = (torch.float16, torch.bfloat16)
IN_HALF = [
    one
    for one in exercises()
    if any("dtype" in check.compares and any(map(is_in_half, check.calls(0))) for check in visible_checks(one))
]


@proof_of_an_exercise
@pytest.mark.parametrize("exercise", IN_HALF, ids=name_of)
def test_what_is_wrong_in_half_precision_alone_loses_points(exercise):
    def change(module, result):
        return silenced(result, lambda part: part.dtype in HALF)

    assert lost(exercise, changed(reference(exercise.id), change))


def moved(result):
    """Other numbers, with the same gradients."""
    if isinstance(result, tuple):
        return tuple(map(moved, result))
    return result + 1 if isinstance(result, torch.Tensor) and result.requires_grad else result
