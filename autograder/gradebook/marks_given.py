"""Who gave a mark by hand, and when: a line for each, written where nbgrader's own interface saves it."""

from __future__ import annotations

import getpass
import json
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from nbgrader.api import Assignment, BaseCell, Grade, SubmittedAssignment, SubmittedNotebook
from sqlalchemy import Connection, event, inspect, select
from sqlalchemy.orm import Mapper

FILE = "marks.jsonl"
HUB_USER = "JUPYTERHUB_USER"  # on a JupyterHub several people may share one account of the machine
Given = dict[tuple[str, str], "MarkGiven"]  # (student, cell's name) → the last mark


@dataclass(frozen=True)
class MarkGiven:
    """The last change of a mark. user: by name; time: UTC, ISO 8601; mark: None where it was taken back"""

    user: str
    time: str
    mark: float | None


def record_marks(root: Path) -> None:
    """From now on write down each mark by hand that this process saves to the gradebook of the course in `root`.

    nbgrader's tables hold neither who nor when. What is saved without the course's nbgrader_config.py is not seen.
    """
    listener = _listener(root.resolve())
    if not event.contains(Grade, "before_update", listener):
        event.listen(Grade, "before_update", listener)


@cache
def _listener(root: Path) -> Callable[[Mapper[Any], Connection, Grade], None]:
    def see(mapper: Mapper[Any], connection: Connection, grade: Grade) -> None:
        changed = {name: inspect(grade).attrs[name].history for name in ("manual_score", "extra_credit")}
        if not any(change.has_changes() for change in changed.values()) or not _is_of(root, connection):
            return
        student, problem_set, cell = connection.execute(
            select(SubmittedAssignment.student_id, Assignment.name, BaseCell.name)
            .select_from(SubmittedNotebook)
            .join(SubmittedAssignment, SubmittedAssignment.id == SubmittedNotebook.assignment_id)
            .join(Assignment, Assignment.id == SubmittedAssignment.assignment_id)
            .join(BaseCell, BaseCell.id == grade.cell_id)
            .where(SubmittedNotebook.id == grade.notebook_id)
        ).one()
        line = {"time": datetime.now(UTC).isoformat(timespec="seconds"), "user": _user(), "student": student}
        line |= {"problem_set": problem_set, "cell": cell}
        line |= {"mark": grade.manual_score} | ({"extra_credit": grade.extra_credit} if grade.extra_credit else {})
        with suppress(OSError), (root / FILE).open("a", encoding="utf-8") as file:  # the mark itself counts
            file.write(json.dumps(line) + "\n")

    return see


def _is_of(root: Path, connection: Connection) -> bool:
    """Whether a connection is to the gradebook of this course; one to a server is to the one that is configured."""
    url = connection.engine.url
    if url.get_backend_name() != "sqlite" or not url.database:
        return True
    return Path(url.database).resolve().parent == root


def _points(value: float | str | None) -> float | None:
    """A mark as a number. Formgrader's page sends the text that was typed, of which only the database makes one."""
    return None if value is None or value == "" else float(value)


def _user() -> str:
    with suppress(KeyError, OSError):
        return os.environ.get(HUB_USER) or getpass.getuser()
    return str(os.getuid())  # this user has no name here


def marks_given(root: Path, problem_set: str) -> Given:
    """The last mark that was written down for each student and cell; lines that hold none are left out."""
    given: Given = {}
    with suppress(FileNotFoundError), (root / FILE).open(encoding="utf-8", errors="replace") as file:
        for text in file:
            with suppress(ValueError, KeyError, TypeError, RecursionError):
                line = json.loads(text)
                if line["problem_set"] == problem_set:
                    key = str(line["student"]), str(line["cell"])
                    given[key] = MarkGiven(str(line["user"]), str(line["time"]), _points(line["mark"]))
    return given
