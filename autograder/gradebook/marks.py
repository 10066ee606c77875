"""Reads the marks of everybody on a problem set from nbgrader's database, cell by cell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from nbgrader.api import Comment, Grade, Student, SubmittedAssignment, SubmittedNotebook
from nbgrader.coursedir import CourseDirectory
from sqlalchemy import select
from sqlalchemy.orm import Session

from ..course.folder import Course
from ..course.printable import text_or_nothing
from . import rows
from .database import Address, Database
from .nbgrader import configuration, prepare_process

SECONDS = 5.0  # to wait for another program that writes to the gradebook


@dataclass(frozen=True)
class Mark:
    """What one cell earned. waits: whether somebody is to mark it by hand; comment: what was written on it"""

    automatic: float | None = None
    by_hand: float | None = None
    extra: float = 0.0
    waits: bool = False
    comment: str = ""

    @property
    def points(self) -> float:
        """By nbgrader's own rule: given by hand before automatic, extra credit on top."""
        return (self.by_hand if self.by_hand is not None else self.automatic or 0.0) + self.extra


@dataclass
class Marks:
    """What the gradebook holds of one submission. cells: by their name; score: in points, before the penalty"""

    name: str = ""
    handed_in: datetime | None = None
    extension: timedelta | None = None
    penalty: float = 0.0
    score: float = 0.0
    cells: dict[str, Mark] = field(default_factory=dict)

    @property
    def final(self) -> float:
        """The points that count, as `Score.final` has them."""
        return max(0.0, self.score - self.penalty)


@dataclass(frozen=True)
class MarkedSet:
    """A problem set with everybody's marks. most: points to be had, by the name of their cell; due: UTC"""

    due: datetime | None
    most: dict[str, float]
    marks: dict[str, Marks]
    group_writes: bool  # whether the course's files are to be writable for a group


def marked_set(course: Course, problem_set: str) -> MarkedSet:
    """The marks of a problem set; nbgrader's MissingEntry where it was never released."""
    prepare_process()
    coursedir = CourseDirectory(config=configuration(course))
    database = Database(Address.of(coursedir), coursedir.course_id, problem_set, SECONDS)
    try:
        released = database.released
        marks = {
            student: Marks("", row.timestamp, row.extension, row.penalty, sum(row.scores))
            for student, row in database.lateness.items()
        }
        names = {cell.id: name for notebook in released.notebooks for name, cell in notebook.graded.items()}
        comments = _comments(database.session, released)
        for row in _grades(database.session, released):
            name = names.get(row.cell_id)
            if name and row.student_id in marks:
                marks[row.student_id].cells[name] = Mark(
                    row.auto_score,
                    row.manual_score,
                    row.extra_credit or 0.0,
                    bool(row.needs_manual_grade),
                    comments.get((row.student_id, name), ""),
                )
        for student, *parts in database.session.execute(select(Student.id, Student.first_name, Student.last_name)):
            if student in marks:
                marks[student].name = " ".join(filter(None, map(text_or_nothing, parts)))
        most = {name: cell.max_score for notebook in released.notebooks for name, cell in notebook.graded.items()}
        return MarkedSet(released.due, most, marks, bool(coursedir.groupshared))
    finally:
        database.close()


def _of_set(query: Any, table: Any, released: rows.ReleasedSet) -> Any:
    joined = query.select_from(table).join(SubmittedNotebook, SubmittedNotebook.id == table.notebook_id)
    joined = joined.join(SubmittedAssignment, SubmittedAssignment.id == SubmittedNotebook.assignment_id)
    return joined.where(SubmittedAssignment.assignment_id == released.id)


def _grades(db: Session, released: rows.ReleasedSet) -> Sequence[Any]:
    parts = (Grade.cell_id, Grade.auto_score, Grade.manual_score, Grade.extra_credit, Grade.needs_manual_grade)
    return db.execute(_of_set(select(SubmittedAssignment.student_id, *parts), Grade, released)).all()


def _comments(db: Session, released: rows.ReleasedSet) -> dict[tuple[str, str], str]:
    """What was written on the cells, by student and name."""
    names = {cell.id: name for notebook in released.notebooks for name, cell in notebook.commented.items()}
    parts = (SubmittedAssignment.student_id, Comment.cell_id, Comment.manual_comment)
    comments = db.execute(_of_set(select(*parts), Comment, released))
    return {(student, names[cell]): text for student, cell, text in comments if text and cell in names}
