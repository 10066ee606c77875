"""nbgrader's own steps over a submitted notebook, on rows that are at hand in place of a look into the database."""

from __future__ import annotations

import json
import logging
from types import SimpleNamespace
from typing import Any

from nbformat.v4 import nbjson
from nbgrader.api import MissingEntry
from nbgrader.converters import Autograde
from nbgrader.coursedir import CourseDirectory
from nbgrader.plugins import LateSubmissionPlugin
from nbgrader.preprocessors import (
    AssignLatePenalties,
    CheckCellMetadata,
    ClearOutput,
    DeduplicateIds,
    Execute,
    LimitOutput,
    OverwriteCells,
    OverwriteKernelspec,
    SaveAutoGrades,
)
from traitlets.config import Config

from .preprocessor import STEPS, TrustedResults, put_results
from .rows import ReleasedNotebook, Sheet

CLEANING = (ClearOutput, DeduplicateIds, OverwriteKernelspec, OverwriteCells, CheckCellMetadata)
LOG = logging.getLogger(__name__)
LOG.addHandler(logging.NullHandler())  # what nbgrader remarks on is put right, or ends in an exception


class Steps:
    """What `nbgrader autograde` does to a notebook by a course's settings."""

    def __init__(self, config: Config, coursedir: CourseDirectory) -> None:
        self.converter = Autograde(coursedir=coursedir, config=config)
        steps = self.converter.autograde_preprocessors
        if TrustedResults not in steps or Execute in steps:
            raise RuntimeError("nbgrader_config.py takes the grader's step out of Autograde.autograde_preprocessors")
        self._clear, self._deduplicate, self._kernelspec, self._overwrite, self._check = (
            step(config=config, log=LOG) for step in CLEANING
        )
        self._limit, self._save, self._late = (
            step(config=config, log=LOG) for step in (LimitOutput, SaveAutoGrades, AssignLatePenalties)
        )
        #: Whether these are all the steps: a course may have nbgrader take further ones.
        self.complete = (
            tuple(steps) == STEPS
            and tuple(self.converter.sanitize_preprocessors) == CLEANING
            and self.converter.post_convert_hook is None
            and not self._overwrite.add_missing_cells
        )
        self._sound: set[str] = set()  # settings of cells that nbgrader has found in order

    def autograded(
        self, text: str, notebook: ReleasedNotebook, sheet: Sheet, record: dict[str, Any], files: dict[str, bytes]
    ) -> str:
        """The text of the autograded notebook; the grades and comments of `sheet` become what nbgrader makes them."""
        nb = nbjson.reads(text)
        known = _Known(notebook, sheet)
        for step in (self._clear, self._deduplicate):
            nb, _ = step(nb, {})
        kernelspec = json.loads(notebook.kernelspec or "null")
        if kernelspec and self._kernelspec.enabled:
            nb.metadata["kernelspec"] = kernelspec
        self._each_cell(self._overwrite, nb, known)
        self._check_settings(nb)
        put_results(nb, record, files)
        nb, _ = self._limit(nb, {})
        self._each_cell(self._save, nb, known)
        self._check_settings(nb)
        return nbjson.writes(nb) + "\n"

    def _each_cell(self, step: Any, nb: Any, known: _Known) -> None:
        """A step without its own beginning, in which it would open the gradebook."""
        if step.enabled:
            step.gradebook, step.student_id = known, ""
            step.notebook_id = step.assignment_id = ""
            super(type(step), step).preprocess(nb, {})

    def _check_settings(self, nb: Any) -> None:
        """nbgrader's check of its settings in each cell, once for all who have the same."""
        found = [[cell.cell_type, cell.metadata.nbgrader] for cell in nb.cells if "nbgrader" in cell.metadata]
        key = json.dumps(found, sort_keys=True)
        if key not in self._sound:
            self._check(nb, {})
            self._sound.add(key)

    def penalty(self, student: str, score: float, seconds_late: float) -> float | None:
        """What the course's late policy takes off a notebook."""
        if not seconds_late > 0:
            return None
        self._late.init_plugin()
        penalty = self._late.plugin_inst.late_submission_penalty(student, score, seconds_late)
        return None if penalty is None else self._late._check_late_penalty(SimpleNamespace(score=score), penalty)

    @property
    def penalises(self) -> bool:
        return self._late.enabled

    @property
    def policy(self) -> str:
        """The late policy's name: nbgrader's own word for it, or that of the course's own plugin."""
        self._late.init_plugin()
        plugin = self._late.plugin_inst
        return plugin.penalty_method if type(plugin) is LateSubmissionPlugin else type(plugin).__name__


class _Known:
    """Stands for nbgrader's gradebook: the cells of one notebook, and one submission's grades and comments."""

    db = SimpleNamespace(commit=lambda: None)  # one commit follows, when everything is there

    def __init__(self, notebook: ReleasedNotebook, sheet: Sheet) -> None:
        self.notebook, self.sheet = notebook, sheet

    def find_source_cell(self, name: str, *_: str) -> Any:
        return _found(self.notebook.sources, name, "source cell")

    def find_graded_cell(self, name: str, *_: str) -> Any:
        return _found(self.notebook.graded, name, "graded cell")

    def find_grade(self, name: str, *_: str) -> Any:
        return _found(self.sheet.grades, name, "grade")

    def find_comment(self, name: str, *_: str) -> Any:
        return _found(self.sheet.comments, name, "comment")


def _found(table: dict[str, Any], name: str, kind: str) -> Any:
    if name not in table:
        raise MissingEntry(f"no such {kind}: {name}")
    return table[name]
