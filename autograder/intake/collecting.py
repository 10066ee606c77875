"""Takes in the submissions of a whole class from one download: each completely or not at all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from selfcheck.catalogue import problem_sets

from ..course.faults import unforeseen
from ..course.folder import Course
from ..sandbox.limited import LimitedFault
from .downloads import Found, opened, submissions_in
from .hand_in import USUAL, HandedIn, Options, hand_in
from .identities import Identities
from .lms_times import LmsTimes

LATE = "the learning platform calls it late"


@dataclass(frozen=True)
class Collected:
    """What became of one submission of a download.

    label: how the download calls it; student: the id, "" where nobody can tell; done: None where it was refused
    """

    label: str
    student: str
    done: HandedIn | None = None
    refusal: str = ""
    remarks: tuple[str, ...] = ()


def collect(
    course: Course,
    problem_set: str,
    download: Path,
    identities: Identities,
    options: Options = USUAL,
    times: LmsTimes | None = None,
) -> Iterator[Collected]:
    """Take in every submission of a download, one after the other.

    times: by which the learning platform says when each was handed in; what the download says itself is found
    Raises ValueError where nothing in it is a submission, OSError at the first that cannot be written: the disk is at
    fault, and what came before stays.
    """
    with opened(download) as folder:
        due = course.settings.deadline(problem_set)
        submissions = submissions_in(folder, problem_set, times, due.tzinfo if due else None)
        if not submissions:
            raise ValueError(f"there is no submission in {download}: expected a folder or a zip for each student")
        whose = [_whose(submission, identities) for submission in submissions]
        several = Counter(student for student, _ in whose if student)
        for submission, (student, refusal) in zip(submissions, whose, strict=True):
            if several[student] > 1:
                refusal = f"{several[student]} in the download are {student}'s: leave one of them"
            if not refusal:
                try:
                    said = replace(options, lms=submission.when or (times.of([student]) if times else None))
                    done = hand_in(course, student, problem_set, submission.source, said)
                    yield Collected(submission.shown, student, done, remarks=(LATE,) if submission.late else ())
                    continue
                except (ValueError, LimitedFault) as error:  # one submission never stops the class
                    refusal = str(error)
                except OSError as error:
                    if not error.filename or not Path(str(error.filename)).is_relative_to(folder.absolute()):
                        raise
                    refusal = f"it cannot be read: {error.strerror}"
                except Exception as error:  # whatever somebody has handed in stops nobody else's
                    refusal = f"the grader failed: {unforeseen(error)}"
            yield Collected(submission.shown, student, refusal=refusal)


def _whose(submission: Found, identities: Identities) -> tuple[str, str]:
    """The student's id, or why nobody can tell."""
    try:
        student = identities.id_of(submission.label, submission.keys)
        if student in problem_sets():
            return "", f"it is called {student}, as no student is: name its folder or zip by the student's id"
        return student, ""
    except ValueError as error:
        return "", str(error)
