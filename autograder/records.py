"""The verdicts of a submission, on file under the digest of everything they depend on."""

from __future__ import annotations

import functools
import hashlib
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from selfcheck.show import exercise_text
from selfcheck.verdict import GRADER_ERROR, ExerciseResult

from . import intake, oddities
from .course import Course
from .judging import judge_problem_set
from .places import REFERENCE, SELFCHECK
from .sandbox import Sandbox

Record = dict[str, Any]
TROUBLE = ("missing", "import", "stopped", "forbidden")  # kinds of failure that an instructor wants to see in a line


@functools.cache
def grader_version() -> str:
    """A digest of everything a verdict depends on: the grader, the checks, the reference."""
    found = hashlib.sha256()
    here = Path(__file__).parent
    for folder in (here, here / "hidden", here / "misconceptions", REFERENCE, SELFCHECK, SELFCHECK / "checks"):
        for path in sorted(folder.glob("*.py")):
            found.update(path.read_bytes())
    for path in sorted([*SELFCHECK.glob("catalogue/*.toml"), *SELFCHECK.glob("recorded/*.json")]):
        found.update(path.read_bytes())
    return found.hexdigest()[:12]


def record_on_file(course: Course, student: str, problem_set: str) -> Record | None:
    """The verdicts of one submission if it was judged and nothing has changed since."""
    remarks = intake.normalise(course, student, problem_set)
    known = read_record(course.result_file(student, problem_set))
    if not known or known["grader_error"] or known["student"] != student:
        return None
    files = intake.submission_of(course, student, problem_set).files
    if known["key"] != _key(course, files, problem_set):
        return None
    remarks = [*remarks, *known["troubles"]]
    if remarks != known["remarks"]:
        _file(course, known | {"remarks": remarks})
    return known | {"remarks": remarks, "again": False}


def record_of(course: Course, student: str, problem_set: str, sandbox: Sandbox) -> Record:
    """The verdicts of one submission: those on file if nothing has changed, else judged now and filed."""
    known = record_on_file(course, student, problem_set)
    if known:
        return known
    remarks = intake.normalise(course, student, problem_set)
    submission = intake.submission_of(course, student, problem_set)
    started = datetime.now(UTC)
    results = judge_problem_set(submission, problem_set, course.terms.of(problem_set), sandbox)
    troubles = _troubles(results) + oddities.of_package(submission.files)
    record = {
        "key": _key(course, submission.files, problem_set),
        "student": student,
        "problem_set": problem_set,
        "isolation": sandbox.told,
        "grader": grader_version(),
        "secret": course.fingerprint,
        "graded": started.isoformat(timespec="seconds"),
        "seconds": round((datetime.now(UTC) - started).total_seconds(), 2),
        "grader_error": any(one.verdict == GRADER_ERROR for result in results for one in result.checks),
        "remarks": [*remarks, *troubles],
        "troubles": troubles,
        "exercises": [
            {
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
            for result in results
        ],
    }
    _file(course, record)
    return record | {"again": True}


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


def _file(course: Course, record: Record) -> None:
    path = course.result_file(record["student"], record["problem_set"])
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(".part")
    draft.write_text(json.dumps(record, indent=1, ensure_ascii=False), encoding="utf-8")
    draft.replace(path)


def _key(course: Course, files: dict[str, bytes], problem_set: str) -> str:
    found = hashlib.sha256()
    for part in (problem_set.encode(), grader_version().encode(), course.terms.of(problem_set).digest.encode()):
        found.update(len(part).to_bytes(8, "big") + part)
    for name, data in sorted(files.items()):
        found.update(len(name).to_bytes(8, "big") + name.encode() + len(data).to_bytes(8, "big") + data)
    return found.hexdigest()


def read_record(path: Path) -> Record | None:
    """A record; None where there is none, or the file is damaged."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        texts = [*(record[name] for name in ("key", "student", "problem_set", "isolation"))]
        texts += [*record["remarks"], *record["troubles"]]
        numbers = []
        for exercise in record["exercises"]:
            texts += [exercise["id"], exercise["text"]]
            numbers += [exercise["points"], exercise["max_points"]]
            for one in exercise["checks"]:
                texts += [one["sees"], one["verdict"], one["misconception"] or ""]
    except (OSError, ValueError, RecursionError, KeyError, TypeError):
        return None
    kinds = {type(text) for text in texts}, {type(number) for number in numbers}, type(record.get("grader_error"))
    return record if kinds == ({str}, {int}, bool) else None
