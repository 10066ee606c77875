"""Reads a problem set's scores from nbgrader's gradebook."""

from __future__ import annotations

from dataclasses import dataclass

from ..course.folder import Course
from .autograded_folder import autograded


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

    from .nbgrader import gradebook

    with gradebook(course) as book:
        try:
            assignment = book.find_assignment(problem_set)
        except MissingEntry:
            raise KeyError(f"{problem_set} is not in the gradebook: release it first") from None
        everybody = [
            Score(
                row.student_id,
                row.score,
                row.max_score,
                row.needs_manual_grade,
                row.timestamp.isoformat(timespec="seconds") if row.timestamp else "",
                row.total_seconds_late,
                row.late_submission_penalty or 0.0,
                (autograded(course, row.student_id, problem_set) / f"{problem_set}.ipynb").exists(),
                last_name=row.student.last_name or "",
                first_name=row.student.first_name or "",
                email=row.student.email or "",
                lms_id=row.student.lms_user_id or "",
            )
            for row in assignment.submissions
        ]
    return sorted(everybody, key=lambda score: score.student)
