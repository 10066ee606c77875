"""Grades a problem set of a course: has judged what is new, and enters the points through nbgrader."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass

from .answer_key import precomputed
from .answer_key.reference import ONE_AT_A_TIME
from .course.folder import Course, OddId
from .gradebook.audit_log import Log, NotLogged
from .gradebook.sync import Entering, NotEntered
from .judge.cache import Record, filed, record_or_task
from .judge.cluster import judged
from .judge.result import Task
from .release.staleness import check_release


@dataclass(frozen=True)
class Line:
    """What the instructor sees of one submission."""

    student: str
    points: float | None  # None: not graded
    max_points: float
    remarks: tuple[str, ...]
    again: bool  # whether it was graded in this run


def grade(
    course: Course,
    problem_set: str,
    isolation: str = "bubblewrap",
    say: Callable[[str], None] = lambda text: None,
    regrade: bool = False,
    scheduler: str | None = None,
) -> list[Line]:
    """Grade everybody who submitted a problem set, and enter the points into nbgrader's gradebook.

    A submission that cannot be graded becomes a line that says why, and the class goes on. What has not changed since
    it was graded is left as it is, unless `regrade`. scheduler: of the Dask cluster that judges; None: one in this
    process. Raises ReleaseAgain where the released points are not those that the course has now, and SettingsError.
    """
    check_release(course, problem_set)
    students = course.students(problem_set)
    if regrade:
        for student in students:
            course.result_file(student, problem_set).unlink(missing_ok=True)
    known = precomputed.read(course, problem_set)
    lines = []
    with Entering(course, problem_set) as entering, Log(course, regrade) as log:
        outcomes = judged(_known(course, problem_set, students, isolation), scheduler)
        for number, (student, outcome) in enumerate(outcomes, start=1):
            line = _enter(course, entering, log, student, outcome)
            lines.append(line)
            score = "not graded" if line.points is None else f"{line.points:g} of {line.max_points:g}"
            with ONE_AT_A_TIME:
                say(f"{number}/{len(students)} {student}: {score}")
    if not known and scheduler is None and any(line.again for line in lines):
        with suppress(OSError):  # all marks are in: the next one finds out again
            precomputed.write(course, problem_set)
    return sorted(lines, key=lambda line: line.student)


def _known(
    course: Course, problem_set: str, students: list[str], isolation: str
) -> Iterator[tuple[str, Record | Task | Exception]]:
    """Of each student what is on file, else what is to be judged, else why neither can be had."""
    for student in students:
        try:
            yield student, record_or_task(course, student, problem_set, isolation)
        except Exception as error:  # one submission never stops the class
            yield student, error


def _enter(course: Course, entering: Entering, log: Log, student: str, outcome: Record | Exception) -> Line:
    """Put verdicts that are new on file, and into gradebook and log where these do not hold them yet."""
    if isinstance(outcome, OddId):
        return Line(student, None, 0, (f"not graded: {outcome}. Rename the folder in `submitted`",), True)
    if isinstance(outcome, Exception):
        return Line(student, None, 0, (f"grader's fault: {type(outcome).__name__}: {outcome}",), True)
    record = outcome if "student" in outcome else filed(course, student, outcome)
    remarks = tuple(record["remarks"])
    if record["grader_error"]:
        return Line(student, None, 0, (*remarks, "grader's fault: not graded; run grade again"), True)
    try:
        if record["again"] or not entering.is_entered(student, record):
            entering.enter(student, record)
        log.entered(record, entering.by_hand(student), entering.late(student))
    except NotLogged as error:
        remarks = (*remarks, f"entered, but not logged: {error}")
    except NotEntered as error:
        return Line(student, None, 0, (*remarks, f"judged, but not entered in the gradebook: {error}"), True)
    points = sum(exercise["points"] for exercise in record["exercises"])
    most = sum(exercise["max_points"] for exercise in record["exercises"])
    return Line(student, points, most, remarks, record["again"])
