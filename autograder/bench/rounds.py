"""Grades one class with stock nbgrader and with this grader, measures both, and compares their scores."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean

from selfcheck.catalogue import in_problem_set

from ..build.exercise_text import slug
from ..course.folder import Course
from ..course.paths import ROOT
from ..intake import archive, store
from . import agreement, meter, stock, synthetic

OURS, STOCK, TWO_STOCK = "this grader", "stock nbgrader", "two stock processes"


@dataclass
class Round:
    """One class, graded by this grader, by stock nbgrader and by two stock processes.

    test_seconds: processor seconds that the checks of one submission take, on average
    release_s: wall time of our release, which computes the answer key
    wrong: a line for each difference between the gradebooks, or from the expected scores
    """

    size: int
    runs: dict[str, meter.Measured]
    test_seconds: float
    release_s: float
    wrong: list[str] = field(default_factory=list)

    def per_s(self, name: str) -> float:
        """Submissions per second, from the command's start to its end."""
        return self.size / self.runs[name].seconds

    def ratio(self, other: str) -> float | None:
        """How many times as many submissions per second this grader does; None where the scores are not the same."""
        return None if self.wrong else self.per_s(OURS) / self.per_s(other)


@dataclass
class BenchCourses:
    """The folders of one class: a course of ours, a stock course, and one for each of two stock processes."""

    folder: Path
    problem_set: str
    students: list[synthetic.Student]
    release_s: float  # wall time of our release, which computes the answer key

    @property
    def ours(self) -> Path:
        return self.folder / "ours"

    @property
    def stock(self) -> Path:
        return self.folder / "stock"

    @property
    def halves(self) -> tuple[Path, Path]:
        return self.folder / "stock-1", self.folder / "stock-2"


def prepare(folder: Path, problem_set: str, size: int, seed: int, slower: float, beside: bool = True) -> BenchCourses:
    """Release the problem set, make the class and submit for it to our course; with `beside`, to the stock ones too."""
    from ..release.bundle import release

    course = Course.open(folder / "ours")
    start = time.monotonic()
    release(course, problem_set)
    seconds = time.monotonic() - start
    students = synthetic.make_class(problem_set, size, course.secret, seed, slower)
    courses = BenchCourses(folder, problem_set, students, seconds)
    text = (course.release(problem_set) / f"{problem_set}.ipynb").read_text(encoding="utf-8")
    for student in courses.students:
        with tempfile.TemporaryDirectory() as place:
            synthetic.write(student, problem_set, text, Path(place))
            store.store(course, student.name, problem_set, archive.read_folder(Path(place), problem_set))
    if beside:
        _prepare_stock(courses, course.secret)
    return courses


def _prepare_stock(courses: BenchCourses, secret: bytes) -> None:
    released = stock.make_course(courses.stock, courses.problem_set, secret).read_text(encoding="utf-8")
    for half in courses.halves:
        stock.copy_course(courses.stock, half)
    for number, student in enumerate(courses.students):
        for root in (courses.stock, courses.halves[number % 2]):
            synthetic.write(
                student, courses.problem_set, released, root / "submitted" / student.name / courses.problem_set
            )


def grade_class(courses: BenchCourses, report: Callable[[str], None] = lambda text: None) -> Round:
    """Grade a class three times, one grader after the other, and compare the gradebooks."""
    runs = {OURS: _measured(OURS, [_our_job(courses)], courses, report)}
    runs[STOCK] = _measured(STOCK, [_stock_job(courses.stock, courses.problem_set, {})], courses, report)
    halves = [_stock_job(half, courses.problem_set, {"OMP_NUM_THREADS": "1"}) for half in courses.halves]
    runs[TWO_STOCK] = _measured(TWO_STOCK, halves, courses, report)
    return Round(len(courses.students), runs, seconds_of_checks(courses), courses.release_s, disagreements(courses))


def grade_alone(
    courses: BenchCourses, report: Callable[[str], None] = lambda text: None
) -> tuple[meter.Measured, list[str]]:
    """Grade a class with this grader alone; returns the measurement and a line for each undeserved score."""
    run = _measured(OURS, [_our_job(courses)], courses, report)
    ours = agreement.read_scores(courses.ours, courses.problem_set)
    missing = [f"{student.name}: not graded" for student in courses.students if student.name not in ours]
    return run, [*missing, *agreement.undeserved(ours, _expected(courses))]


def _measured(name: str, jobs: list[meter.Job], courses: BenchCourses, report: Callable[[str], None]) -> meter.Measured:
    run = meter.measure(jobs)
    report(f"{name}: {run.seconds:.1f} s for {len(courses.students)} submissions")
    for job, code in zip(jobs, run.codes, strict=True):
        if code:
            tail = Path(job.log).read_text(encoding="utf-8", errors="replace")[-2000:]
            raise RuntimeError(f"{name} ended with status {code}: {tail}")
    return run


def _our_job(courses: BenchCourses) -> meter.Job:
    command = [sys.executable, "-m", "autograder", "grade", courses.problem_set, "--course", str(courses.ours)]
    log, mark = str(courses.folder / "ours.log"), rf"^\d+/{len(courses.students)} "
    return meter.Job(command, str(ROOT), stock.plain_environment(courses.folder), log, mark)


def _stock_job(root: Path, problem_set: str, more: dict[str, str]) -> meter.Job:
    environment = stock.environment(root) | more
    return meter.Job(stock.command(problem_set), str(root), environment, f"{root}.log", stock.BEGIN_LINE)


def seconds_of_checks(courses: BenchCourses) -> float:
    """Processor seconds that the checks of one submission take on average, measured in one process without a kernel."""
    source = courses.stock / "source" / courses.problem_set
    folders = [str(courses.stock / "submitted" / student.name / courses.problem_set) for student in courses.students]
    environment = stock.environment(courses.stock) | {"OMP_NUM_THREADS": "1"}
    command = [sys.executable, str(stock.library(courses.stock) / "checks.py"), *folders]
    done = subprocess.run(command, cwd=source, env=environment, capture_output=True, text=True, check=True)
    return mean(json.loads(done.stdout))


def disagreements(courses: BenchCourses) -> list[str]:
    """A line for each score that differs or is undeserved and for each missing result: then no ratio is given."""
    ours = agreement.read_scores(courses.ours, courses.problem_set)
    alone = agreement.read_scores(courses.stock, courses.problem_set)
    halves = [agreement.read_scores(half, courses.problem_set) for half in courses.halves]
    names = [student.name for student in courses.students]
    return [
        *(f"{name}: not graded by stock nbgrader" for name in names if name not in alone),
        *agreement.differences(alone, ours, (STOCK, OURS)),
        *agreement.differences(alone, halves[0] | halves[1], (STOCK, TWO_STOCK)),
        *agreement.undeserved(ours, _expected(courses)),
        *agreement.without_notebook(courses.ours, courses.problem_set, names),
        *agreement.without_notebook(courses.stock, courses.problem_set, names),
    ]


def _expected(courses: BenchCourses) -> dict[str, dict[str, int]]:
    """The expected points, by student and grade cell."""
    cells = {exercise.id: slug(exercise) for exercise in in_problem_set(courses.problem_set)}
    return {
        student.name: {cells[name]: points for name, points in student.expected.items()} for student in courses.students
    }
