"""The form of a check: seeded inputs, the calls to make, and what of the answer is compared.

A check holds no expected value: the same calls made on the reference give it. For example::

    @check("masks.causal_mask", sees="the future is hidden")
    def causal_square(rng):
        return call(query_length=rng.integer(2, 9))

The function's name is the check's name; its points stand in the catalogue. It returns one step or a
list of steps and draws every input from `rng`. A step is a call of the exercise's own function or,
where the exercise is a class, an object that is built, given its state and used::

    built(call(6, num_heads=2), call(x, x, x), state=rng.state({"q_proj.weight": (6, 6), ...}))
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from .arguments import (
    cache,
    dtype,
    generator,
    iterator,
    lessons,
    linears,
    loss,
    made,
    ndarray,
    network,
    optimizer,
    score,
    tensor,
    torch_attention,
    triple,
    writer,
    writing,
)
from .calls import Built, Call, attribute, built, call, elsewhere, entries, method, quotient, refused
from .draw import Draw

__all__ = [
    "Built",
    "Call",
    "Check",
    "Draw",
    "attribute",
    "built",
    "cache",
    "call",
    "check",
    "checks_in",
    "dtype",
    "elsewhere",
    "entries",
    "generator",
    "iterator",
    "lessons",
    "linears",
    "loss",
    "made",
    "method",
    "ndarray",
    "network",
    "optimizer",
    "quotient",
    "refused",
    "score",
    "tensor",
    "torch_attention",
    "triple",
    "writer",
    "writing",
]

Make = TypeVar("Make", bound=Callable[..., Any])
ASPECTS = ("values", "dtype", "gradient", "unchanged", "error", "parameters", "state", "kept", "generator", "memory")
MEASURED = "peak"  # what only the grader compares, since it is established outside the learner's process


@dataclass(frozen=True)
class Check:
    """One mechanism of one exercise."""

    exercise: str
    name: str
    sees: str
    make: Callable[[Draw], Call | Built | list[Call | Built]]
    compares: tuple[str, ...] = ("values",)
    tolerance: float = 1e-5
    view: Callable[[dict[str, Any], Any], Any] | None = None
    points: int = 0  # of a hidden check; a visible one's stand in the catalogue
    problem_set: str | None = None  # of a hidden check of an id that has two parts
    given: bool = False  # whether an answer that does nothing passes: then it counts beside another check alone
    outside: Callable[[Draw], Call | Built | list[Call | Built]] | None = None
    coinciding: bool = False  # whether sizes are equal on purpose that another check keeps apart
    outside_view: Callable[[dict[str, Any], Any], Any] | None = None
    tells: Callable[[dict[str, Any], Any, Any], str] | None = None

    @property
    def measured(self) -> Check | None:
        """The same check by what is measured outside the learner's process, which that process cannot forge."""
        if self.outside is None:
            return None
        compares = ("values", MEASURED)
        return replace(self, make=self.outside, compares=compares, view=self.outside_view, outside=None)

    def calls(self, seed: int) -> list[dict[str, Any]]:
        """The packed steps that this check makes for a seed."""
        made = self.make(Draw(seed))
        more = {"memory": True} if "memory" in self.compares else {}
        return [step.packed() | more for step in (made if isinstance(made, list) else [made])]


_registered: dict[str, list[Check]] = {}


def check(
    exercise: str,
    sees: str,
    compares: str | tuple[str, ...] = "values",
    tolerance: float = 1e-5,
    view: Callable[[dict[str, Any], Any], Any] | None = None,
    points: int = 0,
    problem_set: str | None = None,
    given: bool = False,
    outside: Callable[[Draw], Call | Built | list[Call | Built]] | None = None,
    coinciding: bool = False,
    outside_view: Callable[[dict[str, Any], Any], Any] | None = None,
    tells: Callable[[dict[str, Any], Any, Any], str] | None = None,
) -> Callable[[Make], Make]:
    """Register a check of an exercise.

    exercise: its id, "module.symbol"; sees: what is right when the check passes, as a short clause
    compares: "values" (structure, shape, finiteness and entries), "dtype", "gradient" (of a fixed weighted sum of all
        outputs, for every floating tensor argument and parameter), "unchanged" (the arguments and parameters), "error"
        (the kind of exception), "parameters" (names and shapes in a built module's state dict), "state" (what became of
        the modules among the arguments), "kept" (whether these still have their own parameters, which learn),
        "generator" (whether random numbers came from the generator among the arguments), "memory" (the largest tensor
        made on the way has at most eight times the reference's entries)
    tolerance: an entry may differ by tolerance · (1 + |expected|); 1e-5 lets float32 arithmetic pass
    view: view(call, value) brings several right answers to one form before they are compared
    points: of a hidden check; problem_set: of a hidden check, where the exercise's id has two parts
    given: whether an answer passes that does nothing of what the exercise asks, such as one number throughout, an
        argument handed back, or numbers of its own for each text: such checks earn points only where another passes
    outside: makes steps that the grader asks besides, in a process of their own, whose peak of memory the kernel tells
        it: the answer has to be right in little memory. So what a process alone could tell of itself is seen by others
    outside_view: the view of these answers
    coinciding: whether sizes are equal on purpose, for what goes wrong only there (tests/exercises/test_draw_sizes.py)
    tells: tells(call, expected, given), a sentence on the one part of a formula that is wrong, or "" (see generic.py)
    """
    aspects = (compares,) if isinstance(compares, str) else compares
    unknown = set(aspects) - set(ASPECTS)
    if unknown:
        raise ValueError(f"compares must be among {ASPECTS}, got {sorted(unknown)}")

    def register(make: Make) -> Make:
        more = (points, problem_set, given, outside, coinciding, outside_view, tells)
        new = Check(exercise, make.__name__, sees, make, aspects, tolerance, view, *more)
        others = _registered.setdefault(make.__module__, [])
        if any(other.name == new.name for other in others):
            raise ValueError(f"two checks in {make.__module__} are named {new.name}")
        others.append(new)
        return make

    return register


def checks_in(module: str) -> list[Check]:
    """The checks that a Python module registers, in the order of their definition.

    A long module continues in private ones beside it, named after it, which it imports: `_masks_softmax.py` of masks.
    ValueError where two checks have one name.
    """
    importlib.import_module(module)
    package, _, name = module.rpartition(".")
    family = [home for home in _registered if home == module or home.startswith(f"{package}._{name}_")]
    checks = [check for home in sorted(family, key=lambda home: home != module) for check in _registered[home]]
    names = [check.name for check in checks]
    for check in checks:
        if names.count(check.name) > 1:
            raise ValueError(f"two checks of {module} are named {check.name}")
    return checks
