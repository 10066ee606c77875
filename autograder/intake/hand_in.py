"""Takes in one submission from an instructor's hands: refuses what is none, and what would replace something better."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from selfcheck.catalogue import modules_of
from selfcheck.untouched import is_untouched

from ..course.folder import Course, check_student_id, lookalike_ids
from ..course.locks import course_lock
from ..course.printable import counted
from ..course.releases import release_file, written_questions
from . import store
from .archive import Received, read_files, read_path
from .keeping import forget, keep
from .submission import Submission
from .time_stamps import stamp_text

Source = Path | Mapping[str, Path]  # a folder, a zip or a file; files by the names that they are to have


@dataclass(frozen=True)
class HandedIn:
    """What became of one submission: as it is now in the course, and whether that is what was there before."""

    submission: Submission
    unchanged: bool


def check_recipient(course: Course, student: str, problem_set: str) -> None:
    """Raise ValueError for an id that cannot be, or looks like another's, FileNotFoundError without a release."""
    check_student_id(student)
    for other in lookalike_ids(course, student):
        raise ValueError(f"the id {student} looks like {other}, who has handed in already: which of them is meant?")
    if not release_file(course, problem_set).is_file():
        raise FileNotFoundError(f"{problem_set} is not released in {course.root}: run release {problem_set} first")


def received_from(source: Source, problem_set: str) -> Received:
    """What is taken of a source; ValueError, with what was found and what was expected, where it is no submission."""
    received = read_path(source, problem_set) if isinstance(source, Path) else read_files(dict(source), problem_set)
    if received.refusal:
        raise ValueError(received.refusal)
    return received


def hand_in(
    course: Course,
    student: str,
    problem_set: str,
    source: Source,
    when: datetime | None = None,
    replace: bool = False,
    dry_run: bool = False,
) -> HandedIn | Received:
    """Take in a submission, completely or not at all; the original is kept in `received`.

    when: it arrived, in UTC; None for now, and for the former time where the same is handed in again
    replace: take it in also where it lacks what is there; dry_run: only say what would be taken
    Raises ValueError for what is no submission to the problem set, or is less than what is there; OSError where it
    cannot be read or written.
    """
    check_recipient(course, student, problem_set)
    received = received_from(source, problem_set)
    with course_lock(course):
        before = store.stored(course, student, problem_set)
        lost = _lost(course, before, received, problem_set) if before and not replace else []
        if lost:
            raise ValueError(
                f"this lacks what {student} has handed in before: {', '.join(lost)}. Nothing is replaced; if it is "
                "meant to be, say --replace"
            )
        if dry_run:
            return received
        if before and _is_same(course, before, received, when):
            return HandedIn(before, True)
        kept = keep(course, student, problem_set, source)
        try:
            return HandedIn(store.store_with_lock(course, student, problem_set, received, when), False)
        except BaseException:
            forget(kept)
            raise


def _lost(course: Course, before: Submission, received: Received, problem_set: str) -> list[str]:
    """What a former submission has of the learner's own, and this one has not."""
    own = [f"{module}.py" for module in modules_of(problem_set)]
    lost = [
        f"attention/{name}"
        for name in own
        if name in before.files
        and not is_untouched(before.files[name])
        and (name not in received.files or is_untouched(received.files[name]))
    ]
    if received.notebook is None and _answers(before.notebook) != _answers(_released(course, problem_set)):
        lost.append("the answers to the written questions")
    return lost


def _is_same(course: Course, before: Submission, received: Received, when: datetime | None) -> bool:
    """Whether what is there holds what was received, and came at that time."""
    if when is not None and before.stamp != stamp_text(when):
        return False
    if dict(before.files) != received.files:
        return False
    return store.rebuilt(course, before.problem_set, received)[0] == json.loads(before.notebook)


def _released(course: Course, problem_set: str) -> str:
    return release_file(course, problem_set).read_text(encoding="utf-8")


def _answers(notebook: str) -> list[str]:
    return ["".join(cell["source"]).strip() for cell in written_questions(json.loads(notebook))]


def told(done: HandedIn | Received) -> str:
    """What was taken in, for the instructor's line."""
    files = done.submission.files if isinstance(done, HandedIn) else done.files
    return counted(sum(not name.startswith("_") for name in files), "module")
