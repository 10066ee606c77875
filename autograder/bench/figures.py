"""Computes the figures of a benchmark from what was measured."""

from __future__ import annotations

import platform
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

from ..cores import cores
from . import meter
from .rounds import OURS, STOCK, TWO_STOCK, BenchCourses, Round

EXTRAPOLATED = (0.5, 1.0, 2.0, 5.0, 10.0)  # seconds of test code that the formula is applied to
MAX_LOAD = 0.5  # load average per core; above it the figures are provisional


def by_formula(first: Round, seconds: float, other: str) -> float:
    """The ratio to expect where test code takes `seconds` per submission, extrapolated from a round with less.

    With x the additional seconds, shared among the workers: (stock + x / its processes) / (ours + x / our workers).
    """
    more = seconds - first.test_seconds
    processes = 2 if other == TWO_STOCK else 1
    return (1 / first.per_s(other) + more / processes) / (1 / first.per_s(OURS) + more / cores())


def of_rounds(problem_set: str, rounds: list[Round], load: float, command: str) -> dict[str, Any]:
    """Everything measured, in the form of `bench --json`; seconds, MiB, submissions per second."""
    first = rounds[0]
    ours, alone, two = (first.runs[name] for name in (OURS, STOCK, TWO_STOCK))
    same = not any(graded.wrong for graded in rounds)
    table = {
        "ratio": first.ratio(STOCK) if same else None,
        "ratio_two_stock": first.ratio(TWO_STOCK) if same else None,
        "same_scores": same,
        "ours_per_s": first.per_s(OURS),
        "stock_per_s": first.per_s(STOCK),
        "two_stock_per_s": first.per_s(TWO_STOCK),
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
        "regimes": [regime(first, graded) for graded in rounds] if same else [],
        "formula": [
            {
                "test_seconds": seconds,
                "ratio": by_formula(first, seconds, STOCK),
                "ratio_two_stock": by_formula(first, seconds, TWO_STOCK),
            }
            for seconds in EXTRAPOLATED
            if same and seconds > first.test_seconds
        ],
        "wrong": [line for graded in rounds for line in graded.wrong],
        "runs": {name: asdict(run) | {"marks": None} for name, run in first.runs.items()},
    }
    return table | _environment(load, command)


def of_one_grader(
    courses: BenchCourses, run: meter.Measured, wrong: list[str], load: float, command: str
) -> dict[str, Any]:
    """Everything measured of this grader alone, in the form of `bench --json`; seconds, MiB, submissions per second."""
    size = len(courses.students)
    table = {
        "same_scores": not wrong,
        "ours_per_s": size / run.seconds,
        "class_size": size,
        "problem_set": courses.problem_set,
        "seconds": run.seconds,
        "cpu_s_per_submission_ours": run.cpu / size,
        "first_mark_s": run.marks[0][0] if run.marks[0] else None,
        "release_s": courses.release_s,
        "peak_mib_ours": run.peak_mib,
        "memory": run.memory,
        "quarters_mib": run.quarters_mib,
        "wrong": wrong,
    }
    return table | _environment(load, command)


def _environment(load: float, command: str) -> dict[str, Any]:
    return {
        "cores": cores(),
        "load_before": load,
        "provisional": load > MAX_LOAD * cores(),
        "versions": {"python": platform.python_version(), "linux": platform.release()}
        | {name: version(name) for name in ("nbgrader", "nbconvert", "ipykernel", "torch")},
        "command": command,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def regime(first: Round, graded: Round) -> dict[str, float | None]:
    """The ratios measured in a round, and those extrapolated from the first round."""
    return {
        "test_seconds": graded.test_seconds,
        "ratio": graded.ratio(STOCK),
        "ratio_two_stock": graded.ratio(TWO_STOCK),
        "formula": by_formula(first, graded.test_seconds, STOCK),
        "formula_two_stock": by_formula(first, graded.test_seconds, TWO_STOCK),
    }


def where_time_goes(graded: Round) -> dict[str, float | None]:
    """Wall seconds until the first mark, for each further one and after the last; processor seconds; the lower bound.

    cpu_s_own_process, cpu_s_started: processor seconds per submission of the grader's own process (keys, comparison,
        notebooks, gradebook) and of all that it started (sandboxes, torch, learners' code)
    floor_s: the time of the checks alone, divided by the workers: a lower bound for every grader
    """
    run, marks = graded.runs[OURS], graded.runs[OURS].marks[0]
    stock_marks = graded.runs[STOCK].marks[0]
    return {
        "until_first_mark_s": marks[0] if marks else None,
        "each_further_s": (marks[-1] - marks[0]) / (len(marks) - 1) if len(marks) > 1 else None,
        "after_last_mark_s": run.seconds - marks[-1] if marks else None,
        "cpu_s_own_process": run.cpu_main / graded.size,
        "cpu_s_started": (run.cpu - run.cpu_main) / graded.size,
        "stock_until_first_s": stock_marks[0] if stock_marks else None,
        "stock_each_further_s": (stock_marks[-1] - stock_marks[0]) / (len(stock_marks) - 1)
        if len(stock_marks) > 1
        else None,
        "floor_s": graded.test_seconds / cores(),
    }
