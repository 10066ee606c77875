"""Grades a problem set of a course: judges what is new, in parallel, and enters the points through nbgrader."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

from selfcheck.catalogue import in_problem_set

from . import arrivals
from .course import Course, OddId
from .judging import keys_of
from .nbgrader_plugin import api
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
        for exercise in in_problem_set(problem_set):
            keys_of(exercise, course.secret)  # computed once, before the workers start
    lines = []
    for number, (student, outcome) in enumerate(_judged(course, problem_set, students, sandbox), start=1):
        line = _enter(course, student, problem_set, outcome)
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


def _enter(course: Course, student: str, problem_set: str, outcome: Record | Exception) -> Line:
    """Enter a verdict into the gradebook by nbgrader's own autograde, unless it is there already."""
    if isinstance(outcome, OddId):
        return Line(student, None, 0, (f"not graded: {outcome}. Rename the folder in `submitted`",), True)
    if isinstance(outcome, Exception):
        return Line(student, None, 0, (f"grader's fault: {type(outcome).__name__}: {outcome}",), True)
    remarks = tuple(outcome["remarks"])
    if outcome["grader_error"]:
        return Line(student, None, 0, (*remarks, "grader's fault: not graded; run grade again"), True)
    if outcome["again"] or not _entered(course, student, problem_set):
        done = api(course).autograde(problem_set, student, force=True, create=True)
        if not done["success"]:
            shutil.rmtree(course.root / "autograded" / student / problem_set, ignore_errors=True)
            reason = (done.get("error") or done.get("log") or "").strip().splitlines()[-1:] or ["no reason given"]
            return Line(student, None, 0, (*remarks, f"nbgrader refused it: {reason[0]}"), True)
    points = sum(exercise["points"] for exercise in outcome["exercises"])
    most = sum(exercise["max_points"] for exercise in outcome["exercises"])
    return Line(student, points, most, remarks, outcome["again"])


def _entered(course: Course, student: str, problem_set: str) -> bool:
    """Whether the gradebook holds this hand-in: a later one may differ in its written answers alone."""
    entered = course.root / "autograded" / student / problem_set
    stamps = [folder / arrivals.STAMP for folder in (entered, course.submitted(student, problem_set))]
    return (entered / f"{problem_set}.ipynb").exists() and len({_text(stamp) for stamp in stamps}) == 1


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""
