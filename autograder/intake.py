"""Takes a submission in: keeps the learner's modules and written answers, and rebuilds everything else.

The notebook that is graded is the released one with the learner's written answers put in, so that deleted, doubled or
edited cells, outputs and metadata of the submitted one change nothing.
"""

from __future__ import annotations

import copy
import hashlib
import io
import json
import re
import secrets
import shutil
import zipfile
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any

from .course import Course
from .judging import MOST_FILE_BYTES, MOST_FILES, Submission

MOST_NOTEBOOK_BYTES = 20 * 2**20
MOST_ANSWER_CHARACTERS = 100_000
STAMP = "timestamp.txt"
TICKET = "submission_secret.txt"  # by it nbgrader's exchange hands the feedback back to whoever submitted
TICKET_BYTES = 64


@dataclass(frozen=True)
class Received:
    """The parts of a submission that are taken: module texts, the notebook's bytes, and remarks on the rest.

    ticket: nbgrader's submission secret, "" for a submission that did not come through its exchange
    """

    files: dict[str, bytes]
    notebook: bytes | None
    remarks: tuple[str, ...]
    ticket: str = ""


def read_folder(folder: Path, problem_set: str) -> Received:
    """A submission in a folder; symbolic links are not followed."""
    entries = []
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink():
            entries.append((name, None))
        elif path.is_file() and name != STAMP:
            size = path.stat().st_size
            entries.append((name, path.read_bytes() if size <= MOST_NOTEBOOK_BYTES else None))
        if len(entries) > 2000:
            break
    return _take(entries, problem_set)


def read_zip(path: Path, problem_set: str) -> Received:
    """A submission in a zip, read in memory within limits and never unpacked; ValueError where it is no zip."""
    try:
        with zipfile.ZipFile(path) as archive:
            entries = []
            for info in archive.infolist()[:2000]:
                if info.is_dir():
                    continue
                with archive.open(info) as file:
                    data = file.read(MOST_NOTEBOOK_BYTES + 1)
                entries.append((info.filename, data if len(data) <= MOST_NOTEBOOK_BYTES else None))
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, OSError, ValueError) as error:
        raise ValueError(f"{path.name} is no readable zip: {error}") from None
    return _take(entries, problem_set)


def _take(entries: list[tuple[str, bytes | None]], problem_set: str) -> Received:
    files: dict[str, bytes] = {}
    notebook, remarks, ticket = None, [], ""
    for name, data in entries:
        parts = PurePosixPath(name).parts
        inside = parts[1:] if len(parts) > 1 and parts[0] == problem_set else parts
        if data is None:
            remarks.append(f"{name} is a link or too large: left out")
        elif len(inside) == 2 and inside[0] == "attention" and inside[1].endswith(".py"):
            if len(data) > MOST_FILE_BYTES or len(files) >= MOST_FILES:
                remarks.append(f"{name} is too large, or one file too many: left out")
            elif inside[1] in files:
                remarks.append(f"{name} is there twice: the first counts")
            else:
                files[inside[1]] = data
        elif inside == (f"{problem_set}.ipynb",) and notebook is None:
            notebook = data
        elif inside == (TICKET,) and re.fullmatch(rb"[0-9a-f]{%d}" % (2 * TICKET_BYTES), data):
            ticket = data.decode()
        elif not _comes_with_release(inside):
            remarks.append(f"{name} is no part of the problem set: left out")
    return Received(files, notebook, tuple(remarks), ticket)


def _comes_with_release(parts: tuple[str, ...]) -> bool:
    return bool(parts) and (
        parts[0] in ("selfcheck", "__MACOSX", ".selfcheck.json") or "__pycache__" in parts or parts[-1].startswith(".")
    )


def store(
    course: Course, student: str, problem_set: str, received: Received, when: datetime | None = None
) -> tuple[str, ...]:
    """Write a submission into nbgrader's submitted folder, cleaned; returns the remarks on it."""
    released = json.loads((course.release(problem_set) / f"{problem_set}.ipynb").read_text(encoding="utf-8"))
    notebook, remarks = rebuild(released, received.notebook)
    folder = course.submitted(student, problem_set)
    if folder.exists():
        shutil.rmtree(folder)
    (folder / "attention").mkdir(parents=True)
    for name, data in received.files.items():
        (folder / "attention" / name).write_bytes(data)
    (folder / f"{problem_set}.ipynb").write_text(json.dumps(notebook, indent=1), encoding="utf-8")
    (folder / TICKET).write_text(received.ticket or secrets.token_hex(TICKET_BYTES), encoding="utf-8")
    stamp = (when or datetime.now(UTC)).strftime("%Y-%m-%d %H:%M:%S UTC")
    (folder / STAMP).write_text(stamp, encoding="utf-8")
    remarks = (*received.remarks, *remarks)
    mark = course.intake_file(student, problem_set)
    mark.parent.mkdir(parents=True, exist_ok=True)
    mark.write_text(json.dumps({"digest": digest(folder), "remarks": remarks}), encoding="utf-8")
    return remarks


def normalise(course: Course, student: str, problem_set: str) -> tuple[str, ...]:
    """Clean a submission that came another way (nbgrader's exchange, a copied folder); nothing to do where it is clean.

    The original is moved to `received`. Returns the remarks on the submission.
    """
    folder = course.submitted(student, problem_set)
    mark = _read_mark(course.intake_file(student, problem_set))
    if mark and mark["digest"] == digest(folder):
        return tuple(mark["remarks"])
    received = read_folder(folder, problem_set)
    when = _read_stamp(folder)
    keep(course, student, problem_set, folder)
    return store(course, student, problem_set, received, when)


def keep(course: Course, student: str, problem_set: str, path: Path) -> None:
    """Copy what came in, links as links, to `received`, under the time of its arrival."""
    now = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%fZ")
    target = course.received(student, problem_set) / now
    target.mkdir(parents=True)
    if path.is_dir():
        shutil.copytree(path, target / "submission", symlinks=True, ignore_dangling_symlinks=True)
    else:
        shutil.copyfile(path, target / path.name)


def digest(folder: Path) -> str:
    """A digest over every file of a cleaned submission but its time."""
    found = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path == folder / STAMP:
            continue
        kind = b"link" if path.is_symlink() else b"file" if path.is_file() else b"folder"
        content = path.read_bytes() if kind == b"file" else b""
        for part in (path.relative_to(folder).as_posix().encode(), kind, content):
            found.update(len(part).to_bytes(8, "big") + part)
    return found.hexdigest()


def rebuild(released: dict[str, Any], submitted: bytes | None) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The released notebook with the submitted written answers in it, and remarks on what was odd."""
    notebook = copy.deepcopy(released)
    if submitted is None:
        return notebook, ("there is no notebook: the written questions count as unanswered",)
    cells, trouble = _cells(submitted)
    if trouble:
        return notebook, (f"{trouble}: the written questions count as unanswered, the modules are graded",)
    by_id: dict[str, list[str]] = {}
    for cell in cells:
        grade_id = _grade_id(cell)
        if grade_id:
            by_id.setdefault(grade_id, []).append(_source(cell))
    remarks = []
    for cell in notebook["cells"]:
        settings = cell["metadata"].get("nbgrader", {})
        grade_id = settings.get("grade_id")
        if not grade_id or not settings.get("grade"):
            continue
        given = by_id.get(grade_id, [])
        if not given:
            remarks.append(f"the cell {grade_id} was deleted: put back")
        elif len(given) > 1:
            remarks.append(f"the cell {grade_id} is there {len(given)} times: the first counts")
        if given and settings.get("solution"):
            cell["source"] = given[0][:MOST_ANSWER_CHARACTERS]
    return notebook, tuple(remarks)


def _cells(data: bytes) -> tuple[list[dict], str]:
    try:
        tree = json.load(io.BytesIO(data))
    except (ValueError, RecursionError):
        return [], "the notebook is no valid JSON"
    cells = tree.get("cells") if isinstance(tree, dict) else None
    if not isinstance(cells, list) or len(cells) > 5000:
        return [], "the notebook has no list of cells, or one too long"
    return [cell for cell in cells if isinstance(cell, dict)], ""


def _grade_id(cell: dict) -> str | None:
    metadata = cell.get("metadata")
    settings = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    grade_id = settings.get("grade_id") if isinstance(settings, dict) else None
    return grade_id if isinstance(grade_id, str) else None


def _source(cell: dict) -> str:
    source = cell.get("source", "")
    if isinstance(source, list):
        source = "".join(part for part in source if isinstance(part, str))
    return source if isinstance(source, str) else ""


def _read_mark(path: Path) -> dict | None:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def _read_stamp(folder: Path) -> datetime | None:
    from nbgrader.utils import parse_utc

    try:
        return parse_utc((folder / STAMP).read_text(encoding="utf-8").strip()[:100]).replace(tzinfo=UTC)
    except (OSError, ValueError, AttributeError, OverflowError):
        return None


def submission_of(course: Course, student: str, problem_set: str) -> Submission:
    """The modules of a cleaned submission."""
    folder = course.submitted(student, problem_set) / "attention"
    return Submission({path.name: path.read_bytes() for path in sorted(folder.glob("*.py"))})
