"""Reads a problem set's scores from nbgrader's gradebook, and writes them as a table others can read."""

from __future__ import annotations

import csv
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ..course.folder import Course
from ..course.printable import printable

COLUMNS = (
    *("student", "problem_set", "points", "max_points", "needs_manual_grade", "submitted", "seconds_late"),
    *("late_penalty", "graded"),
)
FORMULA_STARTS = "=+-@|%"  # a spreadsheet would run a cell that begins so


@dataclass(frozen=True)
class Score:
    """One line of the gradebook; points include what was graded by hand.

    late_penalty: what nbgrader's late policy takes off; lms_id: the person's number in Canvas, where nbgrader knows it
    graded: False where grading failed, which nbgrader alone would count as no points
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

    @property
    def final(self) -> float:
        """The points that count: less the late penalty, never less than none."""
        return max(0.0, self.points - self.late_penalty)


def scores(course: Course, problem_set: str) -> list[Score]:
    """The scores of everybody in the gradebook, by student; KeyError where the problem set was never released."""
    from nbgrader.api import MissingEntry

    from .preprocessor import gradebook

    with gradebook(course) as book:
        try:
            assignment = book.find_assignment(problem_set)
        except MissingEntry:
            raise KeyError(f"{problem_set} is not in the gradebook: release it first") from None
        found = [
            Score(
                one.student_id,
                one.score,
                one.max_score,
                one.needs_manual_grade,
                one.timestamp.isoformat(timespec="seconds") if one.timestamp else "",
                one.total_seconds_late,
                one.late_submission_penalty or 0.0,
                (course.root / "autograded" / one.student_id / problem_set / f"{problem_set}.ipynb").exists(),
                *(text or "" for text in (one.student.last_name, one.student.first_name, one.student.email)),
                one.student.lms_user_id or "",
            )
            for one in assignment.submissions
        ]
    return sorted(found, key=lambda score: score.student)


def write_csv(found: Iterable[Score], problem_set: str, target: Path) -> None:
    """Write the scores as quoted CSV that no spreadsheet takes for formulas."""
    rows = (
        (
            one.student,
            problem_set,
            one.points if one.graded else "",
            one.max_points,
            "yes" if one.needs_manual_grade else "no",
            one.submitted,
            one.seconds_late,
            one.late_penalty,
            "yes" if one.graded else "no",
        )
        for one in found
    )
    write_rows(target, COLUMNS, rows)


def write_rows(target: Path, columns: Iterable[str], rows: Iterable[Iterable[object]]) -> None:
    """Write rows under the names of their columns: every text quoted, none of them a formula."""
    with target.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_NONNUMERIC)
        writer.writerow(columns)
        for row in rows:
            writer.writerow([harmless(cell) if isinstance(cell, str) else cell for cell in row])


def harmless(text: str) -> str:
    """A text in one line, with an apostrophe before it where a spreadsheet would take it for a formula.

    Some spreadsheets trim blanks and quotes, and take a full-width sign for its narrow form.
    """
    seen = "".join(one for one in unicodedata.normalize("NFKC", text) if unicodedata.category(one)[0] not in "CZ")
    text = printable(text, keep="")
    return f"'{text}" if seen.lstrip("'\"`").startswith(tuple(FORMULA_STARTS)) else text
