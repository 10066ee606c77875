"""Shows the rubric and the model answer below each written answer, in formgrader alone."""

from __future__ import annotations

import html
from functools import cache
from typing import Any

from nbconvert.filters.strings import clean_html
from nbconvert.preprocessors import Preprocessor
from nbformat.notebooknode import NotebookNode
from nbformat.v4 import new_raw_cell

from selfcheck.catalogue import problem_sets

from .rubrics import MarkingGuide, marking_guides
from .safe_html import answer_html

#: What formgrader hands to its exporter of one submission, and nbgrader's feedback does not.
IN_FORMGRADER = {"submission_id", "assignment_id", "index"}


class GuideBesideAnswers(Preprocessor):
    """Adds guides to a page while formgrader makes it: no file ever holds them.

    nbgrader makes feedback with the same exporter's settings; there, and anywhere else, nothing is added.
    """

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        if not resources.keys() >= IN_FORMGRADER or "nbgrader" in resources:
            return nb, resources
        guides = marking_guides(resources["assignment_id"])
        cells = []
        for cell in nb.cells:
            cells.append(cell)
            guide = guides.get(cell.metadata.get("nbgrader", {}).get("grade_id", ""))
            if guide:
                cells.append(new_raw_cell(guide_html(guide), metadata={"raw_mimetype": "text/html"}))
        nb.cells = cells
        return nb, resources


def guide_html(guide: MarkingGuide) -> str:
    """A rubric as a table, and the model answer folded below it."""
    rows = "".join(
        f"<tr><td>{criterion.points:g}</td><td>{_inline(criterion.text)}</td></tr>" for criterion in guide.rubric
    )
    return (
        '<div class="panel panel-default marking-guide"><div class="panel-heading">'
        f"Rubric of {html.escape(guide.question)}, for graders alone</div>"
        f'<table class="table"><tbody>{rows}</tbody></table>'
        f'<details class="panel-body"><summary>Model answer</summary>{answer_html(guide.answer)}</details></div>'
    )


def cleaned(source: str) -> str:
    """In place of nbconvert's filter for HTML in a page, which takes folds away: a guide alone passes."""
    return source if source in _guides() else clean_html(source)


@cache
def _guides() -> frozenset[str]:
    return frozenset(guide_html(guide) for name in problem_sets() for guide in marking_guides(name).values())


def _inline(text: str) -> str:
    return answer_html(text).strip().removeprefix("<p>").removesuffix("</p>")
