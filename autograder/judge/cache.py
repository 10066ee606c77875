"""The result of a submission, on file under the digest of everything that it depends on."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from selfcheck.atomic_files import write_atomically

from ..answer_key import precomputed
from ..course.folder import Course
from ..intake.submission import Submission
from ..sandbox.bubblewrap import open_sandbox
from .result import Result
from .task import Task, judge_task

MOST_POINTS = 2**31
#: The first line that a learner reads of an exercise whose code is in the notebook's cells.
IN_CELLS = (
    "Your code for {symbol} is in the notebook. The grader reads attention/{module}.py, and there it is not written: "
    "move it there.\n"
)


def task_of(course: Course, submission: Submission, isolation: str = "bubblewrap") -> Task:
    """What there is to judge of a submission."""
    problem_set = submission.problem_set
    return Task(submission.files, problem_set, course.policy.of(problem_set).digest, isolation)


def result_on_file(course: Course, submission: Submission, task: Task | None = None) -> Result | None:
    """The result of a submission if it was judged and nothing has changed since.

    task: what there would be to judge; None to find out
    """
    result = read_result(course.result_file(submission.student, submission.problem_set))
    if result is None or result.grader_error or result.student != submission.student:
        return None
    if result.key != (task or task_of(course, submission)).key:
        return None
    current = _with_intake(result, submission)
    if current != result:
        _write(course, current)
    return current


def result_of(course: Course, submission: Submission, isolation: str = "bubblewrap") -> Result:
    """The result of a submission: the one on file if nothing has changed, else judged now and put on file.

    Raises InSight where the submission would see what is private in the course, and SandboxUnavailable.
    """
    task = task_of(course, submission, isolation)
    known = result_on_file(course, submission, task)
    if known:
        return known
    open_sandbox(isolation, private=course.private_places)
    answer_key = precomputed.answer_key(course, submission.problem_set)
    return put_on_file(course, submission, judge_task(task, answer_key))


def put_on_file(course: Course, submission: Submission, judged: Result) -> Result:
    """Put what a worker has judged on file, under the name of whoever handed it in."""
    result = replace(judged, student=submission.student, secret=course.fingerprint)
    result = _with_intake(result, submission)
    _write(course, result)
    return result


def _with_intake(result: Result, submission: Submission) -> Result:
    """A result with what intake has remarked; who wrote code into the notebook's cells reads so before all else."""
    told = []
    for exercise in result.exercises:
        module, _, symbol = exercise.id.partition(".")
        line = IN_CELLS.format(symbol=symbol, module=module)
        text = exercise.text.removeprefix(line)
        told.append(replace(exercise, text=line + text if exercise.id in submission.in_cells else text))
    return replace(result, exercises=tuple(told), remarks=(*submission.remarks, *result.troubles))


def _write(course: Course, result: Result) -> None:
    path = course.result_file(result.student, result.problem_set)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, json.dumps(result.as_json(), indent=1, ensure_ascii=False), sync=False)


def read_result(path: Path) -> Result | None:
    """A result on file; None where there is none, or the file is damaged."""
    record = read_record(path)
    try:
        return Result.from_json(record) if record else None
    except (KeyError, TypeError, AttributeError, ValueError):
        return None


def read_record(path: Path) -> dict[str, Any] | None:
    """The JSON of a result on file; None where there is none, or the file is damaged."""
    if not path.is_file():  # whoever opens a named pipe waits
        return None
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        texts = [*(record[name] for name in ("key", "student", "problem_set", "isolation"))]
        texts += [*record["remarks"], *record["troubles"]]
        numbers = []
        for exercise in record["exercises"]:
            texts += [exercise["id"], exercise["text"]]
            numbers += [exercise["points"], exercise["max_points"]]
            for check in exercise["checks"]:
                texts += [check["sees"], check["verdict"], check["misconception"] or ""]
        "".join(texts).encode()  # half a character could not be shown
    except (OSError, ValueError, RecursionError, KeyError, TypeError):
        return None
    kinds = {type(text) for text in texts}, {type(number) for number in numbers}, type(record.get("grader_error"))
    sound = kinds == ({str}, {int}, bool) and all(abs(number) < MOST_POINTS for number in numbers)
    return record if sound else None
