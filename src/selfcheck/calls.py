"""The steps of a check: a call of a function, or an object that is built, given its state and used.

Each is packed as a JSON tree, which `steps.py` carries out.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from .arguments import pack_argument
from .arrays import Array, pack


@dataclass(frozen=True)
class Call:
    """One call, of the exercise's function or of an object that was built: arguments by position and by name.

    method: of a built object, the method that is called; "" for the object itself, ".name" for an attribute, ":entries"
        for how many numbers it learns, or a call depends on, ":gradients" for which
    tokens: of ":gradients", those whose logits alone are meant; all where there are none
    refused: of a built object, whether this use should raise ValueError and the object be used further
    quotient: of a function that returns a triple (maximum, total, summed), whether summed / total is the answer
    elsewhere: of a function, whether it is asked with its tensors on another device too, which the answer may not leave
    generators: of a function that takes a `generator`, those that it is asked with in turn, by seed and by how many
        numbers were drawn from it before; times: how often a function is asked. Either gives a tuple of the results
    construct: of a built object, how another one is made that is used in its place. It begins at the same seed, and is
        stirred alike, so that it differs in what it was made with
    """

    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = field(default_factory=dict)
    method: str = ""
    refused: bool = False
    quotient: bool = False
    elsewhere: bool = False
    generators: list[tuple[int, int]] = field(default_factory=list)
    times: int = 0
    tokens: list[int] = field(default_factory=list)
    construct: Call | None = None

    def packed(self) -> dict[str, Any]:
        """The call as a JSON tree for the runner."""
        packed: dict[str, Any] = {
            "args": [pack_argument(argument) for argument in self.args],
            "kwargs": {name: pack_argument(argument) for name, argument in self.kwargs.items()},
        }
        more = {name: getattr(self, name) for name in ("quotient", "elsewhere", "generators", "times", "tokens")}
        more |= {"construct": self.construct.packed()} if self.construct else {}
        return packed | {name: value for name, value in more.items() if value}


@dataclass(frozen=True)
class Built:
    """An object of the exercise's class: how it is made, its state, and how it is used."""

    construct: Call
    uses: tuple[Call, ...] = ()
    state: dict[str, Array] = field(default_factory=dict)
    training: bool = False
    lessons: dict[str, Any] = field(default_factory=dict)
    stirred: float = 0.0

    def packed(self) -> dict[str, Any]:
        """The step as a JSON tree for the runner."""
        step = {
            "construct": self.construct.packed(),
            "state": {name: pack(value) for name, value in self.state.items()},
            "training": self.training,
            "uses": [
                {"method": use.method, **use.packed()} | ({"refused": True} if use.refused else {}) for use in self.uses
            ],
        }
        more = {"lessons": self.lessons, "stirred": self.stirred}
        return step | {name: value for name, value in more.items() if value}


def call(*args: Any, **kwargs: Any) -> Call:
    """A call of the exercise's function; arguments are numbers, None, nested lists, `tensor`, `ndarray` or `dtype`."""
    return Call(args, kwargs)


def built(
    construct: Call,
    *uses: Call,
    state: dict[str, Array] | None = None,
    training: bool = False,
    lessons: dict[str, Any] | None = None,
    stirred: float = 0.0,
) -> Built:
    """An object of the exercise's class, made by `construct`, in evaluation mode unless `training`, then used.

    uses: calls of the object, or of a `method`; the answer is the result, or a tuple of several. Without any the
        answer is None: of use where "parameters" are compared, or an "error" is due
    state: every parameter by its name in the state dict; its dtype becomes the module's. Without it the module keeps
        what it began with, and a view has to look at what holds for any parameters
    lessons: what the module is trained on before it is used
    stirred: deviation of the random numbers that are added to all it learns, so that nothing stays without influence
        because it began at zero
    """
    return Built(construct, uses, state or {}, training, lessons or {}, stirred)


def method(name: str, *args: Any, **kwargs: Any) -> Call:
    """A call of a method of a built object."""
    return Call(args, kwargs, name)


def attribute(name: str) -> Call:
    """A use of a built object whose answer is one of its attributes."""
    return Call(method=f".{name}")


def entries(*args: Any) -> Call:
    """A use whose answer is how many numbers a module learns, each once; with arguments, how many a call depends on."""
    return Call(args, method=":entries")


def quotient(triples: Call) -> Call:
    """A call that returns a triple (maximum, total, summed), whose answer is the output: summed / total."""
    return replace(triples, quotient=True)


def elsewhere(step: Call) -> Call:
    """A call of a function that is also made with its tensors on another device, which the answer may not leave."""
    return replace(step, elsewhere=True)


def refused(use: Call) -> Call:
    """A use of a built object that should raise ValueError; it adds nothing to the answer, and the next uses follow."""
    return replace(use, refused=True)
