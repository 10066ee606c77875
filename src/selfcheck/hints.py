"""Gives the hints of an exercise one at a time."""

from __future__ import annotations

import json
from pathlib import Path

from .catalogue import Exercise
from .catalogue.names import exercises_named
from .learner import available, package_folder

MEMORY = ".selfcheck.json"  # beside the learner's package


class Hint:
    """One hint, shown as text in a terminal and as Markdown in a notebook."""

    def __init__(self, exercise: Exercise, position: int) -> None:
        self.exercise, self.position = exercise, position

    def __repr__(self) -> str:
        count = len(self.exercise.hints)
        more = "" if self.position < count - 1 else " (that was the last one; the next call begins again)"
        return f"{self.exercise.number} hint {self.position + 1} of {count}: {self.exercise.hints[self.position]}{more}"

    def _repr_markdown_(self) -> str:
        return f"**{self.exercise.number} {self.exercise.title}**, {repr(self).split(' ', 1)[1]}"


def hint(exercise_id: str) -> Hint:
    """The next hint of an exercise, from a nudge to nearly the answer; each call gives one more.

    For an id with two parts, "4.8" or "3.5" says which; the id alone means the first part.
    Raises KeyError, with the nearest names, for an exercise that does not exist.
    """
    exercise = available(exercises_named(exercise_id))[0]
    path = _memory()
    seen = _read(path)
    position = seen.get(exercise.number, 0) % len(exercise.hints)
    seen[exercise.number] = position + 1
    path.write_text(json.dumps(seen), encoding="utf-8")
    return Hint(exercise, position)


def _memory() -> Path:
    try:
        return package_folder().parent / MEMORY
    except FileNotFoundError:
        return Path(MEMORY)


def _read(path: Path) -> dict[str, int]:
    try:
        return {str(name): int(count) for name, count in json.loads(path.read_text(encoding="utf-8")).items()}
    except (OSError, ValueError, AttributeError, TypeError, OverflowError, RecursionError):
        return {}
