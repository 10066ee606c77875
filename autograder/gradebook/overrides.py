"""Points for code that somebody has changed by hand, with who did it and when."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .marks_given import Given

EXTRA = ", extra credit"  # as rows.manual_marks names it
MINUTE = len("2030-01-01T12:00")


@dataclass(frozen=True)
class Override:
    """An exercise whose points are not those of its checks.

    points: by the checks; mark: what counts; user, time (UTC, ISO 8601): "" where nobody wrote it down
    """

    exercise: str
    cell: str
    points: float
    mark: float
    user: str = ""
    time: str = ""

    @property
    def text(self) -> str:
        """In one line, for people."""
        when = f", {self.time[:MINUTE].replace('T', ' ')} UTC" if self.time else ""
        who = f" by {self.user}{when}" if self.user else ", by whom is not recorded"
        return f"{self.exercise} {self.points:g} → {self.mark:g}{who}"


def overrides(
    student: str, points: Mapping[str, float], marks: Mapping[str, float], exercises: Mapping[str, str], given: Given
) -> tuple[Override, ...]:
    """The overrides of one student.

    points: by the checks, by exercise; marks: given by hand, by the cell's name; exercises: by their cell's name
    """
    changed = []
    for cell, exercise in exercises.items():
        by_checks = points.get(exercise)
        if by_checks is None or not {cell, f"{cell}{EXTRA}"} & marks.keys():
            continue
        mark = marks.get(cell, by_checks) + marks.get(f"{cell}{EXTRA}", 0.0)
        if mark != by_checks:
            known = given.get((student, cell))
            is_it = known is not None and known.mark == marks.get(cell)
            who = (known.user, known.time) if known and is_it else ("", "")
            changed.append(Override(exercise, cell, by_checks, mark, *who))
    return tuple(changed)
