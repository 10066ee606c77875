"""The precomputed answer key of a problem set, kept in the course's folder.

It follows from the grader and the course's grading policy alone. To compute it takes torch and seconds, for which
nobody should wait who wants marks: `release` computes it, and `grade` reads it.
"""

from __future__ import annotations

import json
from contextlib import suppress

from selfcheck.atomic_files import write_atomically

from ..course.folder import Course
from ..version import grader_version
from .keys import AnswerKey, live_answer_key


def answer_key(course: Course, problem_set: str) -> AnswerKey:
    """The answer key on file; where there is none that fits grader and policy, one computed now and put on file."""
    key = read(course, problem_set)
    if key is None:
        key = live_answer_key(problem_set, course.policy)
        with suppress(OSError):  # a full disk costs nobody a mark: the next one computes it again
            write(course, key)
    return key


def read(course: Course, problem_set: str) -> AnswerKey | None:
    """The answer key on file; None where there is none, it is damaged, or does not fit grader and policy."""
    policy, path = course.policy.of(problem_set), course.answers_file(problem_set)
    if not path.is_file():  # whoever opens a named pipe waits
        return None
    try:
        tree = json.loads(path.read_text(encoding="utf-8"))
        if tree["grader"] != grader_version() or tree["terms"] != policy.digest:
            return None
        answers = {exercise.id: tree["answers"][exercise.id] for exercise in policy.exercises(problem_set)}
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    return AnswerKey(problem_set, policy, answers)


def write(course: Course, key: AnswerKey) -> None:
    """Put an answer key on file, for nobody but the course's owner."""
    text = json.dumps({"grader": grader_version(), "terms": key.policy.digest, "answers": dict(key.answers)})
    path = course.answers_file(key.problem_set)
    path.parent.mkdir(mode=0o700, exist_ok=True)
    write_atomically(path, text, 0o600, sync=False)
