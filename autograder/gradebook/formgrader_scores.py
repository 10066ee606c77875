"""Has formgrader's lists show the points that count; nbgrader's own show those before the late penalty."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any

from nbgrader.api import Assignment, Gradebook, Notebook, SubmittedAssignment, SubmittedNotebook
from nbgrader.apps.api import NbGraderAPI
from sqlalchemy import select

Row = dict[str, Any]  # of a list, as formgrader's pages get it


@dataclass(frozen=True)
class Penalty:
    """What lateness takes off a notebook. points: never more than it has"""

    problem_set: str
    notebook: str
    student: str
    points: float


@dataclass(frozen=True)
class Penalties:
    """All penalties of a gradebook."""

    all: tuple[Penalty, ...]
    book: Gradebook

    def points(self, **of: str) -> float:
        """What is taken off in all where these fields of a penalty have these values."""
        return sum(
            penalty.points for penalty in self.all if all(getattr(penalty, name) == value for name, value in of.items())
        )


_roots: set[Path] = set()


def show_final_scores(root: Path) -> None:
    """From now on formgrader in this process shows the points that count of the course in `root`.

    nbgrader has no setting for it: what its pages get of other courses stays as it is.
    """
    if not _roots:
        for name, adapt in _ADAPTED.items():
            setattr(NbGraderAPI, name, _adapted(getattr(NbGraderAPI, name), adapt))
    _roots.add(root.resolve())


def _adapted(method: Callable[..., Any], adapt: Callable[..., None]) -> Callable[..., Any]:
    @wraps(method)
    def call(api: NbGraderAPI, *names: str, **options: Any) -> Any:
        rows = method(api, *names, **options)
        if rows and Path(api.coursedir.root).resolve() in _roots:
            with api.gradebook as book:
                penalties = Penalties(_penalties(book), book)
                for row in rows if isinstance(rows, list) else [rows]:
                    adapt(row, penalties, *names)
        return rows

    return call


def _penalties(book: Gradebook) -> tuple[Penalty, ...]:
    penalty, score = SubmittedNotebook.late_submission_penalty, SubmittedNotebook.score
    query = (
        select(Assignment.name, Notebook.name, SubmittedAssignment.student_id, penalty, score)
        .select_from(SubmittedNotebook)
        .join(Notebook, Notebook.id == SubmittedNotebook.notebook_id)
        .join(SubmittedAssignment, SubmittedAssignment.id == SubmittedNotebook.assignment_id)
        .join(Assignment, Assignment.id == SubmittedAssignment.assignment_id)
        .where(penalty > 0)
    )
    rows = book.db.execute(query)
    return tuple(Penalty(name, notebook, student, min(taken, score)) for name, notebook, student, taken, score in rows)


def _submission(row: Row, penalties: Penalties, *_: str) -> None:
    taken = penalties.points(problem_set=row["name"], student=row["student"])
    if row["autograded"] and taken:
        row["score"] -= taken
        row["display_timestamp"] = f"{row['display_timestamp']}, late: −{round(taken, 2):g} points"


def _submitted_notebook(row: Row, penalties: Penalties, problem_set: str, notebook: str) -> None:
    row["score"] -= penalties.points(problem_set=problem_set, notebook=notebook, student=row["student"])


def _notebook_of_student(row: Row, penalties: Penalties, student: str, problem_set: str) -> None:
    if row["id"] is not None:
        row["score"] -= penalties.points(problem_set=problem_set, notebook=row["name"], student=student)


def _student(row: Row, penalties: Penalties, *_: str) -> None:
    row["score"] -= penalties.points(student=row["id"])


def _problem_set(row: Row, penalties: Penalties, problem_set: str) -> None:
    taken = penalties.points(problem_set=problem_set)
    if taken:
        row["average_score"] -= taken / penalties.book.find_assignment(problem_set).num_submissions


def _notebook(row: Row, penalties: Penalties, problem_set: str) -> None:
    taken = penalties.points(problem_set=problem_set, notebook=row["name"])
    if taken:
        row["average_score"] -= taken / row["num_submissions"]


#: nbgrader's methods that give formgrader's pages a score, and how a row of theirs comes to tell what counts.
_ADAPTED: dict[str, Callable[..., None]] = {
    "get_assignment": _problem_set,
    "get_notebooks": _notebook,
    "get_submission": _submission,
    "get_submissions": _submission,
    "get_notebook_submissions": _submitted_notebook,
    "get_student_notebook_submissions": _notebook_of_student,
    "get_student": _student,
    "get_students": _student,
}
