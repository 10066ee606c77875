"""The statements on nbgrader's own tables that read or write one submission.

nbgrader's own functions look each cell up by joining six tables, and commit after each.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any

from nbgrader.api import (
    Assignment,
    Comment,
    Grade,
    GradeCell,
    MissingEntry,
    Notebook,
    SolutionCell,
    SourceCell,
    Student,
    SubmittedAssignment,
    SubmittedNotebook,
    TaskCell,
    new_uuid,
)
from sqlalchemy import bindparam, or_, select
from sqlalchemy.orm import Session


@dataclass(frozen=True)
class ReleasedNotebook:
    """A notebook as it was released: its cells by name.

    graded, commented: cells that have a grade, a comment in every submission; a written question has both
    """

    id: str
    name: str
    kernelspec: str | None
    sources: dict[str, Any]
    graded: dict[str, Any]
    commented: dict[str, Any]


@dataclass(frozen=True)
class ReleasedSet:
    """A problem set as it was released."""

    id: str
    due: datetime | None
    notebooks: tuple[ReleasedNotebook, ...]


@dataclass
class Sheet:
    """One notebook of a submission: grades and comments by their cell's name, with nbgrader's names for their parts."""

    id: str
    grades: dict[str, SimpleNamespace]
    comments: dict[str, SimpleNamespace]


@dataclass
class Submitted:
    """A submission in the gradebook, or as nbgrader makes it for a new one. sheets: by the notebook's name"""

    student: str
    id: str
    is_new: bool
    timestamp: datetime | None
    extension: timedelta | None
    sheets: dict[str, Sheet]


def wait_at_most(db: Session, seconds: float) -> None:
    """Give up where another program holds what is to be read or written next for longer than this.

    With SQLite from now on, with PostgreSQL until the transaction ends.
    """
    statements = {"sqlite": "PRAGMA busy_timeout = {}", "postgresql": "SET LOCAL lock_timeout = {}"}
    statement = statements.get(db.get_bind().dialect.name)
    if statement:
        db.connection().exec_driver_sql(statement.format(int(1000 * seconds)))


def released_set(db: Session, problem_set: str) -> ReleasedSet:
    """What the gradebook holds of a released problem set; MissingEntry where it holds none."""
    query = select(Assignment.id, Assignment.duedate).where(Assignment.name == problem_set)
    assignment = db.execute(query).one_or_none()
    if assignment is None:
        raise MissingEntry(f"{problem_set} is not in the gradebook: release it first")
    rows = db.execute(
        select(Notebook.id, Notebook.name, Notebook.kernelspec)
        .where(Notebook.assignment_id == assignment.id)
        .order_by(Notebook.name)
    )
    notebooks = tuple(_released_notebook(db, *row) for row in rows.all())
    return ReleasedSet(assignment.id, assignment.duedate, notebooks)


def _released_notebook(db: Session, id: str, name: str, kernelspec: str | None) -> ReleasedNotebook:
    parts = (SourceCell.name, SourceCell.cell_type, SourceCell.locked, SourceCell.source, SourceCell.checksum)
    sources = _by_name(db, select(*parts).where(SourceCell.notebook_id == id))
    tasks = _by_name(db, select(TaskCell.id, TaskCell.name, TaskCell.max_score).where(TaskCell.notebook_id == id))
    graded = select(GradeCell.id, GradeCell.name, GradeCell.max_score).where(GradeCell.notebook_id == id)
    commented = select(SolutionCell.id, SolutionCell.name).where(SolutionCell.notebook_id == id)
    return ReleasedNotebook(
        id, name, kernelspec, sources, tasks | _by_name(db, graded), tasks | _by_name(db, commented)
    )


def _by_name(db: Session, query: Any) -> dict[str, Any]:
    return {row.name: row for row in db.execute(query)}


def read(db: Session, released: ReleasedSet, student: str) -> Submitted:
    """A student's submission, made up as nbgrader would where there is none."""
    parts = (SubmittedAssignment.id, SubmittedAssignment.timestamp, SubmittedAssignment.extension)
    submission = db.execute(
        select(*parts).where(
            SubmittedAssignment.assignment_id == released.id, SubmittedAssignment.student_id == student
        )
    ).one_or_none()
    if submission is None:
        sheets = {notebook.name: _new_sheet(notebook) for notebook in released.notebooks}
        return Submitted(student, new_uuid(), True, None, None, sheets)
    rows = db.execute(
        select(SubmittedNotebook.id, SubmittedNotebook.notebook_id).where(
            SubmittedNotebook.assignment_id == submission.id
        )
    )
    ids = {row.notebook_id: row.id for row in rows}
    sheets = {
        notebook.name: _known_sheet(db, notebook, ids[notebook.id])
        for notebook in released.notebooks
        if notebook.id in ids
    }
    return Submitted(student, submission.id, False, submission.timestamp, submission.extension, sheets)


def _new_sheet(notebook: ReleasedNotebook) -> Sheet:
    grades = {
        name: SimpleNamespace(
            id=new_uuid(), cell_id=cell.id, auto_score=None, manual_score=None, needs_manual_grade=True
        )
        for name, cell in notebook.graded.items()
    }
    comments = {
        name: SimpleNamespace(id=new_uuid(), cell_id=cell.id, auto_comment=None)
        for name, cell in notebook.commented.items()
    }
    return Sheet(new_uuid(), grades, comments)


def _known_sheet(db: Session, notebook: ReleasedNotebook, id: str) -> Sheet:
    parts = (Grade.id, Grade.cell_id, Grade.auto_score, Grade.manual_score, Grade.needs_manual_grade)
    grades = db.execute(select(*parts).where(Grade.notebook_id == id)).all()
    comments = db.execute(select(Comment.id, Comment.cell_id, Comment.auto_comment).where(Comment.notebook_id == id))
    return Sheet(id, _of_cells(notebook.graded, grades), _of_cells(notebook.commented, comments.all()))


def _of_cells(cells: dict[str, Any], rows: Iterable[Any]) -> dict[str, SimpleNamespace]:
    names = {cell.id: name for name, cell in cells.items()}
    return {names[row.cell_id]: SimpleNamespace(**row._mapping) for row in rows if row.cell_id in names}


def write(db: Session, released: ReleasedSet, submitted: Submitted) -> None:
    """Write a submission's rows, and its student's if nobody knows them yet; what was given by hand is not touched."""
    if submitted.is_new:
        _insert(db, released, submitted)
    else:
        _update(db, submitted)


def _insert(db: Session, released: ReleasedSet, submitted: Submitted) -> None:
    if db.execute(select(Student.id).where(Student.id == submitted.student)).one_or_none() is None:
        db.execute(Student.__table__.insert(), {"id": submitted.student})
    row = {"id": submitted.id, "assignment_id": released.id, "student_id": submitted.student}
    times = {"timestamp": submitted.timestamp, "extension": submitted.extension}
    db.execute(SubmittedAssignment.__table__.insert(), row | times)
    for notebook in released.notebooks:
        sheet = submitted.sheets[notebook.name]
        row = {"id": sheet.id, "assignment_id": submitted.id, "notebook_id": notebook.id}
        db.execute(SubmittedNotebook.__table__.insert(), row)
        for table, rows in ((Grade, sheet.grades), (Comment, sheet.comments)):
            if rows:
                values = [vars(row) | {"notebook_id": sheet.id} for row in rows.values()]
                db.execute(table.__table__.insert(), values)


def _update(db: Session, submitted: Submitted) -> None:
    table = SubmittedAssignment.__table__
    db.execute(
        table.update()
        .where(table.c.id == submitted.id)
        .values(timestamp=submitted.timestamp, extension=submitted.extension)
    )
    for sheet in submitted.sheets.values():
        for kind, rows, names in (
            (Grade, sheet.grades, ("auto_score", "needs_manual_grade")),
            (Comment, sheet.comments, ("auto_comment",)),
        ):
            if rows:
                table = kind.__table__
                statement = (
                    table.update().where(table.c.id == bindparam("row")).values({n: bindparam(n) for n in names})
                )
                values = [{"row": row.id} | {name: getattr(row, name) for name in names} for row in rows.values()]
                db.execute(statement, values)


def score(db: Session, sheet: Sheet) -> float:
    """The points of a notebook by nbgrader's own rule: hand-given before automatic ones, extra credit on top."""
    return db.execute(select(SubmittedNotebook.score).where(SubmittedNotebook.id == sheet.id)).scalar_one()


def write_penalty(db: Session, sheet: Sheet, penalty: float | None) -> None:
    """Write what is taken off a notebook for being late."""
    table = SubmittedNotebook.__table__
    db.execute(table.update().where(table.c.id == sheet.id).values(late_submission_penalty=penalty))


def entered(db: Session, released: ReleasedSet) -> dict[str, tuple[datetime | None, dict[str, float | None]]]:
    """Of each student who is in the gradebook with this problem set: the submission's time, and the automatic points.

    The points are by the id of their cell.
    """
    times = select(SubmittedAssignment.student_id, SubmittedAssignment.timestamp)
    rows = db.execute(times.where(SubmittedAssignment.assignment_id == released.id))
    entered: dict[str, tuple[datetime | None, dict[str, float | None]]]
    entered = {student: (timestamp, {}) for student, timestamp in rows}
    grades = (
        select(SubmittedAssignment.student_id, Grade.cell_id, Grade.auto_score)
        .select_from(Grade)
        .join(SubmittedNotebook, SubmittedNotebook.id == Grade.notebook_id)
        .join(SubmittedAssignment, SubmittedAssignment.id == SubmittedNotebook.assignment_id)
        .where(SubmittedAssignment.assignment_id == released.id)
    )
    for student, cell, points in db.execute(grades):
        if student in entered:
            entered[student][1][cell] = points
    return entered


@dataclass(frozen=True)
class Lateness:
    """What the gradebook holds of a submission's lateness. scores: of each of its notebooks, before the penalty"""

    timestamp: datetime | None
    extension: timedelta | None
    penalty: float
    scores: tuple[float, ...]


def write_extension(db: Session, submitted: Submitted, extension: timedelta | None) -> None:
    """Write how much more time a submission has."""
    table = SubmittedAssignment.__table__
    db.execute(table.update().where(table.c.id == submitted.id).values(extension=extension))


def lateness(db: Session, released: ReleasedSet) -> dict[str, Lateness]:
    """By student, when the submission came, the extension, and what is taken off."""
    parts = (SubmittedAssignment.student_id, SubmittedAssignment.timestamp, SubmittedAssignment.extension)
    query = (
        select(*parts, SubmittedNotebook.late_submission_penalty.label("penalty"), SubmittedNotebook.score)
        .join(SubmittedNotebook, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
        .where(SubmittedAssignment.assignment_id == released.id)
    )
    by_student: dict[str, Lateness] = {}
    for row in db.execute(query):
        known = by_student.get(row.student_id, Lateness(row.timestamp, row.extension, 0.0, ()))
        penalty, scores = known.penalty + (row.penalty or 0.0), (*known.scores, row.score)
        by_student[row.student_id] = Lateness(row.timestamp, row.extension, penalty, scores)
    return by_student


def manual_marks(db: Session, released: ReleasedSet) -> dict[str, dict[str, float]]:
    """The marks and the extra credit that were given by hand: student, name of the cell, points."""
    names = {cell.id: name for notebook in released.notebooks for name, cell in notebook.graded.items()}
    given = (
        select(SubmittedAssignment.student_id, Grade.cell_id, Grade.manual_score, Grade.extra_credit)
        .select_from(Grade)
        .join(SubmittedNotebook, SubmittedNotebook.id == Grade.notebook_id)
        .join(SubmittedAssignment, SubmittedAssignment.id == SubmittedNotebook.assignment_id)
        .where(SubmittedAssignment.assignment_id == released.id)
        .where(or_(Grade.manual_score.is_not(None), Grade.extra_credit != 0))
    )
    by_student: dict[str, dict[str, float]] = {}
    for student, cell, mark, extra in db.execute(given):
        name, marks = names.get(cell, cell), by_student.setdefault(student, {})
        marks |= {} if mark is None else {name: mark}
        marks |= {f"{name}, extra credit": extra} if extra else {}
    return by_student
