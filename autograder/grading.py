"""Grades a problem set of a course: judges what is new, in parallel, and enters the points through nbgrader."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass

from .course import Course, OddId
from .entering import Entering, NotEntered
from .judging import keys_of
from .records import Record, record_of, record_on_file
from .reference import ONE_AT_A_TIME
from .sandbox import Sandbox
from .workers import count


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
    sandbox: Sandbox,
    say: Callable[[str], None] = lambda text: None,
    regrade: bool = False,
) -> list[Line]:
    """Grade everybody who submitted a problem set, and enter the points into nbgrader's gradebook.

    A submission that cannot be graded becomes a line that says why, and the class goes on. What has not changed since
    it was graded is left as it is, unless `regrade`.
    """
    students = course.students(problem_set)
    if regrade:
        for student in students:
            course.result_file(student, problem_set).unlink(missing_ok=True)
    if not all(_on_file(course, student, problem_set) for student in students):
        terms = course.terms.of(problem_set)
        for exercise in terms.exercises(problem_set):
            keys_of(exercise, terms)  # computed once, before the workers start
    lines = []
    with Entering(course, problem_set) as entering:
        for number, (student, outcome) in enumerate(_judged(course, problem_set, students, sandbox), start=1):
            line = _enter(entering, student, outcome)
            lines.append(line)
            score = "not graded" if line.points is None else f"{line.points:g} of {line.max_points:g}"
            with ONE_AT_A_TIME:
                say(f"{number}/{len(students)} {student}: {score}")
    return sorted(lines, key=lambda line: line.student)


def _on_file(course: Course, student: str, problem_set: str) -> bool:
    try:
        return record_on_file(course, student, problem_set) is not None
    except Exception:  # told in this student's line
        return False


def _judged(course: Course, problem_set: str, students: Iterable[str], sandbox: Sandbox):
    with ThreadPoolExecutor(count()) as pool:
        waiting = {pool.submit(record_of, course, student, problem_set, sandbox): student for student in students}
        for future in as_completed(waiting):
            try:
                yield waiting[future], future.result()
            except Exception as error:  # one submission never stops the class
                yield waiting[future], error


def _enter(entering: Entering, student: str, outcome: Record | Exception) -> Line:
    """Enter a verdict into the gradebook, unless it is there already."""
    if isinstance(outcome, OddId):
        return Line(student, None, 0, (f"not graded: {outcome}. Rename the folder in `submitted`",), True)
    if isinstance(outcome, Exception):
        return Line(student, None, 0, (f"grader's fault: {type(outcome).__name__}: {outcome}",), True)
    remarks = tuple(outcome["remarks"])
    if outcome["grader_error"]:
        return Line(student, None, 0, (*remarks, "grader's fault: not graded; run grade again"), True)
    try:
        if outcome["again"] or not entering.is_entered(student, outcome):
            entering.enter(student, outcome)
    except NotEntered as error:
        return Line(student, None, 0, (*remarks, f"judged, but not entered in the gradebook: {error}"), True)
    points = sum(exercise["points"] for exercise in outcome["exercises"])
    most = sum(exercise["max_points"] for exercise in outcome["exercises"])
    return Line(student, points, most, remarks, outcome["again"])
