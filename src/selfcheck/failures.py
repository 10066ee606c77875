"""Gives a learner the call that fails, with its real arguments, to run and to debug."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .catalogue import Exercise
from .catalogue.names import exercises_named
from .learner import Learner, available, package_folder, stoppable
from .pictures import beside_text, pictures
from .reproducing import program
from .runner import find, fresh_package
from .steps import Given, build
from .verdict import FAILED, CheckResult, ExerciseResult

__all__ = ["Comparison", "Failing", "compare", "failing"]


@dataclass(frozen=True)
class Failing:
    """The first call of an exercise that fails: as a program, and as Python objects."""

    exercise: Exercise
    check: CheckResult

    @property
    def step(self) -> dict[str, Any]:
        """The call as the check describes it, packed."""
        return self._shown[0]

    @property
    def code(self) -> str:
        """The call as a program; `answer` is what your code gives."""
        return program(self.exercise, self.step)

    @property
    def _shown(self) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
        assert self.check.shown is not None, "only checks that show their call come here"
        return self.check.shown

    def argument(self, name: str | int) -> Any:
        """One argument, made anew: by position or by keyword, behind "construct." or the number of a use."""
        made = dict(self._arguments(Given()))
        if str(name) not in made:
            raise KeyError(f"this call has no argument {str(name)!r}; it has {', '.join(made)}")
        return made[str(name)]

    def arguments(self) -> dict[str, Any]:
        """All arguments by name, made anew together: an optimizer among them steps the model among them."""
        return dict(self._arguments(Given()))

    def built(self) -> Any:
        """For a class: an object of yours, with the parameters of the check, trained where the check trains it."""
        if "construct" not in self.step:
            raise TypeError(f"{self.exercise.id} is a function: nothing is built; use argument(…) or code")
        with fresh_package(str(package_folder().parent)):
            return build(find(self.exercise.id), self.step, Given(), {})[0]

    def _arguments(self, given: Given) -> Iterator[tuple[str, Any]]:
        uses = self.step.get("uses", [])
        calls = [("construct.", self.step["construct"])] if "construct" in self.step else [("", self.step)]
        calls += [(f"{number}." if len(uses) > 1 else "", use) for number, use in enumerate(uses)]
        if "made" in str(calls):  # a value that a method of what was built gives
            given.built = self.built()
        for prefix, call in calls:
            args, kwargs = given.take(call, prefix)
            yield from ((f"{prefix}{position}", value) for position, value in enumerate(args))
            yield from ((f"{prefix}{name}", value) for name, value in kwargs.items())

    def __repr__(self) -> str:
        step, expected, got = self._shown
        heading = f"# {self.exercise.number} {self.exercise.id}: {self.check.sees}"
        return f"{heading}\n{program(self.exercise, step, {'expected': expected, 'yours': got})}"


@dataclass(frozen=True)
class Comparison:
    """The expected answer and a learner's, side by side: text in a terminal, tables in a notebook."""

    failing: Failing

    def __repr__(self) -> str:
        step, expected, got = self.failing._shown
        heading = f"{self.failing.exercise.number} {self.failing.check.sees}: {self.failing.check.message}"
        return f"{heading}\n\n{beside_text(expected, got) or repr(self.failing)}"

    def _repr_html_(self) -> str:
        from .pictures import call_text

        step, expected, got = self.failing._shown
        return pictures(call_text(self.failing.exercise.symbol, step), expected, got)


@dataclass(frozen=True)
class Nothing:
    """Why there is no failing call to show."""

    why: str

    def __repr__(self) -> str:
        return self.why


def failing(name: str | float) -> Failing | Nothing:
    """The first failing call of an exercise, "4.2": show it, run its `code`, or take its `argument(0)`.

    Of several exercises, as a module names them, the first that is begun and fails, or else the first that fails.
    Raises KeyError for a name that means none.
    """
    results, first = [], None
    with stoppable(), Learner().imported() as learner:
        for exercise in available(exercises_named(name)):
            results.append(learner.result(exercise))
            shown = next((check for check in results[-1].checks if check.verdict == FAILED and check.shown), None)
            if shown and results[-1].started:
                return Failing(exercise, shown)
            first = Failing(exercise, shown) if shown and first is None else first
    return first or Nothing(_why_nothing(results))


def compare(name: str | float) -> Comparison | Nothing:
    """The expected answer beside yours, for the first failing call of an exercise; raises KeyError as `failing`."""
    failure = failing(name)
    return Comparison(failure) if isinstance(failure, Failing) else failure


def _why_nothing(results: list[ExerciseResult]) -> str:
    open_ones = [result for result in results if not result.passed]
    if not results:
        return "no visible checks of this exercise are here"
    if not open_ones:
        return f"{_numbers(results)}: every visible check passes"
    if not any(result.started for result in open_ones):
        return f"{_numbers(open_ones)}: not started yet"
    message = next((check.message for result in open_ones for check in result.checks if check.message), "")
    return f"{_numbers(open_ones)}: no call can be made. {message}"


def _numbers(results: list[ExerciseResult]) -> str:
    return ", ".join(result.exercise.number for result in results)
