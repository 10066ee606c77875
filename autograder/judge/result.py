"""What becomes of a submission wherever it is judged: the part of its record that depends on nobody's name."""

from __future__ import annotations

import functools
import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from selfcheck.show import exercise_text
from selfcheck.verdict import GRADER_ERROR, ExerciseResult

from ..course.policy import Terms
from ..intake import static_scan
from ..intake.submission import Submission
from ..sandbox.bubblewrap import open_sandbox
from ..sandbox.usage import Tally
from ..version import grader_version
from .judge import judge_problem_set

Verdicts = dict[str, Any]
TROUBLE = ("missing", "import", "stopped", "forbidden")  # kinds of failure that an instructor wants to see in a line


class OtherGrader(RuntimeError):
    """A worker would judge by other rules than the one who asked it."""


@dataclass(frozen=True)
class Task:
    """All that a verdict depends on: enough for a worker on another machine, which has this grader and no course.

    files: the text of every module that was handed in, by name; isolation: "bubblewrap", "none" or "auto"
    grader: the version of whoever asks
    """

    files: dict[str, bytes]
    problem_set: str
    terms: Terms
    isolation: str
    grader: str

    @functools.cached_property
    def key(self) -> str:
        """A digest of what was handed in and what it is judged by: 64 hexadecimal digits."""
        found = hashlib.sha256()
        for part in (self.problem_set, self.grader, self.terms.digest):
            found.update(_counted(part.encode()))
        for name, data in sorted(self.files.items()):
            found.update(_counted(name.encode()) + _counted(data))
        return found.hexdigest()


def _counted(part: bytes) -> bytes:
    return len(part).to_bytes(8, "big") + part


def verdicts(task: Task) -> Verdicts:
    """Judge a submission here and now.

    Raises OtherGrader where this is not the grader that asks, SandboxUnavailable where the isolation is not to be had.
    """
    if task.grader != grader_version():
        raise OtherGrader(
            f"asked by grader {task.grader}, and this worker is grader {grader_version()}: update one of them"
        )
    sandbox = open_sandbox(task.isolation)
    started = datetime.now(UTC)
    tally = Tally()
    results = judge_problem_set(Submission(task.files), task.problem_set, task.terms, sandbox, tally)
    return {
        "key": task.key,
        "problem_set": task.problem_set,
        "isolation": sandbox.told,
        "grader": task.grader,
        "terms": task.terms.digest[:8],
        "files": {name: hashlib.sha256(data).hexdigest()[:12] for name, data in sorted(task.files.items())},
        "graded": started.isoformat(timespec="seconds"),
        "seconds": round((datetime.now(UTC) - started).total_seconds(), 2),
        "used": tally.used.as_json(),
        "grader_error": any(one.verdict == GRADER_ERROR for result in results for one in result.checks),
        "troubles": _troubles(results) + static_scan.of_package(task.files),
        "exercises": [_exercise(result) | tally.of(result.exercise.id) for result in results],
    }


def _exercise(result: ExerciseResult) -> dict[str, Any]:
    return {
        "id": result.exercise.id,
        "number": result.exercise.number,
        "points": result.points,
        "max_points": result.max_points,
        "text": exercise_text(result),
        "checks": [
            {
                "check": one.check,
                "sees": one.sees,
                "verdict": one.verdict,
                "points": one.points,
                "max_points": one.max_points,
                "message": one.message,
                "misconception": one.misconception,
                "section": one.section,
            }
            for one in result.checks
        ],
    }


def _troubles(results: list[ExerciseResult]) -> list[str]:
    """What is not simply wrong: nothing started, a module missing or broken, code stopped, a forbidden call."""
    found = [] if any(result.started for result in results) else ["nothing was started: the stubs came back"]
    for result in results:
        for one in result.checks:
            if one.kind in TROUBLE:
                module = f"{result.exercise.module}.py"
                place = module if one.kind == "import" else result.exercise.id
                found.append(one.message if one.message.startswith(module) else f"{place}: {one.message}")
    return list(dict.fromkeys(found))
