"""The late penalty: works it out by a course's policy, deadline and extensions, and tells learners of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta, tzinfo
from typing import TYPE_CHECKING

from nbformat.notebooknode import NotebookNode
from nbformat.v4 import nbjson, new_markdown_cell

from ..course.durations import moment, span
from ..course.folder import Course
from . import penalty_facts

if TYPE_CHECKING:
    from .rows import Lateness
    from .steps import Steps

HEAD = "*To be handed in by "  # what the cell with the deadline begins with in a released notebook
LEAST = 1e-9  # points: less is rounding


class LatePenalties:
    """The late penalties of a problem set, as the course has it now.

    due: by the gradebook, UTC without its zone; known: what the gradebook held of everybody when it was opened
    Raises SettingsError for an extension that cannot be read.
    """

    def __init__(
        self, course: Course, problem_set: str, steps: Steps, due: datetime | None, known: Mapping[str, Lateness]
    ) -> None:
        self._problem_set, self._steps, self.due, self._known = problem_set, steps, due, known
        self._extensions = course.extensions
        said = course.settings.deadline(problem_set)
        #: Whether course.toml names another deadline than the gradebook has.
        self.deadline_moved = said is not None and said.astimezone(UTC).replace(tzinfo=None) != due
        self._zone: tzinfo = (said and said.tzinfo) or UTC

    def extension(self, student: str, known: timedelta | None) -> timedelta | None:
        """How much more time somebody has: by roster or `extend`, else what the gradebook knows."""
        given = self._extensions.of(student, self._problem_set, self.due)
        return known if given is None else given or None

    def is_current(self, student: str) -> bool:
        """Whether what the gradebook holds of somebody is the extension and the penalty that there are now."""
        row = self._known.get(student)
        if row is None:
            return True
        extension = self.extension(student, row.extension)
        if (extension or timedelta()) != (row.extension or timedelta()):
            return False
        if not self._steps.penalises:
            return True
        seconds = penalty_facts.seconds_late(row.timestamp, self.due, extension)
        expected = sum(self._steps.penalty(student, score, seconds) or 0.0 for score in row.scores)
        return abs(expected - row.penalty) < LEAST

    def told(self, facts: penalty_facts.Facts) -> str:
        """What stands at the head of a learner's notebook: the deadline, an extension, a penalty; "" without them."""
        if self.due is None:
            return ""
        extension = timedelta(seconds=facts.get("extension", 0))
        lines = [f"{HEAD}{self._moment(self.due)}.*"]
        if extension:
            lines.append(f"*Your extension: until {self._moment(self.due + extension)}.*")
        if facts.get("seconds"):
            taken = f"{facts['penalty']:g} points are taken off" if facts.get("penalty") else "nothing is taken off"
            lines.append(f"**Handed in {span(facts['seconds'])} late: {taken}.**")
        return "\n\n".join(lines)

    def _moment(self, when: datetime) -> str:
        return moment(when.replace(tzinfo=UTC).astimezone(self._zone))


def with_head(nb: NotebookNode, told: str) -> NotebookNode:
    """A notebook whose cell with the deadline holds this text, or is gone for ""; the cells are changed in place."""
    place = next((number for number, cell in enumerate(nb.cells) if _is_head(cell)), None)
    if place is None and told:
        place = min(1, len(nb.cells))
        nb.cells.insert(place, new_markdown_cell(told, id="deadline"))
    elif place is not None and told:
        nb.cells[place].source = told
    elif place is not None:
        del nb.cells[place]
    return nb


def text_with_head(text: str, told: str) -> str:
    """The text of a notebook, likewise."""
    if has_head(text, told):
        return text
    return nbjson.writes(with_head(nbjson.reads(text), told)) + "\n"


def has_head(text: str, told: str) -> bool:
    """Whether the text of a notebook tells this of the deadline, and nothing else."""
    lines = told.splitlines(keepends=True) if told else []
    if text.count(json.dumps(HEAD)[:-1]) != bool(told):
        return False
    cell = json.dumps(lines, ensure_ascii=False, indent=1).replace("\n", "\n   ")
    return not lines or cell in text


def _is_head(cell: NotebookNode) -> bool:
    return cell.cell_type == "markdown" and cell.source.startswith(HEAD) and "nbgrader" not in cell.metadata
