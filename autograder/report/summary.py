"""Summarises the results of a class: how each exercise went, which mistakes have a name, who needs a look."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any, TypeGuard

from selfcheck.catalogue import Exercise, in_problem_set, modules_of
from selfcheck.verdict import FAILED, PASSED, SKIPPED

from ..course.faults import unforeseen
from ..course.folder import Course
from ..gradebook.scores import Score, known_scores
from ..intake.safe_files import NotTaken, reader
from ..judge.cache import read_record
from .anonymous import aliases_of
from .attempts import BLANK, STARTED, attempt_of, attempts_of
from .met import Met, met_of
from .similar import MOST_READ, Similarities, similarities

DAMAGED = "the record is damaged: run grade again"
MOST = 1e9  # seconds or MiB


@dataclass
class CheckSummary:
    """One mechanism: what its check sees, and how many learners got which verdict."""

    sees: str
    hidden: bool
    verdicts: Counter[str] = field(default_factory=Counter)

    @property
    def of(self) -> int:
        return self.verdicts[PASSED] + self.verdicts[FAILED] + self.verdicts[SKIPPED]

    @property
    def rate(self) -> float:
        return self.verdicts[PASSED] / self.of if self.of else 0.0


@dataclass
class ExerciseSummary:
    """How a class did on one exercise: those who started it, in `points`; blank and missing count apart.

    passed: learners who pass every check; blank, missing: who left it as it was, who handed in no module for it
    misconceptions: id → learners
    """

    exercise: Exercise
    points: dict[str, int] = field(default_factory=dict)
    max_points: int = 0
    passed: list[str] = field(default_factory=list)
    blank: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    checks: dict[str, CheckSummary] = field(default_factory=dict)
    misconceptions: dict[str, list[str]] = field(default_factory=dict)
    seconds: list[float] = field(default_factory=list)

    @property
    def id(self) -> str:
        return self.exercise.id

    @property
    def number(self) -> str:
        return self.exercise.number

    @property
    def rate(self) -> float:
        return len(self.passed) / len(self.points) if self.points else 0.0

    @property
    def mean(self) -> float:
        return sum(self.points.values()) / len(self.points) if self.points else 0.0

    def count(self, student: str, exercise: dict[str, Any], attempt: str) -> None:
        """Count one learner's verdicts, as they stand in the record. attempt: one of attempts.KINDS"""
        self.max_points = max(self.max_points, exercise["max_points"])
        if attempt != STARTED:
            (self.blank if attempt == BLANK else self.missing).append(student)
            return
        self.points[student] = exercise["points"]
        if all(check["verdict"] == PASSED for check in exercise["checks"]):
            self.passed.append(student)
        for check in exercise["checks"]:
            name = check.get("check", check["sees"])
            hidden = name not in self.exercise.points
            self.checks.setdefault(name, CheckSummary(check["sees"], hidden)).verdicts[check["verdict"]] += 1
        for name in sorted({check["misconception"] for check in exercise["checks"] if check["misconception"]}):
            self.misconceptions.setdefault(name, []).append(student)
        if _is_number(exercise.get("seconds")):
            self.seconds.append(exercise["seconds"])


@dataclass
class ClassReport:
    """A problem set over the whole class.

    ungraded: who has handed in and has no grade; graders: versions of the grader that the grades come from
    seconds: what judging took, by learner; used: what the submission did of it, seconds of the processor and MiB
    scores: what the gradebook holds and the roster says, by learner
    absent: who is on the roster and handed in nothing
    attempts: by learner, whether anything was started, or all is blank or packed so that no module came
    stale: why the points that count are not up to date, "" where they are
    aliases: by learner, what stands for the name where names are hidden; hidden: whether they are hidden for good
    """

    problem_set: str
    exercises: list[ExerciseSummary]
    totals: dict[str, tuple[int, int]] = field(default_factory=dict)  # student → points, maximum
    looks: dict[str, list[str]] = field(default_factory=dict)  # student → why the instructor should look
    isolation: set[str] = field(default_factory=set)
    graders: set[str] = field(default_factory=set)
    seconds: dict[str, float] = field(default_factory=dict)
    used: dict[str, tuple[float, float]] = field(default_factory=dict)
    ungraded: list[str] = field(default_factory=list)
    scores: dict[str, Score] = field(default_factory=dict)
    absent: list[Score] = field(default_factory=list)
    attempts: dict[str, str] = field(default_factory=dict)
    stale: str = ""
    aliases: dict[str, str] = field(default_factory=dict)
    hidden: bool = False
    similar: Similarities = field(default_factory=lambda: Similarities((), (), (), 0))

    @property
    def max_points(self) -> int:
        return max((most for _, most in self.totals.values()), default=0)

    @property
    def missing(self) -> list[str]:
        """Who handed in nothing, by id."""
        return [score.student for score in self.absent]

    @property
    def started(self) -> dict[str, int]:
        """The points for code of those who started anything, by learner."""
        return {student: points for student, (points, _) in self.totals.items() if self.attempts[student] == STARTED}

    def of_attempt(self, attempt: str) -> list[str]:
        """Whose submission is blank, or without any module."""
        return [student for student in sorted(self.attempts) if self.attempts[student] == attempt]

    @property
    def mean(self) -> float:
        """Of those who started anything."""
        return sum(self.started.values()) / len(self.started) if self.started else 0.0

    @property
    def median(self) -> float:
        """Of those who started anything."""
        return median(self.started.values()) if self.started else 0.0

    @property
    def finals(self) -> list[float]:
        """The points that count, of everybody who is graded: marks given by hand included, late penalties taken off."""
        return [score.final for score in self.scores.values() if score.graded]

    @property
    def late(self) -> list[Score]:
        """Who handed in late."""
        return [score for score in self.scores.values() if score.seconds_late > 0]

    @property
    def met(self) -> list[Met]:
        """The misconceptions of the class, the most frequent first."""
        every = [
            met_of(summary.exercise, name, tuple(students))
            for summary in self.exercises
            for name, students in summary.misconceptions.items()
        ]
        return sorted(every, key=lambda met: -met.count)

    def to_look_at(self) -> dict[str, list[str]]:
        """Everybody whose submission needs a look, by id, and why."""
        looks = {student: list(reasons) for student, reasons in self.looks.items()}
        for student in self.ungraded:
            looks.setdefault(student, []).append("handed in and not graded yet: run grade")
        return looks if self.hidden else dict(sorted(looks.items()))

    @property
    def learners(self) -> list[str]:
        """Everybody with points, in the order of a list."""
        return list(self.totals) if self.hidden else sorted(self.totals)


def class_report(course: Course, problem_set: str, section: str | None = None) -> ClassReport:
    """The report, from the verdicts on file, the submitted modules, the gradebook and the roster.

    section: of the roster, without it everybody
    Raises FileNotFoundError where nothing was graded, ValueError for a section that nobody is in.
    """
    known_people = known_scores(course, problem_set, section)
    chosen = None if section is None else {score.student for score in known_people}
    report = ClassReport(problem_set, [ExerciseSummary(exercise) for exercise in in_problem_set(problem_set)])
    summaries = {summary.id: summary for summary in report.exercises}
    for student, record in _records(course, problem_set):
        if chosen is not None and student not in chosen:
            continue
        trouble = _why_not_counted(problem_set, record)
        if record is None or trouble:
            report.looks[student] = [trouble]
        else:
            _count(report, summaries, record)
    if not report.totals and not report.looks:
        raise FileNotFoundError(f"nothing of {problem_set} is graded in {course.root}: run grade {problem_set} first")
    report.exercises = [summary for summary in report.exercises if summary.max_points]
    known = report.totals.keys() | report.looks.keys()
    handed_in = course.students(problem_set) if chosen is None else chosen & set(course.students(problem_set))
    report.ungraded = sorted(set(handed_in) - known)
    report.scores = {score.student: score for score in known_people if score.handed_in}
    for score in report.scores.values():
        told = [f"points for code changed by hand: {override.text}" for override in score.overrides]
        told += [score.unread] if score.unread else []
        if told:
            report.looks[score.student] = [*report.looks.get(score.student, ()), *told]
    report.absent = [score for score in known_people if not score.handed_in and score.student not in known]
    modules = modules_of(problem_set)
    report.aliases = aliases_of(course, [*known, *report.ungraded, *report.missing])
    report.similar = similarities(report.totals, modules, lambda student: _files(course, student, problem_set, modules))
    return report


def _records(course: Course, problem_set: str) -> Iterator[tuple[str, dict[str, Any] | None]]:
    """Each record on file, one at a time: those of a large class are not held together."""
    for path in sorted((course.root / "results" / problem_set).glob("*.json")):
        record = read_record(path)
        yield (record["student"] if record else path.stem), record


def _why_not_counted(problem_set: str, record: dict[str, Any] | None) -> str:
    """Why a record cannot be counted, "" where it can: what nobody foresaw in one stops nobody else's report."""
    if record is None:
        return DAMAGED
    exercises = (ExerciseSummary(exercise) for exercise in in_problem_set(problem_set))
    try:
        _count(ClassReport(problem_set, []), {summary.id: summary for summary in exercises}, record)
    except Exception as error:
        return f"the grader failed, and this is not counted: {unforeseen(error)}"
    return ""


def _count(report: ClassReport, summaries: dict[str, ExerciseSummary], record: dict[str, Any]) -> None:
    student, reasons = record["student"], list(record["remarks"])
    report.isolation.add(record["isolation"])
    if record["grader_error"]:
        report.looks[student] = [*reasons, "the grader failed: not graded"]
        return
    report.graders.add(str(record.get("grader", "")))
    kinds = attempts_of(record)
    for exercise in record["exercises"]:
        if exercise["id"] in summaries:
            summaries[exercise["id"]].count(student, exercise, kinds[exercise["id"]])
    report.attempts[student] = attempt_of(kinds.values())
    report.totals[student] = (
        sum(exercise["points"] for exercise in record["exercises"]),
        sum(exercise["max_points"] for exercise in record["exercises"]),
    )
    if _is_number(record.get("seconds")):
        report.seconds[student] = record["seconds"]
    used = _used(record)
    if used:
        report.used[student] = used
    if reasons:
        report.looks[student] = reasons


def _used(record: dict[str, Any]) -> tuple[float, float] | None:
    """What a submission used; None where the record does not have it."""
    used = record.get("used")
    seconds, mib = map(used.get, ("processor_seconds", "peak_mib")) if isinstance(used, dict) else (None, None)
    return (seconds, mib) if _is_number(seconds) and _is_number(mib) else None


def _is_number(value: Any) -> TypeGuard[float]:
    """Whether a value of a record is a number that a table can show."""
    return isinstance(value, int | float) and 0 <= value < MOST


def _files(course: Course, student: str, problem_set: str, modules: list[str]) -> dict[str, bytes]:
    """The modules of a submission: nothing is followed, and no more read than is compared."""
    folder, files = course.submitted(student, problem_set) / "attention", {}
    for module in modules:
        with suppress(OSError, NotTaken):
            files[f"{module}.py"] = reader(Path(folder, f"{module}.py"))(MOST_READ + 1)
    return files
