"""Has nbgrader's own command and formgrader write the course's page where they would convert the graded notebook."""

from __future__ import annotations

from typing import Any

from nbconvert.exporters import HTMLExporter
from nbformat.notebooknode import NotebookNode

from ..marks import marked_set
from ..nbgrader import course_of
from .facts import Gathering
from .formulas import Formulas
from .page import page


class FeedbackPage(HTMLExporter):
    """Exports a graded notebook as the learner's page; NoFeedback where there is none to be had."""

    _gathering: tuple[str, Gathering] | None = None  # for everybody whom one command is about

    def from_notebook_node(  # type: ignore[override]  # text, as HTMLExporter itself gives
        self, nb: NotebookNode, resources: dict[str, Any] | None = None, **kw: Any
    ) -> tuple[str, dict[str, Any]]:
        resources = resources or {}
        student, problem_set = (resources["nbgrader"][name] for name in ("student", "assignment"))
        if self._gathering is None or self._gathering[0] != problem_set:
            course = course_of(self.config)
            self._gathering = (problem_set, Gathering(course, problem_set, marked_set(course, problem_set)))
        with Formulas() as formulas:
            text = page(self._gathering[1].of(student), formulas)
        return text, resources | {"output_extension": self.file_extension}
