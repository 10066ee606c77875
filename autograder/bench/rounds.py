"""Grades one class with stock nbgrader and with this grader, measures both, and compares their scores."""

from __future__ import annotations

import json
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from statistics import mean
from typing import Any

from selfcheck.catalogue import in_problem_set

from ..build.exercise_text import slug
from ..course.folder import Course
from ..course.paths import ROOT
from ..intake import archive, store
from ..judge import cluster
from . import agreement, meter, stock, synthetic

LONGER = (0.5, 1.0, 2.0, 5.0, 10.0)  # seconds of test code at which the formula is told
BUSY = 0.5  # processes that wanted to run, on average over a minute, for each core: more makes figures provisional
OURS, STOCK, TWO = "this grader", "stock nbgrader", "two stock processes"


@dataclass
class Round:
    """One class graded in the three ways.

    test_seconds: of the processor, that one submission's checks take, on average
    release_s: by the clock, once before: our release, which finds out what is to be answered to the hidden draws
    wrong: what the gradebooks do not have in common, or should not hold
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
class Classroom:
    """The folders of one class: a course of ours, a stock course, and one for each of two stock processes."""

    folder: Path
    problem_set: str
    students: list[synthetic.Student]
    release_s: float  # that our release took, which finds out what is to be answered to the hidden draws

    @property
    def ours(self) -> Path:
        return self.folder / "ours"

    @property
    def stock(self) -> Path:
        return self.folder / "stock"

    @property
    def halves(self) -> tuple[Path, Path]:
        return self.folder / "stock-1", self.folder / "stock-2"


def furnish(folder: Path, problem_set: str, size: int, seed: int, slower: float, beside: bool = True) -> Classroom:
    """Release the problem set, make the class, and hand in for it: in our course, and beside it in the stock ones."""
    from ..release.bundle import release

    course = Course.open(folder / "ours")
    start = time.monotonic()
    release(course, problem_set)
    seconds = time.monotonic() - start
    students = synthetic.make_class(problem_set, size, course.secret, seed, slower)
    room = Classroom(folder, problem_set, students, seconds)
    text = (course.release(problem_set) / f"{problem_set}.ipynb").read_text(encoding="utf-8")
    for student in room.students:
        with tempfile.TemporaryDirectory() as place:
            synthetic.write(student, problem_set, text, Path(place))
            store.store(course, student.name, problem_set, archive.read_folder(Path(place), problem_set))
    if beside:
        _furnish_stock(room, course.secret)
    return room


def _furnish_stock(room: Classroom, secret: bytes) -> None:
    released = stock.make_course(room.stock, room.problem_set, secret).read_text(encoding="utf-8")
    for half in room.halves:
        stock.copy_course(room.stock, half)
    for number, student in enumerate(room.students):
        for root in (room.stock, room.halves[number % 2]):
            synthetic.write(student, room.problem_set, released, root / "submitted" / student.name / room.problem_set)


def grade_class(room: Classroom, say: Callable[[str], None] = lambda text: None) -> Round:
    """Grade a class in the three ways, one after the other, and compare what the gradebooks hold."""
    runs = {OURS: _measured(OURS, [_our_job(room)], room, say)}
    runs[STOCK] = _measured(STOCK, [_stock_job(room.stock, room.problem_set, {})], room, say)
    halves = [_stock_job(half, room.problem_set, {"OMP_NUM_THREADS": "1"}) for half in room.halves]
    runs[TWO] = _measured(TWO, halves, room, say)
    return Round(len(room.students), runs, seconds_of_checks(room), room.release_s, disagreements(room))


def grade_alone(room: Classroom, say: Callable[[str], None] = lambda text: None) -> tuple[meter.Measured, list[str]]:
    """Grade a class with this grader alone; beside what that took, whatever its gradebook should not hold."""
    run = _measured(OURS, [_our_job(room)], room, say)
    ours = agreement.entered(room.ours, room.problem_set)
    missing = [f"{student.name}: not graded" for student in room.students if student.name not in ours]
    return run, [*missing, *agreement.undeserved(ours, _expected(room))]


def _measured(name: str, jobs: list[meter.Job], room: Classroom, say: Callable[[str], None]) -> meter.Measured:
    run = meter.measure(jobs)
    say(f"{name}: {run.seconds:.1f} s for {len(room.students)} submissions")
    for job, code in zip(jobs, run.codes, strict=True):
        if code:
            tail = Path(job.log).read_text(encoding="utf-8", errors="replace")[-2000:]
            raise RuntimeError(f"{name} ended with status {code}: {tail}")
    return run


def _our_job(room: Classroom) -> meter.Job:
    command = [sys.executable, "-m", "autograder", "grade", room.problem_set, "--course", str(room.ours)]
    log, mark = str(room.folder / "ours.log"), rf"^\d+/{len(room.students)} "
    return meter.Job(command, str(ROOT), stock.plain_environment(room.folder), log, mark)


def _stock_job(root: Path, problem_set: str, more: dict[str, str]) -> meter.Job:
    environment = stock.environment(root) | more
    return meter.Job(stock.command(problem_set), str(root), environment, f"{root}.log", stock.BEGINS)


def seconds_of_checks(room: Classroom) -> float:
    """Seconds of the processor that one submission's checks take, measured in one process without a kernel."""
    source = room.stock / "source" / room.problem_set
    folders = [str(room.stock / "submitted" / student.name / room.problem_set) for student in room.students]
    environment = stock.environment(room.stock) | {"OMP_NUM_THREADS": "1"}
    command = [sys.executable, str(stock.library(room.stock) / "checks.py"), *folders]
    done = subprocess.run(command, cwd=source, env=environment, capture_output=True, text=True, check=True)
    return mean(json.loads(done.stdout))


def disagreements(room: Classroom) -> list[str]:
    """Whatever forbids a comparison: scores that differ or are undeserved, results that are missing."""
    ours = agreement.entered(room.ours, room.problem_set)
    alone = agreement.entered(room.stock, room.problem_set)
    halves = [agreement.entered(half, room.problem_set) for half in room.halves]
    names = [student.name for student in room.students]
    return [
        *(f"{name}: not graded by stock nbgrader" for name in names if name not in alone),
        *agreement.differences(alone, ours, (STOCK, OURS)),
        *agreement.differences(alone, halves[0] | halves[1], (STOCK, TWO)),
        *agreement.undeserved(ours, _expected(room)),
        *agreement.without_notebook(room.ours, room.problem_set, names),
        *agreement.without_notebook(room.stock, room.problem_set, names),
    ]


def _expected(room: Classroom) -> dict[str, dict[str, int]]:
    """The points that the bank expects, by student and grade cell."""
    cells = {exercise.id: slug(exercise) for exercise in in_problem_set(room.problem_set)}
    return {one.name: {cells[name]: points for name, points in one.expected.items()} for one in room.students}


def by_formula(first: Round, seconds: float, other: str) -> float:
    """The ratio to expect where test code takes `seconds` per submission, from what was measured with less.

    The seconds in addition fall upon as many submissions at a time as the grader has workers: (stock + x / its
    processes) / (ours + x / our workers).
    """
    more = seconds - first.test_seconds
    processes = 2 if other == TWO else 1
    return (1 / first.per_s(other) + more / processes) / (1 / first.per_s(OURS) + more / cluster.cores())


def figures(problem_set: str, rounds: list[Round], load: float, command: str) -> dict[str, Any]:
    """Everything measured, as it is written as JSON; seconds, MiB, submissions per second."""
    first = rounds[0]
    ours, alone, two = (first.runs[name] for name in (OURS, STOCK, TWO))
    same = not any(one.wrong for one in rounds)
    found = {
        "ratio": first.ratio(STOCK) if same else None,
        "ratio_two_stock": first.ratio(TWO) if same else None,
        "same_scores": same,
        "ours_per_s": first.per_s(OURS),
        "stock_per_s": first.per_s(STOCK),
        "two_stock_per_s": first.per_s(TWO),
        "class_size": first.size,
        "problem_set": problem_set,
        "cpu_s_per_submission_ours": ours.cpu / first.size,
        "cpu_s_per_submission_stock": alone.cpu / first.size,
        "cpu_s_per_submission_two_stock": two.cpu / first.size,
        "peak_mib_ours": ours.peak_mib,
        "peak_mib_stock": alone.peak_mib,
        "peak_mib_two_stock": two.peak_mib,
        "memory": ours.memory,
        "cpu_from": ours.cpu_from,
        "first_mark_s": ours.marks[0][0] if ours.marks[0] else None,
        "release_s": first.release_s,
        "test_seconds": first.test_seconds,
        "where_time_goes": where_time_goes(first),
        "regimes": [regime(first, one) for one in rounds] if same else [],
        "formula": [
            {
                "test_seconds": one,
                "ratio": by_formula(first, one, STOCK),
                "ratio_two_stock": by_formula(first, one, TWO),
            }
            for one in LONGER
            if same and one > first.test_seconds
        ],
        "wrong": [line for one in rounds for line in one.wrong],
        "runs": {name: asdict(run) | {"marks": None} for name, run in first.runs.items()},
    }
    return found | _circumstances(load, command)


def figures_alone(room: Classroom, run: meter.Measured, wrong: list[str], load: float, command: str) -> dict[str, Any]:
    """What was measured of this grader alone, as it is written as JSON; seconds, MiB, submissions per second."""
    size = len(room.students)
    found = {
        "same_scores": not wrong,
        "ours_per_s": size / run.seconds,
        "class_size": size,
        "problem_set": room.problem_set,
        "seconds": run.seconds,
        "cpu_s_per_submission_ours": run.cpu / size,
        "first_mark_s": run.marks[0][0] if run.marks[0] else None,
        "release_s": room.release_s,
        "peak_mib_ours": run.peak_mib,
        "memory": run.memory,
        "quarters_mib": run.quarters_mib,
        "wrong": wrong,
    }
    return found | _circumstances(load, command)


def _circumstances(load: float, command: str) -> dict[str, Any]:
    return {
        "cores": cluster.cores(),
        "load_before": load,
        "provisional": load > BUSY * cluster.cores(),
        "versions": {"python": platform.python_version(), "linux": platform.release()}
        | {name: version(name) for name in ("nbgrader", "nbconvert", "ipykernel", "torch")},
        "command": command,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def regime(first: Round, one: Round) -> dict[str, float | None]:
    """The ratios measured in a round, beside what the formula makes of the first one's figures."""
    return {
        "test_seconds": one.test_seconds,
        "ratio": one.ratio(STOCK),
        "ratio_two_stock": one.ratio(TWO),
        "formula": by_formula(first, one.test_seconds, STOCK),
        "formula_two_stock": by_formula(first, one.test_seconds, TWO),
    }


def where_time_goes(one: Round) -> dict[str, float | None]:
    """Our seconds by the clock, from outside: until the first mark, each further one, after the last; and the floor.

    cpu_s_own_process, cpu_s_started: of the processor, for each submission: the grader's own process (keys, comparison,
        notebooks, gradebook) and all that it started (sandboxes, torch, learners' code)
    floor_s: what the checks alone take, shared out among the workers: no grader that runs them can be faster
    """
    run, marks = one.runs[OURS], one.runs[OURS].marks[0]
    stock_marks = one.runs[STOCK].marks[0]
    return {
        "until_first_mark_s": marks[0] if marks else None,
        "each_further_s": (marks[-1] - marks[0]) / (len(marks) - 1) if len(marks) > 1 else None,
        "after_last_mark_s": run.seconds - marks[-1] if marks else None,
        "cpu_s_own_process": run.cpu_main / one.size,
        "cpu_s_started": (run.cpu - run.cpu_main) / one.size,
        "stock_until_first_s": stock_marks[0] if stock_marks else None,
        "stock_each_further_s": (stock_marks[-1] - stock_marks[0]) / (len(stock_marks) - 1)
        if len(stock_marks) > 1
        else None,
        "floor_s": one.test_seconds / cluster.cores(),
    }
