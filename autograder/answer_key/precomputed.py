"""What is to be answered to a course's hidden draws, kept in its folder: by the reference, and by each misconception.

It follows from the grader and the course's terms alone, and to find it out takes torch and seconds, for which nobody
should wait who wants marks: `release` does it, and `grade` reads it.
"""

from __future__ import annotations

import json
from typing import Any

from selfcheck.atomic_files import write_atomically

from ..course.folder import Course
from ..version import grader_version
from . import reference
from .keys import TRAINED, keys_of


def read(course: Course, problem_set: str) -> bool:
    """Have whoever judges here know what the file of a problem set says; whether it fits grader and terms."""
    terms = course.terms.of(problem_set)
    try:
        found = json.loads(course.answers_file(problem_set).read_text(encoding="utf-8"))
        if found["grader"] != grader_version() or found["terms"] != terms.digest:
            return False
        draws = {one: found["answers"][one.id] for one in terms.exercises(problem_set)}
    except (OSError, ValueError, KeyError, TypeError):
        return False
    for exercise, known in draws.items():
        reference.KNOWN[exercise, terms.digest] = known
    return True


def write(course: Course, problem_set: str) -> None:
    """Find out what is to be answered to a problem set, and write it down for nobody but the course's owner."""
    terms = course.terms.of(problem_set)
    answers: dict[str, list[Any]] = {}
    for exercise in terms.exercises(problem_set):
        hidden = [key for key in keys_of(exercise, terms) if not key.reveal]
        # Where a misconception is trained, its answers take minutes and few ever ask for them.
        answers[exercise.id] = [
            (key.expected, None if exercise.id in TRAINED else dict(key.misconceptions)) for key in hidden
        ]
    text = json.dumps({"grader": grader_version(), "terms": terms.digest, "answers": answers})
    path = course.answers_file(problem_set)
    path.parent.mkdir(mode=0o700, exist_ok=True)
    write_atomically(path, text, 0o600, sync=False)
