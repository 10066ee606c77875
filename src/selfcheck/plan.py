"""The form of a check: seeded inputs, the calls to make, and what of the answer is compared.

A check holds no expected value: the same calls made on the reference give it. For example::

    @check("masks.causal_mask", sees="the future is hidden")
    def causal_square(rng):
        return call(query_length=rng.integer(2, 9))

The function's name is the check's name; its points stand in the catalogue. It returns one call or a
list of calls, all of the exercise's own function, and draws every input from `rng`.
"""

from __future__ import annotations

import importlib
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .arrays import Array, array, pack

__all__ = ["Call", "Check", "Draw", "call", "check", "checks_in", "dtype", "ndarray", "tensor"]

ASPECTS = ("values", "dtype", "gradient", "unchanged", "error")


class Draw(random.Random):
    """A seeded source of small, readable inputs: numbers with two decimals, sizes that differ."""

    def integer(self, low: int, high: int) -> int:
        """An int from low to high - 1."""
        return self.randrange(low, high)

    def sizes(self, count: int, low: int = 2, high: int = 9) -> list[int]:
        """Distinct sizes, so that a swapped axis cannot pass unseen."""
        return self.sample(range(low, high), count)

    def normal(self, *shape: int) -> Any:
        """Nested lists of standard normal numbers, rounded to two decimals."""
        return self._nested(shape, lambda: round(self.gauss(0.0, 1.0), 2))

    def integers(self, *shape: int, low: int = 0, high: int = 10) -> Any:
        """Nested lists of ints from low to high - 1."""
        return self._nested(shape, lambda: self.randrange(low, high))

    def booleans(self, *shape: int, share: float = 0.6) -> Any:
        """Nested lists of booleans, each True with probability `share`."""
        return self._nested(shape, lambda: self.random() < share)

    def tensor(self, *shape: int, dtype: str = "float64") -> Array:
        """A tensor of standard normal numbers, rounded to two decimals."""
        return tensor(self.normal(*shape), dtype)

    def _nested(self, shape: tuple[int, ...], draw: Callable[[], Any]) -> Any:
        if not shape:
            return draw()
        return [self._nested(shape[1:], draw) for _ in range(shape[0])]


@dataclass(frozen=True)
class Call:
    """One call of the exercise's function: packed arguments by position and by name."""

    args: tuple = ()
    kwargs: dict[str, Any] = field(default_factory=dict)

    def packed(self) -> dict[str, Any]:
        """The call as a JSON tree for the runner."""
        return {
            "args": [_pack_argument(argument) for argument in self.args],
            "kwargs": {name: _pack_argument(argument) for name, argument in self.kwargs.items()},
        }


@dataclass(frozen=True)
class Check:
    """One mechanism of one exercise."""

    exercise: str
    name: str
    sees: str
    make: Callable[[Draw], Call | list[Call]]
    compares: tuple[str, ...] = ("values",)
    tolerance: float = 1e-5
    view: Callable[[dict[str, Any], Any], Any] | None = None
    points: int = 0  # of a hidden check; a visible one's stand in the catalogue
    problem_set: str | None = None  # of a hidden check of an id that has two parts

    def calls(self, seed: int) -> list[dict[str, Any]]:
        """The packed calls that this check makes for a seed."""
        made = self.make(Draw(seed))
        return [one.packed() for one in (made if isinstance(made, list) else [made])]


_found: dict[str, list[Check]] = {}


def check(
    exercise: str,
    sees: str,
    compares: str | tuple[str, ...] = "values",
    tolerance: float = 1e-5,
    view: Callable[[dict[str, Any], Any], Any] | None = None,
    points: int = 0,
    problem_set: str | None = None,
) -> Callable[[Callable], Callable]:
    """Register a check of an exercise.

    exercise: its id, "module.symbol"; sees: what is right when the check passes, as a short clause
    compares: "values" (structure, shape, finiteness and entries), "dtype", "gradient" (of a fixed weighted sum of all
        outputs, for every floating tensor argument), "unchanged" (the arguments), "error" (the kind of exception)
    tolerance: an entry may differ by tolerance · (1 + |expected|); 1e-5 lets float32 arithmetic pass
    view: view(call, value) brings several right answers to one form before they are compared
    points: of a hidden check; problem_set: of a hidden check, where the exercise's id has two parts
    """
    aspects = (compares,) if isinstance(compares, str) else compares
    unknown = set(aspects) - set(ASPECTS)
    if unknown:
        raise ValueError(f"compares must be among {ASPECTS}, got {sorted(unknown)}")

    def register(make: Callable) -> Callable:
        found = Check(exercise, make.__name__, sees, make, aspects, tolerance, view, points, problem_set)
        known = _found.setdefault(make.__module__, [])
        if any(other.name == found.name for other in known):
            raise ValueError(f"two checks in {make.__module__} are named {found.name}")
        known.append(found)
        return make

    return register


def checks_in(module: str) -> list[Check]:
    """The checks that a Python module registers, in the order of their definition."""
    importlib.import_module(module)
    return list(_found.get(module, []))


def call(*args: Any, **kwargs: Any) -> Call:
    """A call of the exercise's function; arguments are numbers, None, nested lists, `tensor`, `ndarray` or `dtype`."""
    return Call(args, kwargs)


def tensor(values: Any, dtype: str | None = None) -> Array:
    """A torch tensor argument from nested lists."""
    return array(values, "tensor", dtype)


def ndarray(values: Any, dtype: str | None = None) -> Array:
    """A NumPy array argument from nested lists."""
    return array(values, "ndarray", dtype)


def dtype(name: str) -> dict[str, str]:
    """A torch dtype argument, by its name: dtype("float16")."""
    return {"kind": "dtype", "value": name}


def _pack_argument(argument: Any) -> dict[str, Any]:
    if isinstance(argument, dict) and argument.get("kind") == "dtype":
        return argument
    return pack(argument)
