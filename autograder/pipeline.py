"""Grades a problem set of a course: each submission is taken in, judged, entered into the gradebook and logged.

Submission → Result → GradebookEntry
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from selfcheck.catalogue import forbidden_by, in_problem_set

from .answer_key import precomputed
from .course.durations import span
from .course.faults import machine_fault, unforeseen
from .course.folder import Course, InvalidStudentId
from .course.locks import reading_release
from .gradebook.audit_log import Log, NotLogged
from .gradebook.errors import GradebookDamaged, NotEntered
from .gradebook.sync import GradebookSync
from .intake.arrivals import is_archives_word
from .intake.store import Unrecognised, take_in
from .intake.submission import Submission
from .judge.cache import put_on_file, result_on_file, task_of
from .judge.cluster import judged
from .judge.result import Result
from .judge.sources import start_reading
from .judge.task import Task
from .release.staleness import check_release
from .sandbox.sight import require_out_of_sight
from .sandbox.worker_pool import expect_watch, start_fork_server


@dataclass(frozen=True)
class Line:
    """What the instructor sees of one submission."""

    student: str
    points: float | None  # None: not graded
    max_points: float
    remarks: tuple[str, ...]
    again: bool  # whether it was graded in this run
    seconds_late: float = 0.0
    penalty: float = 0.0  # points
    final: float | None = None  # the points that count: marks given by hand included, the penalty taken off
    archives_word: bool = False  # in time by the times in its own archive, and taken in after the deadline

    @property
    def taken_off(self) -> str:
        """What lateness costs, in words."""
        return f"-{self.penalty:g}" if self.penalty else "nothing taken off"

    @property
    def score(self) -> str:
        """The points for code, and what counts where that is something else."""
        if self.points is None:
            return "not graded"
        late = f", {span(self.seconds_late)} late: {self.taken_off}" if self.seconds_late else ""
        final = "" if self.final in (None, self.points) else f"; {self.final:g} count"
        return f"{self.points:g} of {self.max_points:g}{late}{final}"


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
    it was graded is left as it is, unless `regrade`. scheduler: of the Dask cluster that judges; None: the threads of
    this process. Raises ReleaseAgain where the released points are not those that the course has now, SettingsError,
    NoCluster, and InSight where submissions would see what is private in the course.
    """
    with reading_release(course, lambda: say("waiting until the release that is under way is done")):
        return _grade(course, problem_set, isolation, say, regrade, scheduler)


def _grade(
    course: Course,
    problem_set: str,
    isolation: str,
    say: Callable[[str], None],
    regrade: bool,
    scheduler: str | None,
) -> list[Line]:
    check_release(course, problem_set)
    _ = course.extensions  # a roster that cannot be read is told before anybody is judged
    if isolation != "none":
        require_out_of_sight(course.private_places)
    students = course.students(problem_set)
    if regrade:
        for path in (course.result_file(student, problem_set) for student in students):
            if os.path.exists(path):  # False, too, where a folder's name is too long for that of a file
                path.unlink(missing_ok=True)
    private = _private_elsewhere(course) if scheduler and isolation != "none" else ()
    submissions = _taken_in(course, problem_set, students, isolation, private)
    answer_key = functools.partial(precomputed.answer_key, course)
    lines = []
    with GradebookSync(course, problem_set) as sync, Log(course, regrade) as log:
        for submission, outcome in judged(submissions, answer_key, scheduler):
            line = _line(course, sync, log, submission, outcome)
            lines.append(line)
            say(f"{len(lines)}/{len(students)} {line.student}: {line.score}")
        if course.roster:
            with suppress(NotEntered):  # names alone: the next run brings them
                sync.enter_people()
    return sorted(lines, key=lambda line: line.student)


def start_early(course: Course, problem_set: str, isolation: str, regrade: bool) -> None:
    """Start the processes that judge in this one, where somebody has no result on file: they import meanwhile."""
    students = course.students(problem_set)
    waiting = sum(regrade or not os.path.exists(course.result_file(student, problem_set)) for student in students)
    if waiting:
        start_fork_server(isolation, waiting)
        start_reading()
        expect_watch(isolation, forbidden_by(in_problem_set(problem_set)))


def _private_elsewhere(course: Course) -> tuple[str, ...]:
    """What no submission may see on the workers' machines, whose Python can lie elsewhere than this one's."""
    from .gradebook.nbgrader import configuration, places_of  # nbgrader takes a second to import

    places = (*course.private_places, *places_of(configuration(course)))
    return tuple(dict.fromkeys(find(place) for place in places for find in (os.path.abspath, os.path.realpath)))


def _taken_in(
    course: Course, problem_set: str, students: list[str], isolation: str, private: tuple[str, ...]
) -> Iterator[tuple[Submission, Task | Result | Exception]]:
    """Each submission with its result on file, else with what is to be judged, else with why it cannot be."""
    for student in students:
        submission = Submission(student=student, problem_set=problem_set, files={}, notebook="")
        outcome: Task | Result | Exception
        try:
            submission = take_in(course, student, problem_set, functools.partial(_inbound, course))
            task = replace(task_of(course, submission, isolation), private=private)
            outcome = result_on_file(course, submission, task) or task
        except Exception as error:  # one submission never stops the class
            outcome = error
        yield submission, outcome


def _inbound(course: Course) -> Path | None:
    from .gradebook.nbgrader import inbound_folder  # nbgrader takes a second to import, and is seldom needed here

    return inbound_folder(course)


def _line(course: Course, sync: GradebookSync, log: Log, submission: Submission, outcome: Result | Exception) -> Line:
    """What becomes of one submission; raises GradebookDamaged, which concerns them all."""
    if isinstance(outcome, Exception):
        return _not_judged(submission, outcome)
    try:
        return _judged(course, sync, log, submission, outcome)
    except GradebookDamaged:
        raise
    except Exception as error:  # whatever one submission has brought about stops nobody else's
        return _not_judged(submission, error)


def _judged(course: Course, sync: GradebookSync, log: Log, submission: Submission, outcome: Result) -> Line:
    """Put what was judged in this run on file, and see to it that it is entered."""
    try:
        result = put_on_file(course, submission, outcome) if outcome.fresh else outcome
    except OSError as error:
        trouble = f"judged, but not put on file: {machine_fault(error)}, and run grade again"
        return Line(submission.student, None, 0, (*outcome.remarks, trouble), True)
    return _entered(course, sync, log, submission, result)


def _entered(course: Course, sync: GradebookSync, log: Log, submission: Submission, result: Result) -> Line:
    """Put a result that is new into gradebook and log, and one on file where these do not hold it yet."""
    remarks = result.remarks
    if result.grader_error:
        return Line(result.student, None, 0, (*remarks, "grader's fault: not graded; run grade again"), True)
    try:
        is_entered = not result.fresh and sync.holds(submission, result)
        entry = sync.entry(result) if is_entered else sync.enter(submission, result)
        log.entered(result, entry)
    except NotLogged as error:
        remarks = (*remarks, f"entered, but not logged: {error}")
    except NotEntered as error:
        return Line(result.student, None, 0, (*remarks, f"judged, but not entered in the gradebook: {error}"), True)
    line = Line(result.student, result.points, result.max_points, remarks, result.fresh)
    late = entry.late or {}
    remarks = (*remarks, *(f"points for code changed by hand: {override.text}" for override in entry.overrides))
    line = replace(line, remarks=remarks, final=entry.final)
    line = replace(line, seconds_late=late.get("seconds", 0.0), penalty=late.get("penalty", 0.0))
    if "due" not in late:
        return line
    until = datetime.fromisoformat(late["due"]).replace(tzinfo=UTC) + timedelta(seconds=late.get("extension", 0))
    return replace(line, archives_word=is_archives_word(course, submission, until))


def _not_judged(submission: Submission, error: Exception) -> Line:
    student = submission.student
    if isinstance(error, InvalidStudentId):
        return Line(student, None, 0, (f"not graded: {error}. Rename the folder in `submitted`",), True)
    if isinstance(error, Unrecognised):
        mend = "Take in the right work with submit, or remove it from `submitted`"
        return Line(student, None, 0, (f"not graded, no zero is entered: {error}. {mend}",), True)
    fault = machine_fault(error)
    if fault:
        return Line(student, None, 0, (f"not graded: {fault}, and run grade again",), True)
    return Line(student, None, 0, (f"grader's fault: {unforeseen(error)}",), True)
