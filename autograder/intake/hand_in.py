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
from ..course.locks import course_lock, reading_release
from ..course.printable import counted
from ..course.releases import release_file, written_questions
from . import store
from .archive import Received, read_files, read_path
from .arrivals import Clock, SubmissionTime, arrive, system_clock
from .keeping import kept
from .submission import Submission

Source = Path | Mapping[str, Path]  # a folder, a zip or a file; files by the names that they are to have


@dataclass(frozen=True)
class Options:
    """How submissions are taken in.

    given: when they were handed in, by the instructor's word; lms: by the learning platform's
    see arrivals.arrive for what counts without them
    replace: take one in also where it lacks what is there; dry_run: write nothing
    """

    given: datetime | None = None
    clock: Clock = system_clock
    replace: bool = False
    dry_run: bool = False
    lms: datetime | None = None


USUAL = Options()


@dataclass(frozen=True)
class HandedIn:
    """What became of one submission. state: "taken in", "unchanged" or "would be taken in"

    modules: how many there are of the learner's; time: of its arrival, and by whose word; remarks: for the instructor
    """

    state: str
    modules: int
    time: SubmissionTime
    remarks: tuple[str, ...]

    @property
    def summary(self) -> str:
        return f"{self.state}, {counted(self.modules, 'module')}"


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
    options: Options = USUAL,
) -> HandedIn:
    """Take in a submission, completely or not at all; the original is kept in `received`.

    Raises ValueError for what is no submission to the problem set, or is less than what is there; OSError where it
    cannot be read or written.
    """
    with reading_release(course):
        return _hand_in(course, student, problem_set, source, options)


def _hand_in(course: Course, student: str, problem_set: str, source: Source, options: Options) -> HandedIn:
    check_recipient(course, student, problem_set)
    received = received_from(source, problem_set)
    modules = sum(not name.startswith("_") for name in received.files)
    with course_lock(course):
        before = store.stored(course, student, problem_set)
    lost = _lost(course, before, received, problem_set) if before and not options.replace else []
    if lost:
        raise ValueError(
            f"this lacks what {student} has handed in before: {', '.join(lost)}. Nothing is replaced; if that is "
            "meant, say --replace"
        )
    place = source if isinstance(source, Path) else max(source.values(), key=lambda path: path.lstat().st_mtime)
    said = {"given": options.given, "lms": options.lms}
    arrived = arrive(
        course, student, problem_set, place, received, **said, clock=options.clock, dry_run=options.dry_run
    )
    if before and before.arrived == arrived.time.when and _holds(course, before, received):
        return HandedIn("unchanged", modules, arrived.time, before.remarks)
    if options.dry_run:
        return HandedIn("would be taken in", modules, arrived.time, (*arrived.remarks, *received.remarks))
    with course_lock(course), kept(course, student, problem_set, source):
        submission = store.store_with_lock(course, student, problem_set, received, arrived.time.when)
    return HandedIn("taken in", modules, arrived.time, (*arrived.remarks, *submission.remarks))


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


def _holds(course: Course, before: Submission, received: Received) -> bool:
    """Whether what is there is what was received."""
    if dict(before.files) != received.files:
        return False
    return store.rebuilt(course, before.problem_set, received)[0] == json.loads(before.notebook)


def _released(course: Course, problem_set: str) -> str:
    return release_file(course, problem_set).read_text(encoding="utf-8")


def _answers(notebook: str) -> list[str]:
    return ["".join(cell["source"]).strip() for cell in written_questions(json.loads(notebook))]
