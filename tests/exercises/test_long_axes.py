"""Every axis of every argument is long in some hidden draw: an answer that is right for few entries alone loses points.

An axis is named by its argument and counted from the end; so are whole numbers that are arguments.
"""

import functools
import inspect
from collections.abc import Iterator

import pytest

from autograder.answer_key import long_axes
from autograder.answer_key.checks import visible_checks
from autograder.answer_key.keys import asked_last
from autograder.answer_key.live import answers_of
from autograder.answer_key.long_axes import LONG, sizes_in
from autograder.answer_key.reference_package import reference
from autograder.authoring import proofs
from autograder.build import choose_long_axes
from autograder.build.choose_long_axes import alike
from autograder.course.policy import GradingPolicy
from selfcheck.catalogue import exercises
from selfcheck.diagnose import Key
from selfcheck.verdict import judge

from .parts import parts_of_module, proof_of_an_exercise

torch = pytest.importorskip("torch")
POLICY = GradingPolicy(b"long axes")
DRAWS = range(100, 112)  # seeds, other than those by which `build` has chosen
NO_SIZES = ("end_id", "model", "score")  # an id, and functions that are described by arrays
name_of = "{0.number}-{0.id}".format
MODULES = sorted({one.module for one in exercises()})


@pytest.mark.parametrize("module", MODULES)
@pytest.mark.proof(depends=lambda module: parts_of_module(module), area="exercises/long_axes")
def test_the_chosen_axes_are_up_to_date(module):
    ((name, text),) = choose_long_axes.texts(module).items()
    assert (long_axes.HERE / name).read_text(encoding="utf-8") == text, "python -m autograder build"


@proof_of_an_exercise
@pytest.mark.parametrize("exercise", exercises(), ids=name_of)
def test_the_reference_answers_to_long_axes_as_to_short_ones(exercise):
    """Else a release would end, or a draw of the answer key would ask for an exception."""
    for check in visible_checks(exercise):
        asked = asked_last(exercise, check)
        for seed in DRAWS:
            short, long = (Key(one, one.calls(seed), [], {}, reveal=False) for one in (check, asked))
            if check.name in long_axes.long_places(exercise):
                answers = [answers_of(reference(exercise.id), key) for key in (short, long)]
                assert all(map(alike, *answers)), check.name


def signature_of(symbol):
    if not isinstance(symbol, type):
        return inspect.signature(symbol)
    method = symbol.append if symbol.__name__ == "KeyValueCache" else getattr(symbol, "forward", symbol.__call__)
    own = inspect.signature(method)
    return own.replace(parameters=list(own.parameters.values())[1:])


def argument_of(place, names):
    """The argument that a place belongs to and its axis, None of a number: ("query", -2), ("max_length", None)."""
    parts = [part for part in place.split(".") if part not in ("uses", "items")]
    if parts[0] == "construct":
        return None
    axis = int(parts[-1]) if parts[-1].startswith("-") else None
    name = names[min(int(parts[1]), len(names) - 1)] if parts[0] == "args" else parts[1]
    return name, axis


def axes_of(exercise):
    names = list(signature_of(reference(exercise.id)).parameters)
    checks = [check for check in visible_checks(exercise) if {"values", "gradient"} & set(check.compares)]
    steps = [step for check in checks for step in check.calls(0) if not step.get("lessons")]
    found = {argument_of(place, names) for step in steps for place in sizes_in(step)}
    return sorted((one for one in found if one and one[0] not in NO_SIZES), key=str)


AXES = [
    pytest.param(one, axis, id=f"{name_of(one)} {axis[0]}[{axis[1]}]") for one in exercises() for axis in axes_of(one)
]


def is_long(value, axis):
    if isinstance(value, (list, tuple)) and axis is not None and not isinstance(value[0], (int, float, list)):
        return any(is_long(part, axis) for part in value)
    if axis is None:
        return isinstance(value, int) and value >= LONG
    if isinstance(value, list):
        value = torch.tensor(value)
    shape = getattr(value, "shape", ())
    return len(shape) >= -axis and shape[axis] >= LONG


def silenced(result):
    if isinstance(result, (tuple, list)):
        return type(result)(map(silenced, result))
    if isinstance(result, torch.Tensor):
        return result * 0 if result.is_floating_point() else torch.zeros_like(result)
    return result * 0


def right_where_it_is_short(symbol, name, axis):
    """The reference, whose answer is zeros where an axis of an argument is long."""
    signature = signature_of(symbol)

    def answer(own, *args, **kwargs):
        given = signature.bind(*args, **kwargs)
        value = given.arguments.get(name, ())
        if isinstance(value, Iterator):
            value = given.arguments[name] = list(value)
        result = own(*given.args, **given.kwargs)
        return silenced(result) if is_long(value, axis) else result

    if not isinstance(symbol, type):
        return lambda *args, **kwargs: answer(symbol, *args, **kwargs)

    method = "append" if symbol.__name__ == "KeyValueCache" else "forward"
    own = getattr(symbol, method)

    def instead(self, *args, **kwargs):
        return answer(functools.partial(own, self), *args, **kwargs)

    return type(symbol.__name__, (symbol,), {method: instead})


def points_of(exercise, symbol):
    keys = proofs.keys_of(exercise, POLICY)
    return judge(exercise, keys, proofs.answers_of(symbol, keys)).points


@proof_of_an_exercise
@pytest.mark.parametrize("exercise", exercises(), ids=name_of)
def test_what_is_wrong_for_no_axis_has_all_points(exercise):
    assert (
        points_of(exercise, right_where_it_is_short(reference(exercise.id), "no argument", None)) == exercise.max_points
    )


@proof_of_an_exercise
@pytest.mark.parametrize(("exercise", "axis"), AXES)
def test_what_is_right_for_short_axes_alone_loses_points(exercise, axis):
    symbol = right_where_it_is_short(reference(exercise.id), *axis)
    assert points_of(exercise, symbol) < exercise.max_points
