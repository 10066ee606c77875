"""Shows the reference's code without the marks around its solutions or, with SOLUTIONS=no, without the solutions."""

from __future__ import annotations

import os
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from autograder.build.solution_marks import has_marks, without_marks, without_solutions


def clean_code(app: Sphinx, doctree: nodes.document) -> None:
    clean = without_solutions if os.environ.get("SOLUTIONS") == "no" else without_marks
    for block in list(doctree.findall(nodes.literal_block)):
        if has_marks(block.astext()):
            text = clean(block.astext())
            block.rawsource = text
            block.children = [nodes.Text(text)]
            block.children[0].parent = block


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("doctree-read", clean_code)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
