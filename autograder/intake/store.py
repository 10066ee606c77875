"""Keeps cleaned submissions in nbgrader's `submitted` folder, and gives them as values.

What came another way than by `submit` (nbgrader's exchange, a copied folder) is cleaned when it is taken in. A mark
outside what a student can write holds the digest of the cleaned folder: what still has it is clean.
"""

from __future__ import annotations

import glob
import json
import secrets
import shutil
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from selfcheck.atomic_files import write_atomically

from ..course import atomic_folders
from ..course.folder import Course, check_student_id, lookalike_ids
from ..course.locks import course_lock
from ..course.releases import earlier_notebooks, graded_cells, release_file
from .archive import (
    STAMP,
    TICKET,
    TICKET_BYTES,
    Received,
    read_folder,
)
from .in_cells import written_in_cells
from .keeping import kept
from .kept_before import last_good
from .notebook import rebuild_within_limits
from .safe_files import remove
from .snapshot import Snapshot, read_stamp, snapshot
from .submission import Submission
from .time_stamps import doubt, stamp_text, stamp_time

PACKAGE = "attention/"
DRAFT = "-arriving-"  # in the name of a folder that is being written


class Unrecognised(ValueError):
    """What is there is no submission to the problem set, and nothing was handed in before."""


@dataclass(frozen=True)
class _Mark:
    """What is known of a cleaned submission: its digest, the remarks on it, the graded cells of its release, its time
    stamp ("" where an earlier version did not write it down), the exercises whose code is in the notebook instead.
    """

    digest: str
    remarks: tuple[str, ...]
    cells: list[str] | None
    stamp: str
    in_cells: tuple[str, ...] = ()


def store(
    course: Course, student: str, problem_set: str, received: Received, when: datetime | None = None
) -> Submission:
    """Write a submission into nbgrader's submitted folder, cleaned; when: it arrived, in UTC; None for now."""
    with course_lock(course):
        return store_with_lock(course, student, problem_set, received, when)


def take_in(
    course: Course, student: str, problem_set: str, inbound: Callable[[], Path | None] = lambda: None
) -> Submission:
    """A student's submission, which is cleaned before if it is not clean; the original is then kept in `received`.

    inbound: gives the folder of nbgrader's exchange in which submissions are left; asked where a time is in doubt
    Raises ValueError for a student's id that could be taken for something else, and Unrecognised.
    """
    check_student_id(student)
    folder = course.submitted(student, problem_set)
    if folder.is_symlink() or folder.parent.is_symlink():  # an archive that was unpacked by hand may have made it
        raise Unrecognised(f"{student}/{problem_set} is a link, which may lead to somebody else's work")
    with course_lock(course):  # other graders clean, and so does nbgrader's hook beside them
        _recover(course, student, problem_set)
        submission = _stored(course, student, problem_set, inbound) or _cleaned(course, student, problem_set, inbound)
    twins = (f"the id looks like {twin}'s, who has handed in too" for twin in lookalike_ids(course, student))
    return replace(submission, remarks=(*submission.remarks, *twins))


def stored(course: Course, student: str, problem_set: str) -> Submission | None:
    """The submission that is there, for whoever holds the lock; None for none, or one that is yet to be taken in."""
    _recover(course, student, problem_set)
    return _stored(course, student, problem_set, lambda: None)


def is_current(course: Course, submission: Submission) -> bool:
    """Whether the folder still holds what was taken in: something else may have been handed in meanwhile."""
    now = snapshot(course.submitted(submission.student, submission.problem_set))
    return (now.digest, now.stamp) == (submission.digest, submission.stamp)


def _stored(course: Course, student: str, problem_set: str, inbound: Callable[[], Path | None]) -> Submission | None:
    """A submission that is clean; None where it has not been cleaned, or somebody has changed it since."""
    mark = _read_mark(course.intake_file(student, problem_set))
    if mark is None:
        return None
    stored = snapshot(course.submitted(student, problem_set))
    if stored.digest != mark.digest:
        return None
    remarks = mark.remarks
    if mark.stamp and stored.stamp != mark.stamp:  # the same files came once more, with another time
        remarks = (*remarks, *_doubts(course, student, problem_set, stored.stamp, inbound))
    if mark.cells not in (None, graded_cells(course, problem_set)):
        # There are more or fewer cells than when it came: the answers are put into the notebook of today.
        name = f"{problem_set}.ipynb"
        notebook, _ = rebuild_within_limits(_released(course, problem_set), stored.files[name])
        files = stored.files | {name: _text_of(notebook), STAMP: stored.stamp.encode()}
        return _write(course, student, problem_set, files, remarks, mark.in_cells)
    return _submission(student, problem_set, stored, remarks, mark.in_cells)


def _cleaned(course: Course, student: str, problem_set: str, inbound: Callable[[], Path | None]) -> Submission:
    folder = course.submitted(student, problem_set)
    received, stamp = read_folder(folder, problem_set), read_stamp(folder)
    doubts = _doubts(course, student, problem_set, stamp, inbound)
    when, former, mark = stamp_time(stamp), None, _read_mark(course.intake_file(student, problem_set))
    if received.refusal and mark:
        former = last_good(course, student, problem_set)
    if former and mark:
        before = f"what was handed in before, at {mark.stamp.strip() or 'a time that is not known'}, counts"
        doubts = (f"what came last is refused, and {before}: {received.refusal}",)
        received, when = former, stamp_time(mark.stamp)
    elif received.refusal:
        raise Unrecognised(f"{received.refusal}. Nothing was handed in before")
    with kept(course, student, problem_set, folder):
        return store_with_lock(course, student, problem_set, received, when, doubts)


def _doubts(
    course: Course, student: str, problem_set: str, stamp: str, inbound: Callable[[], Path | None]
) -> tuple[str, ...]:
    """Why the time in a submission's stamp is in doubt, in a line; none where it is not."""
    path = course.submitted(student, problem_set) / STAMP
    if not doubt(stamp, path, []):
        return ()
    left = inbound()
    copies = sorted(left.glob(f"{glob.escape(f'{student}+{problem_set}+')}*")) if left else []
    return tuple(filter(None, [doubt(stamp, path, copies)]))


def store_with_lock(
    course: Course,
    student: str,
    problem_set: str,
    received: Received,
    when: datetime | None,
    doubts: tuple[str, ...] = (),
) -> Submission:
    """As `store`, for whoever holds the course's lock. doubts: further remarks"""
    notebook, remarks = rebuilt(course, problem_set, received)
    in_cells, told = written_in_cells(received.notebook, problem_set, received.files)
    files = {f"{PACKAGE}{name}": data for name, data in received.files.items()}
    files |= {
        f"{problem_set}.ipynb": _text_of(notebook),
        TICKET: (received.ticket or secrets.token_hex(TICKET_BYTES)).encode(),
        STAMP: stamp_text(when or datetime.now(UTC)).encode(),
    }
    return _write(course, student, problem_set, files, (*told, *received.remarks, *remarks, *doubts), in_cells)


def _write(
    course: Course,
    student: str,
    problem_set: str,
    files: dict[str, bytes],
    remarks: tuple[str, ...],
    in_cells: tuple[str, ...],
) -> Submission:
    """Put a cleaned submission, and the mark that it is clean, in the place of what is there, both or neither."""
    _recover(course, student, problem_set)
    folder = course.submitted(student, problem_set)
    draft = folder.with_name(f".{problem_set}{DRAFT}{secrets.token_hex(6)}")
    try:
        (draft / PACKAGE).mkdir(parents=True)
        for name, data in files.items():
            atomic_folders.write_synced(draft / name, data)
        for place in (draft / PACKAGE, draft):
            atomic_folders.sync_folder(place)
        stored = snapshot(draft)
        cells = graded_cells(course, problem_set)
        mark = {"digest": stored.digest, "remarks": remarks, "cells": cells, "stamp": stored.stamp}
        text, path = json.dumps(mark | {"in_cells": in_cells}), course.intake_file(student, problem_set)
        left = atomic_folders.take_place(draft, folder, lambda: write_atomically(path, text))
    finally:
        with suppress(OSError):
            shutil.rmtree(draft, ignore_errors=True)
            folder.parent.rmdir()  # where nothing of this student's is there
    _remove(course, left)
    return _submission(student, problem_set, stored, remarks, in_cells)


def _recover(course: Course, student: str, problem_set: str) -> None:
    """Mend what somebody left who was ended while a submission was written; to be called with the lock held."""
    folder = course.submitted(student, problem_set)
    if folder.parent.is_dir():
        drafts = folder.parent.glob(f".{problem_set}{DRAFT}*")
        _remove(course, [*atomic_folders.recover(folder), *drafts])


def recover_all(course: Course, problem_set: str) -> None:
    """Bring back the submissions that were put aside by a command that was ended while it replaced them."""
    former = atomic_folders.former_of(Path(problem_set)).name
    for path in (course.root / "submitted").glob(f"*/{former}"):
        with course_lock(course):
            _recover(course, path.parent.name, problem_set)


def _remove(course: Course, left: Iterable[Path]) -> None:
    for path in left:
        with suppress(OSError):  # the next one who writes removes it
            remove(path, course.root)


def _text_of(notebook: dict[str, Any]) -> bytes:
    return json.dumps(notebook, indent=1).encode()


def rebuilt(course: Course, problem_set: str, received: Received) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The released notebook with the answers that were received in it, and remarks on what was odd."""
    return rebuild_within_limits(
        _released(course, problem_set), received.notebook, earlier_notebooks(course, problem_set)
    )


def _released(course: Course, problem_set: str) -> dict[str, Any]:
    return json.loads(release_file(course, problem_set).read_text(encoding="utf-8"))


def _read_mark(path: Path) -> _Mark | None:
    """The mark of a cleaned submission; None for no mark, or a damaged one."""
    try:
        tree = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(tree, dict):
        return None
    digest, remarks, stamp = tree.get("digest"), tree.get("remarks"), tree.get("stamp", "")
    in_cells = tree.get("in_cells", [])  # earlier versions knew nothing of it
    if not isinstance(digest, str) or not isinstance(stamp, str):
        return None
    if not isinstance(remarks, list) or not isinstance(in_cells, list):
        return None
    if not all(isinstance(text, str) for text in (*remarks, *in_cells)):
        return None
    return _Mark(digest, tuple(remarks), tree.get("cells"), stamp, tuple(in_cells))


def _submission(
    student: str, problem_set: str, stored: Snapshot, remarks: tuple[str, ...], in_cells: tuple[str, ...]
) -> Submission:
    modules = {name: data for name, data in stored.files.items() if name.startswith(PACKAGE) and name.endswith(".py")}
    return Submission(
        student=student,
        problem_set=problem_set,
        files={name.removeprefix(PACKAGE): data for name, data in sorted(modules.items())},
        notebook=stored.files.get(f"{problem_set}.ipynb", b"").decode(),
        remarks=remarks,
        digest=stored.digest,
        stamp=stored.stamp,
        ticket=stored.files.get(TICKET, b"").decode(),
        in_cells=in_cells,
    )
