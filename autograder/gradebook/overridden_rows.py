"""Reads from nbgrader's tables which points for code somebody has changed by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sqlalchemy.orm import Session

from . import rows
from .cells import GRADE_CELL
from .marks_given import Given
from .overrides import Override, overrides


def checking_cells(released: rows.ReleasedSet) -> Iterator[tuple[str, str, str]]:
    """Each cell that is graded by an exercise's checks: its id, its name, the exercise."""
    for notebook in released.notebooks:
        for name, cell in notebook.graded.items():
            source = notebook.sources.get(name)
            call = GRADE_CELL.fullmatch((source.source or "").strip()) if source else None
            if call:
                yield cell.id, name, call[1]


def of_each(db: Session, problem_set: str, given: Given) -> Callable[[str], tuple[Override, ...]]:
    """What the gradebook holds, by student; MissingEntry where the problem set was never released."""
    released = rows.released_set(db, problem_set)
    cells = list(checking_cells(released))
    exercises = {name: exercise for _, name, exercise in cells}
    by_cell = {id: exercise for id, _, exercise in cells}
    marks = rows.manual_marks(db, released)
    entered = rows.entered(db, released) if marks else {}

    def of(student: str) -> tuple[Override, ...]:
        if student not in marks:
            return ()
        known = ((by_cell.get(id), value) for id, value in entered[student][1].items())
        points = {exercise: value for exercise, value in known if exercise is not None and value is not None}
        return overrides(student, points, marks[student], exercises, given)

    return of
