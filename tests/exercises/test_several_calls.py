"""What an object was given in one call does not hold for the next: an answer that keeps any of it loses points."""

import inspect

import pytest

from autograder.answer_key.reference_package import reference
from selfcheck.catalogue import exercises

from .parts import proof_of_an_exercise
from .test_long_axes import name_of, points_of

torch = pytest.importorskip("torch")


def forward_of(exercise):
    return getattr(reference(exercise.id), "forward", None)


MODULES = [one for one in exercises() if forward_of(one)]
OPTIONAL = [
    pytest.param(one, name, id=f"{name_of(one)} {name}")
    for one in MODULES
    for name, parameter in inspect.signature(forward_of(one)).parameters.items()
    if "mask" in name and parameter.default is None
]


def that_remembers(symbol, name):
    """The reference, which takes an argument that is left out from the last call that had it, where it fits."""
    signature = inspect.signature(symbol.forward)

    def forward(self, *args, **kwargs):
        given = signature.bind(self, *args, **kwargs)
        kept = self.__dict__.setdefault("_kept_masks", {})
        shapes = [getattr(value, "shape", None) for key, value in given.arguments.items() if "mask" not in key][1:]
        if given.arguments.get(name) is not None:
            kept[str(shapes)] = given.arguments[name]
        elif str(shapes) in kept:
            given.arguments[name] = kept[str(shapes)]
        return symbol.forward(*given.args, **given.kwargs)

    return type(symbol.__name__, (symbol,), {"forward": forward})


def that_answers_as_before(symbol):
    """The reference, which gives its first answer to all arguments of the same shapes in the same mode."""

    def forward(self, *args, **kwargs):
        tensors = [getattr(value, "shape", value) for value in (*args, *kwargs.values())]
        key = str((self.training, list(kwargs), tensors))
        kept = self.__dict__.setdefault("_kept_answers", {})
        if key not in kept:
            kept[key] = symbol.forward(self, *args, **kwargs)
        return kept[key]

    return type(symbol.__name__, (symbol,), {"forward": forward})


@proof_of_an_exercise
@pytest.mark.parametrize(("exercise", "name"), OPTIONAL)
def test_a_mask_holds_for_its_own_call_alone(exercise, name):
    assert points_of(exercise, that_remembers(reference(exercise.id), name)) < exercise.max_points


@proof_of_an_exercise
@pytest.mark.parametrize("exercise", MODULES, ids=name_of)
def test_an_answer_is_given_for_its_own_call_alone(exercise):
    assert points_of(exercise, that_answers_as_before(reference(exercise.id))) < exercise.max_points
