"""Reads from nbgrader's tables which points for code somebody has changed by hand."""

from __future__ import annotations

from collections.abc import Iterator

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


def of_everybody(db: Session, problem_set: str, given: Given) -> dict[str, tuple[Override, ...]]:
    """By student, what the gradebook holds; MissingEntry where the problem set was never released."""
    released = rows.released_set(db, problem_set)
    cells = list(checking_cells(released))
    exercises = {name: exercise for _, name, exercise in cells}
    by_cell = {id: exercise for id, _, exercise in cells}
    marks = rows.manual_marks(db, released)
    entered = rows.entered(db, released) if marks else {}
    by_student = {}
    for student, own in marks.items():
        known = ((by_cell.get(id), value) for id, value in entered[student][1].items())
        points = {exercise: value for exercise, value in known if exercise is not None and value is not None}
        by_student[student] = overrides(student, points, own, exercises, given)
    return {student: several for student, several in by_student.items() if several}
