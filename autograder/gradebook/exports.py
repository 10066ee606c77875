"""Exports scores as tables: of everything, for Canvas, for Moodle, for `nbgrader export`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from nbgrader.api import Assignment, Gradebook, MissingEntry, Student
from nbgrader.plugins import ExportPlugin

from ..course.folder import Course
from ..course.printable import printable_name
from .scores import Score, scores
from .spreadsheet import harmless, write_rows

CSV_COLUMNS = (
    *("student", "problem_set", "points", "max_points", "needs_manual_grade", "submitted", "seconds_late"),
    *("late_penalty", "graded", "final", "handed_in", "last_name", "first_name", "email", "section", "lms_id"),
    "overridden",
)
NBGRADER_COLUMNS = (
    *("assignment", "duedate", "timestamp", "student_id", "last_name", "first_name", "email"),
    *("raw_score", "late_submission_penalty", "score", "max_score"),
)

#: What may identify a person, and the column it stands in: the first is the default.
IDENTITIES = {
    "csv": {},
    # Canvas finds a person by ID, then by SIS User ID, then by SIS Login ID, at last by name, so one of them is filled:
    # instructure/canvas-lms, lib/gradebook_importer.rb, `process_student`.
    "canvas": {"login": "SIS Login ID", "sis": "SIS User ID", "id": "ID"},
    # The columns that Moodle's own export has, which its import maps to username, useridnumber and useremail:
    # moodle/moodle, grade/import/csv/classes/load_data.php, `map_user_data_with_value`.
    "moodle": {"username": "Username", "idnumber": "ID number", "email": "Email address"},
}
#: Canvas wants these in this order (`row_has_student_headers?`, `update_column_count`), then one for each assignment,
#: and takes the row that has "Points Possible" in its first cell for what the columns are worth.
CANVAS_COLUMNS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
CANVAS_POINTS = "    Points Possible"
#: A column with one of these in its name is no assignment for Canvas (`NON_ASSIGNMENT_COLUMN_HEADERS`).
CANVAS_OWN = re.compile("(Current|Final) (Score|Points|Grade)|Override (Score|Grade|Status)")
MOST_MOODLE = 100  # points: with more in a cell Moodle refuses the file, unless `unlimitedgrades` is set there
MOST_NAMED = 5
DECIMALS = 6  # of points in a table
NOTHING = "handed in nothing"


@dataclass(frozen=True)
class Exported:
    """How many people a file has scores of, and what the instructor must know about it."""

    count: int
    notes: tuple[str, ...]


def export(
    course: Course,
    problem_set: str,
    form: str,
    target: Path,
    identify_by: str | None = None,
    column: str | None = None,
    ungraded: bool = False,
    section: str | None = None,
) -> Exported:
    """Write the scores for "csv", "canvas" or "moodle".

    identify_by: a key of IDENTITIES[form]; column: the name of the column with the scores, the problem set's by default
    ungraded: count people whose written questions still wait for points, with the points they have
    section: of the roster, without it everybody
    Raises ValueError for what the form does not know.
    """
    if form == "csv" and (identify_by or column or ungraded):
        raise ValueError("--identify-by, --column and --ungraded are for canvas and moodle: csv has every column")
    everybody = scores(course, problem_set, section)
    waiting = _not_in_the_gradebook(course, problem_set, everybody, section)
    if form == "csv":
        _write_csv(everybody, problem_set, target)
        return Exported(len(everybody), (*_unread(everybody), *_missing(everybody), *waiting, *_overridden(everybody)))
    known = IDENTITIES[form]
    identify_by = identify_by or next(iter(known))
    if identify_by not in known:
        raise ValueError(f"{form} identifies people by {', '.join(known)}, got {identify_by}")
    column = _sound_column(form, column or problem_set)
    identified, left_out = _sort_out(everybody, form, identify_by, ungraded)
    write = _write_canvas if form == "canvas" else _write_moodle
    write(identified, target, known[identify_by], column)
    notes = [*_unread(everybody), *left_out, *waiting, *_remarks(form, identify_by, column, identified)]
    passed_on = [score for _, score in identified]
    return Exported(len(identified), (*notes, *_overridden(passed_on)))


def _unread(everybody: Iterable[Score]) -> Iterator[str]:
    """A line on each person whose row in the gradebook cannot be read."""
    for score in everybody:
        if score.unread:
            yield f"{printable_name(score.student)}: {score.unread}"


def _overridden(everybody: Iterable[Score]) -> Iterator[str]:
    """A line on each person whose points for code were changed by hand, and stand so in the file."""
    for score in everybody:
        if score.overrides:
            changes = "; ".join(override.text for override in score.overrides)
            yield f"{printable_name(score.student)}: by hand: {changes}"


def _write_csv(everybody: Iterable[Score], problem_set: str, target: Path) -> None:
    rows = (
        (
            score.student,
            problem_set,
            score.points if score.graded else "",
            score.max_points,
            "yes" if score.needs_manual_grade else "no",
            score.submitted,
            score.seconds_late,
            round(score.late_penalty, DECIMALS),
            "yes" if score.graded else "no",
            round(score.final, DECIMALS) if score.graded else "",
            "yes" if score.handed_in else "no",
            *(getattr(score, name) for name in ("last_name", "first_name", "email", "section", "lms_id")),
            "; ".join(override.text for override in score.overrides),
        )
        for score in everybody
    )
    write_rows(target, CSV_COLUMNS, rows)


def _sound_column(form: str, column: str) -> str:
    if harmless(column) != column or not column.strip():
        raise ValueError(f"the column {column!a} would be a formula in a spreadsheet, or is no line of text: another?")
    if form == "canvas" and (column in CANVAS_COLUMNS or CANVAS_OWN.search(column)):
        raise ValueError(f"Canvas keeps the column {column} for itself: choose another name")
    return column


def _sort_out(
    everybody: Iterable[Score], form: str, identify_by: str, ungraded: bool
) -> tuple[list[tuple[str, Score]], list[str]]:
    """Everybody who can be exported, under the exact text that identifies them, and lines on the others."""
    taken: dict[str, Score] = {}
    reasons: dict[str, list[str]] = {}
    for score in everybody:
        identity = _identity(score, identify_by)
        reason = ""
        if not score.handed_in:
            reason = NOTHING
        elif not score.graded:
            reason = "not graded: run grade again"
        elif score.needs_manual_grade and not ungraded:
            reason = "a written question waits for points, or a mark for Resolve: go to formgrader, or say --ungraded"
        elif not identity:
            reason = (
                f"roster and nbgrader know no {'e-mail' if identify_by == 'email' else 'lms_user_id that is a number'}"
            )
        elif harmless(identity) != identity:
            reason = "what identifies them would be a formula in a spreadsheet, or is no plain text"
        elif form == "canvas" and read_by_canvas(identity) != identity:
            reason = "Canvas would read what identifies them as a number and drop its dots"
        elif identity in taken:
            reason = f"the same {identify_by} as {taken[identity].student}"
        if reason:
            reasons.setdefault(reason, []).append(score.student)
        else:
            taken[identity] = score
    return list(taken.items()), [f"left out, {reason}: {_names(names)}" for reason, names in reasons.items()]


def _identity(score: Score, identify_by: str) -> str:
    if identify_by == "id":
        return score.lms_id if re.fullmatch("[1-9][0-9]*", score.lms_id) else ""
    return score.email if identify_by == "email" else score.student


def read_by_canvas(text: str) -> str:
    """What Canvas makes of a cell: of a number with several dots or commas all but the last are dropped.

    After `decimal_comma_to_period` in instructure/canvas-lms, lib/gradebook_importer.rb.
    """
    if not re.fullmatch(r"-?[0-9.,]+%?", text):
        return text
    *before, last = re.split("[,.]", text)
    return f"{''.join(before)}.{last}" if before else last


def _write_canvas(people: list[tuple[str, Score]], target: Path, identity_column: str, column: str) -> None:
    most = max((score.max_points for _, score in people), default=0)
    rows: list[tuple[object, ...]] = [(CANVAS_POINTS, "", "", "", "", _number(most))]
    for identity, score in people:
        name = ", ".join(filter(None, (score.last_name, score.first_name))) or score.student
        cells = {"Student": name, "Section": harmless(score.section), identity_column: identity}
        rows.append((*(cells.get(title, "") for title in CANVAS_COLUMNS), _number(score.final)))
    write_rows(target, (*CANVAS_COLUMNS, column), rows)


def _write_moodle(people: list[tuple[str, Score]], target: Path, identity_column: str, column: str) -> None:
    rows = ((score.first_name, score.last_name, identity, _number(score.final)) for identity, score in people)
    write_rows(target, ("First name", "Last name", identity_column, column), rows)


def _number(points: float) -> float | int:
    """Points as a table has them: whole ones without a point, others without what binary fractions leave behind."""
    rounded = round(points, DECIMALS)
    return int(rounded) if rounded == int(rounded) else rounded


def _missing(everybody: list[Score]) -> list[str]:
    names = [score.student for score in everybody if not score.handed_in]
    return [f"{NOTHING}: {_names(names)}"] if names else []


def _not_in_the_gradebook(
    course: Course, problem_set: str, everybody: list[Score], section: str | None = None
) -> list[str]:
    known = {score.student for score in everybody}
    missing = [student for student in course.students(problem_set) if student not in known]
    if section is not None and course.roster:
        missing = [student for student in missing if student in course.roster.of_section(section)]
    return [f"handed in and not graded yet, run grade: {_names(missing)}"] if missing else []


def _remarks(form: str, identify_by: str, column: str, people: list[tuple[str, Score]]) -> list[str]:
    if not people:
        return []
    most = max(score.max_points for _, score in people)
    waiting = [score.student for _, score in people if score.needs_manual_grade]
    lines = [f"a written question waits for points, or a mark for Resolve: {_names(waiting)}"] if waiting else []
    if form == "canvas":
        return lines + [
            f"Canvas: Gradebook › Import. The column {column} goes to the assignment of that name, which is made if "
            "there is none. Do not save the file from a spreadsheet first: it drops zeros in front of ids."
        ]
    field = {"username": "username", "idnumber": "useridnumber", "email": "useremail"}[identify_by]
    lines.append(
        f"Moodle: Grades › Import › CSV file. Map {IDENTITIES[form][identify_by]} to {field}, and {column} to a grade "
        f"item with a maximum of {_number(most)}. One person whom Moodle does not know, and it refuses the file."
    )
    if identify_by == "username":
        lines += _those(
            people, lambda score: score.student != score.student.lower(), "usernames are in lower case in Moodle"
        )
    lines += _those(
        people, lambda score: score.final > MOST_MOODLE, f"above {MOST_MOODLE} points, which Moodle may refuse"
    )
    return lines


def _those(people: list[tuple[str, Score]], odd: Callable[[Score], bool], why: str) -> list[str]:
    names = [score.student for _, score in people if odd(score)]
    return [f"{why}: {_names(names)}"] if names else []


def _names(names: list[str]) -> str:
    more = [f"and {len(names) - MOST_NAMED} more"] if len(names) > MOST_NAMED else []
    return ", ".join([*map(printable_name, names[:MOST_NAMED]), *more])


class QuotedCsv(ExportPlugin):
    """What `nbgrader export` writes: nbgrader's columns and its options --to, --assignment and --student."""

    def export(self, gradebook: Gradebook) -> None:
        """Write the scores of everybody to `to`, grades.csv where it is not given."""
        target = Path(self.to or "grades.csv")
        self.log.info("Exporting grades to %s", target)
        write_rows(target, NBGRADER_COLUMNS, self._rows(gradebook))

    def _rows(self, gradebook: Gradebook) -> Iterator[tuple[object, ...]]:
        for assignment in gradebook.assignments:
            for student in gradebook.students:
                if self.assignment and assignment.name not in self.assignment:
                    continue
                if not self.student or student.id in map(str, self.student):
                    yield _nbgrader_row(gradebook, assignment, student)


def _nbgrader_row(gradebook: Gradebook, assignment: Assignment, student: Student) -> tuple[object, ...]:
    try:
        submitted = gradebook.find_submission(assignment.name, student.id)
        points, penalty, timestamp = submitted.score, submitted.late_submission_penalty, submitted.timestamp
    except MissingEntry:  # nothing was handed in
        points, penalty, timestamp = 0.0, 0.0, None
    names = (student.id, student.last_name, student.first_name, student.email)
    times = (str(time or "") for time in (assignment.duedate, timestamp))
    numbers = (points, penalty, max(0.0, points - penalty), assignment.max_score)
    return (assignment.name, *times, *(name or "" for name in names), *numbers)
