"""Summarises the results of a class: how each exercise went, which mistakes have a name, who needs a look."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from selfcheck.catalogue import Exercise, in_problem_set, modules_of
from selfcheck.sections import address_of, title_of
from selfcheck.verdict import FAILED, PASSED, SKIPPED

from ..course.folder import Course
from ..gradebook.scores import Score, known_scores
from ..intake.safe_files import NotTaken, reader
from ..judge.cache import read_record
from .similar import MOST_READ, Similarities, similarities

DAMAGED = "the record is damaged: run grade again"


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
    """How a class did on one exercise."""

    exercise: Exercise
    points: list[int] = field(default_factory=list)
    max_points: int = 0
    passed: int = 0  # learners who pass every check
    checks: dict[str, CheckSummary] = field(default_factory=dict)
    misconceptions: Counter[str] = field(default_factory=Counter)  # id → learners
    seconds: list[float] = field(default_factory=list)

    @property
    def id(self) -> str:
        return self.exercise.id

    @property
    def number(self) -> str:
        return self.exercise.number

    @property
    def rate(self) -> float:
        return self.passed / len(self.points) if self.points else 0.0

    @property
    def mean(self) -> float:
        return sum(self.points) / len(self.points) if self.points else 0.0

    def count(self, exercise: dict[str, Any]) -> None:
        """Count one learner's verdicts, as they stand in the record."""
        self.points.append(exercise["points"])
        self.max_points = max(self.max_points, exercise["max_points"])
        self.passed += all(check["verdict"] == PASSED for check in exercise["checks"])
        for check in exercise["checks"]:
            name = check.get("check", check["sees"])
            hidden = name not in self.exercise.points
            self.checks.setdefault(name, CheckSummary(check["sees"], hidden)).verdicts[check["verdict"]] += 1
        self.misconceptions.update({check["misconception"] for check in exercise["checks"] if check["misconception"]})
        if isinstance(exercise.get("seconds"), int | float):
            self.seconds.append(exercise["seconds"])


@dataclass(frozen=True)
class Met:
    """A misconception that was met in the class."""

    count: int
    exercise: Exercise
    id: str
    message: str
    reread: str  # the section's title, and where it is
    address: str


@dataclass
class ClassReport:
    """A problem set over the whole class.

    ungraded: who has handed in and has no grade; graders: versions of the grader that the grades come from
    seconds: what judging took, by learner; used: what the submission did of it, seconds of the processor and MiB
    scores: what the gradebook holds and the roster says, by learner
    missing: who is on the roster and handed in nothing
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
    missing: list[str] = field(default_factory=list)
    similar: Similarities = field(default_factory=lambda: Similarities((), (), (), 0))

    @property
    def max_points(self) -> int:
        return max((most for _, most in self.totals.values()), default=0)

    @property
    def mean(self) -> float:
        return sum(points for points, _ in self.totals.values()) / len(self.totals) if self.totals else 0.0

    @property
    def median(self) -> float:
        return median(points for points, _ in self.totals.values()) if self.totals else 0.0

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
            _met(summary.exercise, name, count)
            for summary in self.exercises
            for name, count in summary.misconceptions.items()
        ]
        return sorted(every, key=lambda met: -met.count)

    def to_look_at(self) -> dict[str, list[str]]:
        """Everybody whose submission needs a look, by id, and why."""
        looks = {student: list(reasons) for student, reasons in self.looks.items()}
        for student in self.ungraded:
            looks.setdefault(student, []).append("handed in and not graded yet: run grade")
        return dict(sorted(looks.items()))


def _met(exercise: Exercise, name: str, count: int) -> Met:
    try:
        entry = exercise.message_of(name)
    except KeyError:  # graded before the catalogue changed
        message, section = "no longer in the catalogue: run grade again", exercise.section
    else:
        message, section = f"{entry.message} {entry.remedy}".strip(), entry.section
    return Met(count, exercise, name, message, title_of(section), address_of(section))


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
        if record is None:
            report.looks[student] = [DAMAGED]
        else:
            _count(report, summaries, record)
    if not report.totals and not report.looks:
        raise FileNotFoundError(f"nothing of {problem_set} is graded in {course.root}: run grade {problem_set} first")
    report.exercises = [summary for summary in report.exercises if summary.points]
    known = report.totals.keys() | report.looks.keys()
    handed_in = course.students(problem_set) if chosen is None else chosen & set(course.students(problem_set))
    report.ungraded = sorted(set(handed_in) - known)
    report.scores = {score.student: score for score in known_people if score.handed_in}
    for score in report.scores.values():
        if score.overrides:
            told = [f"points for code changed by hand: {one.text}" for one in score.overrides]
            report.looks[score.student] = [*report.looks.get(score.student, ()), *told]
    report.missing = [score.student for score in known_people if not score.handed_in and score.student not in known]
    modules = modules_of(problem_set)
    report.similar = similarities(report.totals, modules, lambda student: _files(course, student, problem_set, modules))
    return report


def _records(course: Course, problem_set: str) -> Iterator[tuple[str, dict[str, Any] | None]]:
    """Each record on file, one at a time: those of a large class are not held together."""
    for path in sorted((course.root / "results" / problem_set).glob("*.json")):
        record = read_record(path)
        yield (record["student"] if record else path.stem), record


def _count(report: ClassReport, summaries: dict[str, ExerciseSummary], record: dict[str, Any]) -> None:
    student, reasons = record["student"], list(record["remarks"])
    report.isolation.add(record["isolation"])
    if record["grader_error"]:
        report.looks[student] = [*reasons, "the grader failed: not graded"]
        return
    report.graders.add(str(record.get("grader", "")))
    for exercise in record["exercises"]:
        if exercise["id"] in summaries:
            summaries[exercise["id"]].count(exercise)
    report.totals[student] = (
        sum(exercise["points"] for exercise in record["exercises"]),
        sum(exercise["max_points"] for exercise in record["exercises"]),
    )
    if isinstance(record.get("seconds"), int | float):
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
    return (seconds, mib) if isinstance(seconds, int | float) and isinstance(mib, int | float) else None


def _files(course: Course, student: str, problem_set: str, modules: list[str]) -> dict[str, bytes]:
    """The modules of a submission: nothing is followed, and no more read than is compared."""
    folder, files = course.submitted(student, problem_set) / "attention", {}
    for module in modules:
        with suppress(OSError, NotTaken):
            files[f"{module}.py"] = reader(Path(folder, f"{module}.py"))(MOST_READ + 1)
    return files
