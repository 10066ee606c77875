"""What `nbgrader export` writes in a course: nbgrader's columns, quoted, and no cell that a spreadsheet would run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from nbgrader.api import Assignment, Gradebook, MissingEntry, Student
from nbgrader.plugins import ExportPlugin

from .scores import write_rows

COLUMNS = (
    *("assignment", "duedate", "timestamp", "student_id", "last_name", "first_name", "email"),
    *("raw_score", "late_submission_penalty", "score", "max_score"),
)


class QuotedCsv(ExportPlugin):
    """Takes nbgrader's own options --to, --assignment and --student."""

    def export(self, gradebook: Gradebook) -> None:
        """Write the scores of everybody to `to`, grades.csv where it is not given."""
        target = Path(self.to or "grades.csv")
        self.log.info("Exporting grades to %s", target)
        write_rows(target, COLUMNS, self._rows(gradebook))

    def _rows(self, gradebook: Gradebook) -> Iterator[tuple]:
        for assignment in gradebook.assignments:
            for student in gradebook.students:
                if self.assignment and assignment.name not in self.assignment:
                    continue
                if not self.student or student.id in map(str, self.student):
                    yield _row(gradebook, assignment, student)


def _row(gradebook: Gradebook, assignment: Assignment, student: Student) -> tuple:
    try:
        found = gradebook.find_submission(assignment.name, student.id)
        points, penalty, timestamp = found.score, found.late_submission_penalty, found.timestamp
    except MissingEntry:  # nothing was handed in
        points, penalty, timestamp = 0.0, 0.0, None
    names = (student.id, student.last_name, student.first_name, student.email)
    times = (str(one or "") for one in (assignment.duedate, timestamp))
    scores = (points, penalty, max(0.0, points - penalty), assignment.max_score)
    return (assignment.name, *times, *(one or "" for one in names), *scores)
