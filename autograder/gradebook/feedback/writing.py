"""Writes the pages of a class: those that changed, each completely or not at all."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ...course.atomic_folders import recover, take_place
from ...course.faults import machine_fault, unforeseen
from ...course.folder import Course
from ...intake.archive import STAMP, TICKET
from ..autograded_folder import autograded
from ..marks import marked_set
from .facts import Facts, Gathering, NoFeedback
from .formulas import Formulas
from .page import digest_of, page

DRAFTS = ".feedback-drafts"
DIGEST = re.compile(rb'<meta name="digest" content="([0-9a-f]+)">')
HEAD = 2_000  # bytes of a page in which its digest stands
END = b"</html>"
BESIDE = (STAMP, TICKET)  # what nbgrader's exchange wants beside a page


@dataclass(frozen=True)
class Written:
    """What became of one learner's page. path: None where there is none, for the reason in `trouble`"""

    student: str
    path: Path | None
    is_new: bool = False
    trouble: str = ""


def write_pages(
    course: Course, problem_set: str, students: list[str], say: Callable[[Written], object] = lambda written: None
) -> list[Written]:
    """Write the pages of these students, as far as they are not what they would be; what became of each.

    A page that fails leaves the former one, and stops nobody else's. say: called with each as it is done
    """
    marked = marked_set(course, problem_set)
    gathering = Gathering(course, problem_set, marked)
    mode = 0o664 if marked.group_writes else 0o644
    pages = []
    drafts = course.root / DRAFTS
    try:
        with Formulas() as formulas:
            for student in students:
                pages.append(_written(course, gathering, formulas, student, mode))
                say(pages[-1])
    finally:
        shutil.rmtree(drafts, ignore_errors=True)
    return pages


def _written(course: Course, gathering: Gathering, formulas: Formulas, student: str, mode: int) -> Written:
    try:
        facts = gathering.of(student)
        target = course.feedback(student, facts.problem_set)
        path = target / f"{facts.problem_set}.html"
        recover(target)
        beside = _beside(course, facts)
        if _is_current(path, digest_of(facts), beside):
            return Written(student, path)
        files = {path.name: page(facts, formulas).encode()} | beside
        _replace(course.root / DRAFTS / student, target, files, mode)
        return Written(student, path, True)
    except NoFeedback as error:
        return Written(student, None, trouble=str(error))
    except OSError as error:
        return Written(student, None, trouble=machine_fault(error) or str(error))
    except Exception as error:  # whatever somebody has written stops nobody else's page
        return Written(student, None, trouble=f"the grader failed: {unforeseen(error)}")


def _beside(course: Course, facts: Facts) -> dict[str, bytes]:
    folder = autograded(course, facts.student, facts.problem_set)
    return {name: (folder / name).read_bytes() for name in BESIDE if (folder / name).is_file()}


def _is_current(path: Path, digest: str, beside: dict[str, bytes]) -> bool:
    """Whether a whole page with this digest is there, and what has to lie beside it."""
    try:
        data = path.read_bytes()
        there = {name: (path.parent / name).read_bytes() for name in beside}
    except OSError:
        return False
    match = DIGEST.search(data[:HEAD])
    return match is not None and match[1] == digest.encode() and data.endswith(END) and there == beside


def _replace(draft: Path, target: Path, files: dict[str, bytes], mode: int) -> None:
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(parents=True)
    for name, data in files.items():
        (draft / name).write_bytes(data)
        (draft / name).chmod(mode)
    target.parent.mkdir(parents=True, exist_ok=True)
    for path in take_place(draft, target):
        shutil.rmtree(path, ignore_errors=True)
