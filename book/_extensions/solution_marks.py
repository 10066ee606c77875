"""Shows code without comments for tools, and without the marks around its solutions or, with SOLUTIONS=no, these."""

from __future__ import annotations

import os
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from autograder.build.solution_marks import has_marks, without_marks, without_solutions, without_tool_comments


def clean_code(app: Sphinx, doctree: nodes.document) -> None:
    clean = without_solutions if os.environ.get("SOLUTIONS") == "no" else without_marks
    for block in list(doctree.findall(nodes.literal_block)):
        before = block.astext()
        text = without_tool_comments(clean(before) if has_marks(before) else before)
        if text != before:
            block.rawsource = text
            block.children = [nodes.Text(text)]
            block.children[0].parent = block


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("doctree-read", clean_code)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
