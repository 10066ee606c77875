"""Gives the hints of an exercise one at a time: first the remedy of what the last check named."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .catalogue import Exercise
from .catalogue.names import exercises_named
from .learner import available, package_folder
from .memory import NAME, Memory

MEMORY = NAME  # beside the learner's package


@dataclass(frozen=True)
class Hint:
    """One hint, shown as text in a terminal and as Markdown in a notebook.

    position: which of the exercise's hints; None for the remedy of what the last check named
    """

    exercise: Exercise
    position: int | None
    text: str

    def __repr__(self) -> str:
        if self.position is None:
            return f"{self.exercise.number} how to mend it: {self.text}"
        count = len(self.exercise.hints)
        more = "" if self.position < count - 1 else " (that was the last one; the next call begins again)"
        return f"{self.exercise.number} hint {self.position + 1} of {count}: {self.text}{more}"

    def _repr_markdown_(self) -> str:
        return f"**{self.exercise.number} {self.exercise.title}**, {repr(self).split(' ', 1)[1]}"


def hint(exercise_id: str | float) -> Hint:
    """The next hint of an exercise: how to mend what the last check named, then from a nudge to nearly the answer.

    Each call gives one more. Of several exercises, as a module names them, it is that of the first of which the last
    check named a mistake, or else of the first that has not passed.
    Raises KeyError, with the nearest names, for an exercise that does not exist.
    """
    memory = Memory(_folder())
    exercise = _first(available(exercises_named(exercise_id)), memory)
    remedy = _remedy(exercise, memory.named.pop(exercise.number, ""))
    if remedy:
        memory.write()
        return Hint(exercise, None, remedy)
    position = memory.hints.get(exercise.number, 0) % len(exercise.hints)
    memory.hints[exercise.number] = position + 1
    memory.write()
    return Hint(exercise, position, exercise.hints[position])


def _first(chosen: Sequence[Exercise], memory: Memory) -> Exercise:
    """The exercise among these for which somebody is likely to want a hint."""
    named = [exercise for exercise in chosen if exercise.number in memory.named]
    return (named or [exercise for exercise in chosen if exercise.number not in memory.passed] or list(chosen))[0]


def _remedy(exercise: Exercise, misconception: str) -> str:
    """How to mend what a misconception has come to; "" where it is not known, or no longer in the catalogue."""
    try:
        return exercise.message_of(misconception).remedy
    except KeyError:
        return ""


def _folder() -> Path:
    try:
        return package_folder().parent
    except FileNotFoundError:
        return Path()
