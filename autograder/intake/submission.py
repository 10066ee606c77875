"""Takes a submission in: keeps the learner's modules and written answers, and rebuilds everything else.

The notebook that is graded is the released one with the learner's written answers put in, so that deleted, doubled or
edited cells, outputs and metadata of the submitted one change nothing.
"""

from __future__ import annotations

import copy
import hashlib
import json
import os
import re
import secrets
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from itertools import islice
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from ..course.folder import Course, check_student_id, twins_of
from ..course.locks import turn
from ..course.printable import printable
from ..course.releases import by_grade_id, earlier, graded_cells, release_file
from .archive import MOST_FILES, MOST_NOTEBOOK_BYTES, STAMP, TICKET, TICKET_BYTES, Received, keep, read_folder
from .safe_files import NotTaken, reader, remove, walk

MOST_ANSWER_CHARACTERS = 100_000
MOST_CELLS = 5000
MOST_STORED = 2 * MOST_FILES  # files; a cleaned submission has fewer
#: Signs without a picture that languages are written with: spaces of several widths, joiners of letters and of emoji.
KEPT_SIGNS = "\n\t\u00a0\u00ad\u2009\u200c\u200d\u202f\u3000"
#: As nbgrader writes it: 2026-01-31 12:00:00.123456 UTC.
STAMP_FORM = re.compile(
    r"(?P<time>2\d{3}-\d\d-\d\d[ T]\d\d:\d\d:\d\d)(?:\.\d{1,9})? ?"
    r"(?P<zone>Z|[A-Z][A-Za-z]{1,15}(?:/[A-Z][A-Za-z_]{1,30})?)?(?P<shift>[+-]\d\d:?\d\d)?",
    re.ASCII,
)


@dataclass(frozen=True)
class Submission:
    """The Python files of a submitted package, by name."""

    files: dict[str, bytes]


def store(
    course: Course, student: str, problem_set: str, received: Received, when: datetime | None = None
) -> tuple[str, ...]:
    """Write a submission into nbgrader's submitted folder, cleaned; returns the remarks on it."""
    with turn(course):
        return _store(course, student, problem_set, received, when)


def _store(
    course: Course, student: str, problem_set: str, received: Received, when: datetime | None
) -> tuple[str, ...]:
    notebook, remarks = rebuild(_released(course, problem_set), received.notebook, earlier(course, problem_set))
    folder = course.submitted(student, problem_set)
    if folder.exists():
        remove(folder, course.root)
    (folder / "attention").mkdir(parents=True)
    for name, data in received.files.items():
        (folder / "attention" / name).write_bytes(data)
    (folder / f"{problem_set}.ipynb").write_text(json.dumps(notebook, indent=1), encoding="utf-8")
    (folder / TICKET).write_text(received.ticket or secrets.token_hex(TICKET_BYTES), encoding="utf-8")
    stamp = (when or datetime.now(UTC)).strftime("%Y-%m-%d %H:%M:%S UTC")
    (folder / STAMP).write_text(stamp, encoding="utf-8")
    remarks = (*received.remarks, *remarks)
    _write_mark(course, student, problem_set, remarks)
    return remarks


def _released(course: Course, problem_set: str) -> dict[str, Any]:
    return json.loads(release_file(course, problem_set).read_text(encoding="utf-8"))


def normalise(course: Course, student: str, problem_set: str) -> tuple[str, ...]:
    """Clean a submission that came another way (nbgrader's exchange, a copied folder); nothing to do where it is clean.

    The original is moved to `received`. Returns the remarks on the submission. Raises ValueError for a student's id
    that could be taken for something else.
    """
    check_student_id(student)
    with turn(course):  # other graders clean, and so does nbgrader's hook beside them
        remarks = _cleaned(course, student, problem_set)
    return remarks + tuple(f"the id looks like {one}'s, who has handed in too" for one in twins_of(course, student))


def _cleaned(course: Course, student: str, problem_set: str) -> tuple[str, ...]:
    folder = course.submitted(student, problem_set)
    known = _read_mark(course.intake_file(student, problem_set))
    if known and known[0] == digest(folder):
        if known[2] not in (None, graded_cells(course, problem_set)):
            _put_onto_new_release(course, student, problem_set, known[1])
        return known[1]
    received = read_folder(folder, problem_set)
    when = _read_stamp(folder)
    keep(course, student, problem_set, folder)
    return _store(course, student, problem_set, received, when)


def _put_onto_new_release(course: Course, student: str, problem_set: str, remarks: tuple[str, ...]) -> None:
    """Write the answers of a cleaned submission into a notebook that has more or fewer cells than when it came."""
    path = course.submitted(student, problem_set) / f"{problem_set}.ipynb"
    notebook, _ = rebuild(_released(course, problem_set), path.read_bytes())
    path.write_text(json.dumps(notebook, indent=1), encoding="utf-8")
    _write_mark(course, student, problem_set, remarks)


def digest(folder: Path) -> str:
    """A digest over every file of a cleaned submission but its time; of what no cleaning leaves behind, only that it is
    there.
    """
    found = hashlib.sha256()
    for name, path, plain in islice(walk(folder, folders=True), MOST_STORED):
        if path == folder / STAMP:
            continue
        content = b""
        with suppress(OSError, NotTaken):  # what cannot be read was not there when it was cleaned
            content = reader(path)(MOST_NOTEBOOK_BYTES) if plain else b""
        for part in (os.fsencode(name), b"file" if plain else b"other", content):
            found.update(len(part).to_bytes(8, "big") + part)
    return found.hexdigest()


def rebuild(
    released: dict[str, Any], submitted: bytes | None, earlier: Sequence[dict[str, Any]] = ()
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The released notebook with the submitted written answers in it, and remarks on what was odd.

    earlier: notebooks of earlier releases, from which nothing is odd either
    """
    notebook = copy.deepcopy(released)
    if submitted is None:
        return notebook, ("there is no notebook: the written questions count as unanswered",)
    cells, trouble = _cells(submitted)
    if trouble:
        return notebook, (f"{trouble}: the written questions count as unanswered, the modules are graded",)
    by_id: dict[str, list[dict]] = {}
    for cell in cells:
        grade_id = _grade_id(cell)
        if grade_id:
            by_id.setdefault(grade_id, []).append(cell)
    remarks = []
    before = [by_grade_id(one) for one in earlier]
    for grade_id, cell in by_grade_id(notebook).items():
        given = by_id.get(grade_id, [])
        versions = [cell, *(one.get(grade_id) for one in before)]
        if not given and all(versions):
            remarks.append(f"the cell {grade_id} was deleted: put back")
        elif len(given) > 1:
            remarks.append(f"the cell {grade_id} is there {len(given)} times: the first counts")
        if given and all(_edited(one, given[0]) for one in versions if one):
            remarks.append(f"the cell {grade_id} is not as it was released: put back")
        if given and cell["metadata"]["nbgrader"].get("solution"):
            answer = _source(given[0])[:MOST_ANSWER_CHARACTERS].replace("\r\n", "\n")
            cell["source"] = printable(answer, keep=KEPT_SIGNS)
    return notebook, tuple(remarks)


def _cells(data: bytes) -> tuple[list[dict], str]:
    try:
        tree = json.loads(data)
    except (ValueError, RecursionError):
        return [], "the notebook is no valid JSON"
    cells = tree.get("cells") if isinstance(tree, dict) else None
    if not isinstance(cells, list) or len(cells) > MOST_CELLS:
        return [], "the notebook has no list of cells, or one too long"
    return [cell for cell in cells if isinstance(cell, dict)], ""


def _grade_id(cell: dict) -> str | None:
    metadata = cell.get("metadata")
    settings = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    grade_id = settings.get("grade_id") if isinstance(settings, dict) else None
    return grade_id if isinstance(grade_id, str) else None


def _edited(released: dict[str, Any], given: dict) -> bool:
    """Whether a cell's kind, settings or, where no answer is written into it, text are others than the released."""
    settings = released["metadata"]["nbgrader"]
    if given.get("cell_type") != released["cell_type"] or settings != {
        name: given["metadata"]["nbgrader"].get(name) for name in settings
    }:
        return True
    return not settings.get("solution") and _source(given).strip() != _source(released).strip()


def _source(cell: dict) -> str:
    source = cell.get("source", "")
    if isinstance(source, list):
        source = "".join(part for part in source if isinstance(part, str))
    return source if isinstance(source, str) else ""


def _write_mark(course: Course, student: str, problem_set: str, remarks: tuple[str, ...]) -> None:
    mark = course.intake_file(student, problem_set)
    mark.parent.mkdir(parents=True, exist_ok=True)
    found = {
        "digest": digest(course.submitted(student, problem_set)),
        "remarks": remarks,
        "cells": graded_cells(course, problem_set),
    }
    mark.write_text(json.dumps(found), encoding="utf-8")


def _read_mark(path: Path) -> tuple[str, tuple[str, ...], list[str] | None] | None:
    """Digest, remarks and the graded cells of the release of that day; None for no mark, or a damaged one."""
    try:
        tree = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    digest, remarks = (tree.get("digest"), tree.get("remarks")) if isinstance(tree, dict) else (None, None)
    sound = isinstance(digest, str) and isinstance(remarks, list) and all(isinstance(one, str) for one in remarks)
    return (digest, tuple(remarks), tree.get("cells")) if sound else None


def _read_stamp(folder: Path) -> datetime | None:
    """When a submission arrived, as nbgrader wrote it beside it; None where that cannot be known."""
    try:
        text = reader(folder / STAMP)(100).decode("ascii")
    except (OSError, NotTaken, ValueError):
        return None
    return stamp_time(text)


def stamp_time(text: str) -> datetime | None:
    """The time in a time stamp, in UTC; None where it is none. A zone that is not known counts as UTC."""
    found = STAMP_FORM.fullmatch(text.strip())
    if not found:
        return None
    try:
        when = datetime.fromisoformat(found["time"]).replace(tzinfo=_zone(found["zone"], found["shift"]))
        return when.astimezone(UTC)
    except (ValueError, OverflowError):  # the 31st of February
        return None


def _zone(name: str | None, shift: str | None) -> tzinfo:
    if shift:
        return datetime.strptime(shift, "%z").tzinfo or UTC
    with suppress(KeyError, ValueError, OSError):
        return ZoneInfo(name) if name and name != "Z" else UTC
    return UTC


def submission_of(course: Course, student: str, problem_set: str) -> Submission:
    """The modules of a cleaned submission."""
    folder = course.submitted(student, problem_set) / "attention"
    return Submission({path.name: path.read_bytes() for path in sorted(folder.glob("*.py"))})
