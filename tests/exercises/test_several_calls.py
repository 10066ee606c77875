"""What an object was given in one call does not hold for the next: an answer that keeps any of it loses points."""

import pytest

from autograder.answer_key.reference_package import reference
from selfcheck.catalogue import exercises

from .parts import proof_of_an_exercise
from .test_long_axes import name_of, points_of, signature_of

torch = pytest.importorskip("torch")


MODULES = [one for one in exercises() if hasattr(reference(one.id), "forward")]
OPTIONAL = [
    pytest.param(one, name, id=f"{name_of(one)} {name}")
    for one in MODULES
    for name, parameter in signature_of(reference(one.id)).parameters.items()
    if "mask" in name and parameter.default is None
]


def that_remembers(symbol, name):
    """The reference, which takes an argument that is left out from the last call that had it, where it fits."""
    signature = signature_of(symbol)

    def forward(self, *args, **kwargs):
        given = signature.bind(*args, **kwargs)
        kept = self.__dict__.setdefault("_kept_masks", {})
        shapes = str([getattr(value, "shape", None) for key, value in given.arguments.items() if "mask" not in key])
        if given.arguments.get(name) is not None:
            kept[shapes] = given.arguments[name]
        elif shapes in kept:
            given.arguments[name] = kept[shapes]
        return symbol.forward(self, *given.args, **given.kwargs)

    return type(symbol.__name__, (symbol,), {"forward": forward})


def that_answers_as_before(symbol):
    """The reference, which gives its first answer to all arguments of the same shapes in the same mode."""

    def forward(self, *args, **kwargs):
        shapes = [getattr(value, "shape", value) for value in (*args, *kwargs.values())]
        key = str((self.training, list(kwargs), shapes))
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
