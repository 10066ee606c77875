"""The steps of `nbgrader autograde` over a submitted notebook, on rows at hand in place of look-ups in the database.

They are the steps that a course's settings name, nbgrader's and the course's own, in their order.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from nbconvert.preprocessors import Preprocessor
from nbformat.notebooknode import NotebookNode
from nbformat.v4 import nbjson
from nbgrader.api import MissingEntry
from nbgrader.converters import Autograde
from nbgrader.coursedir import CourseDirectory
from nbgrader.plugins import LateSubmissionPlugin
from nbgrader.preprocessors import (
    AssignLatePenalties,
    CheckCellMetadata,
    Execute,
    NbGraderPreprocessor,
    OverwriteCells,
    OverwriteKernelspec,
    SaveAutoGrades,
)
from traitlets.config import Config
from traitlets.utils.importstring import import_item

from ..judge.result import Result
from .cells import put_result
from .rows import ReleasedNotebook, Sheet

LOG = logging.getLogger(__name__)
LOG.addHandler(logging.NullHandler())  # what nbgrader remarks on is put right, or ends in an exception


class ResultStep(NbGraderPreprocessor):
    """Puts a trusted result into a notebook, where nbgrader would execute it."""


class GradesStep(NbGraderPreprocessor):
    """Enters what a notebook's cells hold: grades, comments and the late penalty."""


@dataclass(frozen=True)
class Graded:
    """What the steps need of one submission: its result, its modules, and what nbgrader hands to every step."""

    result: Result
    files: Mapping[str, bytes]
    resources: dict[str, Any]


class Steps:
    """What `nbgrader autograde` does to a notebook by a course's settings."""

    def __init__(self, config: Config, coursedir: CourseDirectory) -> None:
        self.converter = Autograde(coursedir=coursedir, config=config)
        self._sanitizing = [_made(step, config) for step in self.converter.sanitize_preprocessors]
        self._grading = [_made(step, config) for step in self.converter.autograde_preprocessors]
        if not _any(self._grading, ResultStep) or _any(self._grading, Execute):
            raise RuntimeError("nbgrader_config.py takes the grader's step out of Autograde.autograde_preprocessors")
        self._save = SaveAutoGrades(config=config, log=LOG)
        own = [step for step in self._grading if isinstance(step, AssignLatePenalties)]
        self._late = own[0] if own else AssignLatePenalties(config=config, log=LOG)
        #: Whether a late penalty is worked out at all.
        self.penalises = self._late.enabled and (bool(own) or _any(self._grading, GradesStep))
        self._valid: set[str] = set()  # settings of cells that nbgrader has checked

    def autograded(self, text: str, notebook: ReleasedNotebook, sheet: Sheet, graded: Graded) -> str:
        """The text of the autograded notebook; the grades and comments of `sheet` become what nbgrader makes them."""
        nb = nbjson.reads(text)
        for step in [*self._sanitizing, *self._grading]:
            nb = self._run(step, nb, notebook, sheet, graded)
        return nbjson.writes(nb) + "\n"

    def _run(self, step: Any, nb: NotebookNode, notebook: ReleasedNotebook, sheet: Sheet, graded: Graded) -> Any:
        if not getattr(step, "enabled", True):
            return nb
        match step:
            case ResultStep():
                put_result(nb, graded.result, graded.files)
            case GradesStep():
                self.save(nb, notebook, sheet)
            case AssignLatePenalties():
                pass  # worked out when the grades are in the database: nbgrader adds them up there
            case OverwriteKernelspec():
                kernelspec = json.loads(notebook.kernelspec or "null")
                nb.metadata |= {"kernelspec": kernelspec} if kernelspec else {}
            case OverwriteCells() | SaveAutoGrades():  # no cell is missing: intake puts each one back
                _each_cell(step, nb, notebook, sheet)
            case CheckCellMetadata():
                self._check_settings(step, nb)
            case _:
                nb, _ = step(nb, graded.resources)
        return nb

    def save(self, nb: NotebookNode, notebook: ReleasedNotebook, sheet: Sheet) -> None:
        """Take the grades and comments of `sheet` from a notebook's cells, as nbgrader does."""
        if self._save.enabled:
            _each_cell(self._save, nb, notebook, sheet)

    def _check_settings(self, step: Any, nb: NotebookNode) -> None:
        """nbgrader's check of its settings in each cell, once for all who have the same."""
        settings = [[cell.cell_type, cell.metadata.nbgrader] for cell in nb.cells if "nbgrader" in cell.metadata]
        key = json.dumps(settings, sort_keys=True)
        if key not in self._valid:
            step(nb, {})
            self._valid.add(key)

    def penalty(self, student: str, score: float, seconds_late: float) -> float | None:
        """What the course's late policy takes off a notebook, in points."""
        if not seconds_late > 0:
            return None
        self._late.init_plugin()
        penalty = self._late.plugin_inst.late_submission_penalty(student, score, seconds_late)
        return None if penalty is None else self._late._check_late_penalty(SimpleNamespace(score=score), penalty)

    @property
    def policy(self) -> str:
        """The late policy's name: nbgrader's own word for it, or that of the course's own plugin."""
        self._late.init_plugin()
        plugin = self._late.plugin_inst
        if type(plugin) is LateSubmissionPlugin:
            return plugin.penalty_method
        return str(getattr(plugin, "description", type(plugin).__name__))

    def run_post_convert_hook(self, problem_set: str, student: str, notebooks: list[str]) -> None:
        """Call the hook that a course may have after a submission is autograded, as nbgrader does.

        notebooks: paths of the submitted ones
        """
        if self.converter.post_convert_hook is not None:
            coursedir = self.converter.coursedir
            coursedir.assignment_id, coursedir.student_id = problem_set, student
            self.converter.notebooks = notebooks
            with chdir(Path(coursedir.root)):
                self.converter.run_post_convert_hook()


def _made(step: Any, config: Config) -> Any:
    """A preprocessor that settings name by its class, by its dotted name, or as a function."""
    step = import_item(step) if isinstance(step, str) else step
    return step(config=config, log=LOG) if isinstance(step, type) else step


def _any(steps: list[Any], kind: type) -> bool:
    return any(isinstance(step, kind) for step in steps)


def _each_cell(step: Any, nb: NotebookNode, notebook: ReleasedNotebook, sheet: Sheet) -> None:
    """A step without its own beginning, in which it would open the gradebook."""
    step.gradebook, step.student_id = _RowsAtHand(notebook, sheet), ""
    step.notebook_id = step.assignment_id = ""
    Preprocessor.preprocess(step, nb, {})


class _RowsAtHand:
    """Stands for nbgrader's gradebook: the cells of one notebook, and one submission's grades and comments."""

    db = SimpleNamespace(commit=lambda: None)  # one commit follows, when everything is there

    def __init__(self, notebook: ReleasedNotebook, sheet: Sheet) -> None:
        self.notebook, self.sheet = notebook, sheet

    def find_source_cell(self, name: str, *_: str) -> Any:
        return _entry(self.notebook.sources, name, "source cell")

    def find_graded_cell(self, name: str, *_: str) -> Any:
        return _entry(self.notebook.graded, name, "graded cell")

    def find_grade(self, name: str, *_: str) -> Any:
        return _entry(self.sheet.grades, name, "grade")

    def find_comment(self, name: str, *_: str) -> Any:
        return _entry(self.sheet.comments, name, "comment")


def _entry(table: dict[str, Any], name: str, kind: str) -> Any:
    if name not in table:
        raise MissingEntry(f"no such {kind}: {name}")
    return table[name]
