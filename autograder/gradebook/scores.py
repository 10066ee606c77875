"""Reads a problem set's scores from nbgrader's gradebook."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from ..course.faults import unforeseen
from ..course.folder import Course
from ..course.printable import text_or_nothing
from ..course.roster import ROSTER_FILE
from .autograded_folder import autograded
from .overrides import Override

PERSONAL = ("last_name", "first_name", "email", "section", "lms_id")  # what a roster says of a person


@dataclass(frozen=True)
class Score:
    """One line of the gradebook; points include what was graded by hand.

    late_penalty: what the late policy takes off; lms_id: the person's number in Canvas, by the roster or nbgrader
    graded: False where grading failed, which nbgrader alone would count as no points
    overrides: points for code that somebody has changed by hand
    handed_in: False for somebody on the roster who has handed in nothing, and has no points
    trouble: why the gradebook's row cannot be read, "" where it can
    """

    student: str
    points: float
    max_points: float
    needs_manual_grade: bool
    submitted: str  # UTC, ISO 8601, "" where unknown
    seconds_late: float
    late_penalty: float = 0.0
    graded: bool = True
    last_name: str = ""
    first_name: str = ""
    email: str = ""
    lms_id: str = ""
    section: str = ""
    handed_in: bool = True
    overrides: tuple[Override, ...] = ()
    trouble: str = ""

    @property
    def name(self) -> str:
        """The full name, "" where none is known."""
        return " ".join(filter(None, (self.first_name, self.last_name)))

    @property
    def unread(self) -> str:
        """That the gradebook's row cannot be read, "" where it can."""
        return f"the gradebook's row cannot be read: {self.trouble}" if self.trouble else ""

    @property
    def final(self) -> float:
        """The points that count: less the late penalty, never less than none."""
        return max(0.0, self.points - self.late_penalty)


def scores(course: Course, problem_set: str, section: str | None = None) -> list[Score]:
    """The scores of everybody in the gradebook or on the roster, by student; of a section alone where one is named.

    Raises KeyError where the problem set was never released, ValueError for a section that nobody is in, RuntimeError
    for a gradebook that cannot be read.
    """
    from sqlalchemy.exc import SQLAlchemyError

    from .errors import explained
    from .nbgrader import configuration, place_of

    try:
        everybody, most = _in_the_gradebook(course, problem_set)
    except SQLAlchemyError as error:
        raise RuntimeError(str(explained(course, error, place_of(configuration(course))))) from error
    return by_roster(course, problem_set, everybody, most, section)


def _in_the_gradebook(course: Course, problem_set: str) -> tuple[list[Score], float]:
    """Everybody's score, and the points of the set."""
    from nbgrader.api import MissingEntry

    from .marks_given import marks_given
    from .nbgrader import gradebook
    from .overridden_rows import of_each

    with gradebook(course) as book:
        try:
            assignment = book.find_assignment(problem_set)
        except MissingEntry:
            raise KeyError(f"{problem_set} is not in the gradebook: release it first") from None
        by_hand = of_each(book.db, problem_set, marks_given(course.root, problem_set))
        return [_score(course, problem_set, row, by_hand) for row in assignment.submissions], assignment.max_score


def _score(course: Course, problem_set: str, row: Any, by_hand: Callable[[str], tuple[Override, ...]]) -> Score:
    """The score of one row; what nobody foresaw in it stops nobody else's."""
    student = str(row.student_id)
    try:
        if not all(map(math.isfinite, (row.score, row.max_score, row.late_submission_penalty or 0.0))):
            raise ValueError("points without end")
        return Score(
            student,
            row.score,
            row.max_score,
            row.needs_manual_grade,
            row.timestamp.isoformat(timespec="seconds") if row.timestamp else "",
            row.total_seconds_late,
            row.late_submission_penalty or 0.0,
            (autograded(course, student, problem_set) / f"{problem_set}.ipynb").exists(),
            last_name=text_or_nothing(row.student.last_name),
            first_name=text_or_nothing(row.student.first_name),
            email=text_or_nothing(row.student.email),
            lms_id=text_or_nothing(row.student.lms_user_id),
            overrides=by_hand(student),
        )
    except Exception as error:
        return Score(student, 0.0, 0.0, False, "", 0.0, graded=False, trouble=unforeseen(error))


def by_roster(
    course: Course, problem_set: str, everybody: Iterable[Score], most: float, section: str | None = None
) -> list[Score]:
    """Scores with what the roster says of each person, and of whoever handed in nothing; most: points of the set"""
    roster = course.roster
    if roster is None:
        if section is not None:
            raise ValueError(f"--section needs a roster: write {ROSTER_FILE}, or run `roster`")
        return sorted(everybody, key=lambda score: score.student)
    by_student = {score.student: score for score in everybody}
    waiting = by_student.keys() | set(course.students(problem_set))
    for person in roster.people.values():
        if person.id not in waiting:
            by_student[person.id] = Score(person.id, 0.0, most, False, "", 0.0, graded=False, handed_in=False)
        if person.id in by_student:
            said = {name: getattr(person, name) for name in PERSONAL if getattr(person, name)}
            by_student[person.id] = replace(by_student[person.id], **said)
    chosen = by_student.keys() if section is None else roster.of_section(section)
    return [by_student[student] for student in sorted(by_student) if student in chosen]


def known_scores(course: Course, problem_set: str, section: str | None = None) -> list[Score]:
    """As `scores`; of the roster alone where there is no gradebook yet, or the problem set is not in it."""
    from .nbgrader import configuration

    if (course.root / "gradebook.db").exists() or "db_url" in configuration(course).CourseDirectory:
        with suppress(KeyError):
            return scores(course, problem_set, section)
    return by_roster(course, problem_set, [], 0.0, section)
