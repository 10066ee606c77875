"""The verdicts of a submission, on file under the digest of everything they depend on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from selfcheck.atomic_files import write_atomically

from ..course.folder import Course
from ..intake import submission
from ..version import grader_version
from .result import Task, Verdicts, verdicts

Record = dict[str, Any]


def record_on_file(course: Course, student: str, problem_set: str) -> Record | None:
    """The verdicts of one submission if it was judged and nothing has changed since."""
    return _on_file(course, student, task_of(course, student, problem_set))


def record_or_task(course: Course, student: str, problem_set: str, isolation: str) -> Record | Task:
    """The verdicts of one submission if it was judged and nothing has changed since; else what is to be judged."""
    task = task_of(course, student, problem_set, isolation)
    return _on_file(course, student, task) or task


def record_of(course: Course, student: str, problem_set: str, isolation: str = "bubblewrap") -> Record:
    """The verdicts of one submission: those on file if nothing has changed, else judged now and filed."""
    found = record_or_task(course, student, problem_set, isolation)
    return filed(course, student, verdicts(found)) if isinstance(found, Task) else found


def task_of(course: Course, student: str, problem_set: str, isolation: str = "bubblewrap") -> Task:
    """What there is to judge of a submission, which is cleaned before if it has not been."""
    submission.normalise(course, student, problem_set)
    files = submission.submission_of(course, student, problem_set).files
    return Task(files, problem_set, course.terms.of(problem_set), isolation, grader_version())


def filed(course: Course, student: str, found: Verdicts) -> Record:
    """Put verdicts on file under a student's name."""
    remarks = submission.normalise(course, student, found["problem_set"])
    record = {"student": student, "secret": course.fingerprint} | found
    record["remarks"] = [*remarks, *found["troubles"]]
    _file(course, record)
    return record | {"again": True}


def _on_file(course: Course, student: str, task: Task) -> Record | None:
    known = read_record(course.result_file(student, task.problem_set))
    if not known or known["grader_error"] or known["student"] != student or known["key"] != task.key:
        return None
    remarks = [*submission.normalise(course, student, task.problem_set), *known["troubles"]]
    if remarks != known["remarks"]:
        _file(course, known | {"remarks": remarks})
    return known | {"remarks": remarks, "again": False}


def _file(course: Course, record: Record) -> None:
    path = course.result_file(record["student"], record["problem_set"])
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, json.dumps(record, indent=1, ensure_ascii=False), sync=False)


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
