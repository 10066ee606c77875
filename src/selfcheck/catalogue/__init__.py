"""The catalogue of exercises: one TOML file per module, the one source of prompts, points, hints and messages."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Misconception:
    """A named wrong idea: what is wrong and where (`message`), and how to mend it (`remedy`, given by a hint)."""

    id: str
    message: str
    section: str  # label of the book section to reread
    remedy: str = ""


@dataclass(frozen=True)
class Exercise:
    """One numbered exercise. An id may have two, in different problem sets: attention without and with a mask."""

    id: str
    number: str
    title: str
    problem_set: str
    section: str
    minutes: int
    difficulty: int
    prompt: str
    hints: tuple[str, ...]
    points: dict[str, int]
    hidden_points: int
    depends_on: tuple[str, ...] = ()
    forbidden: tuple[str, ...] = ()
    misconceptions: tuple[Misconception, ...] = ()
    library: str = "torch"  # that the module's answers are written with; "numpy": the arguments may be nested lists

    def __hash__(self) -> int:
        return hash(self.number)

    @property
    def module(self) -> str:
        return self.id.partition(".")[0]

    @property
    def symbol(self) -> str:
        return self.id.partition(".")[2]

    @property
    def max_points(self) -> int:
        return sum(self.points.values()) + self.hidden_points

    def message_of(self, misconception: str) -> Misconception:
        """The entry of a misconception id; KeyError for none.

        It may stand in the other part of the exercise, or be a slip of any code, "generic.transposed".
        """
        for part in (self, *exercises()):
            for entry in part.misconceptions if part.id == self.id else ():
                if entry.id == misconception:
                    return entry
        from ..generic_slips import SLIPS
        from ..slip_remedies import REMEDIES
        from ..slip_sections import section_of

        if misconception in SLIPS:
            section, remedy = section_of(misconception, self.section), REMEDIES.get(misconception, "")
            return Misconception(misconception, SLIPS[misconception], section, remedy)
        raise KeyError(f"{self.id} has no misconception {misconception}")


@functools.cache
def exercises() -> tuple[Exercise, ...]:
    """Every exercise of every module here, in the order of their numbers."""
    listed = []
    for path in sorted(FOLDER.glob("*.toml")):
        with path.open("rb") as file:
            table = tomllib.load(file)
        for entry in table["exercise"]:
            listed.append(_exercise(entry, table.get("library", "torch")))
    return tuple(sorted(listed, key=lambda exercise: [int(part) for part in exercise.number.split(".")]))


def _exercise(entry: dict[str, Any], library: str) -> Exercise:
    fields = dict(entry)
    wrong = tuple(Misconception(**entry) for entry in fields.pop("misconception", []))
    for name in ("hints", "depends_on", "forbidden"):
        fields[name] = tuple(fields.get(name, ()))
    return Exercise(**fields, misconceptions=wrong, library=library)


def parts_of(exercise_id: str) -> list[Exercise]:
    """The exercises with an id; KeyError, naming the nearest ids, where there is none."""
    parts = [exercise for exercise in exercises() if exercise.id == exercise_id]
    if not parts:
        import difflib

        ids = sorted({exercise.id for exercise in exercises()})
        near = difflib.get_close_matches(exercise_id, ids, n=3, cutoff=0.4)
        meant = f"; did you mean {', '.join(near)}?" if near else ""
        raise KeyError(f"there is no exercise {exercise_id!r}{meant}")
    return parts


def part_of(exercise_id: str, problem_set: str | None = None) -> Exercise:
    """The one exercise with an id, of a problem set where the id has a part in more than one.

    KeyError where there is none or more than one.
    """
    parts = parts_of(exercise_id)
    chosen = [exercise for exercise in parts if problem_set in (None, exercise.problem_set)]
    if len(chosen) != 1:
        sets = ", ".join(exercise.problem_set for exercise in parts)
        raise KeyError(f"exercise {exercise_id!r} is part of {sets}, asked for {problem_set}; name one of them")
    return chosen[0]


def problem_sets() -> list[str]:
    """The problem sets in order."""
    return sorted({exercise.problem_set for exercise in exercises()}, key=lambda name: int(name.removeprefix("ps")))


def in_problem_set(problem_set: str) -> list[Exercise]:
    """The exercises of a problem set, in order; KeyError where it has none."""
    chosen = [exercise for exercise in exercises() if exercise.problem_set == problem_set]
    if not chosen:
        raise KeyError(f"there is no problem set {problem_set!r}; there are {', '.join(problem_sets())}")
    return chosen


def forbidden_by(chosen: Iterable[Exercise]) -> list[str]:
    """The patterns of all functions that exercises forbid, each once."""
    return sorted({pattern for exercise in chosen for pattern in exercise.forbidden})


def modules_of(problem_set: str) -> list[str]:
    """The modules a problem set is graded on, in order."""
    return list(dict.fromkeys(exercise.module for exercise in in_problem_set(problem_set)))
