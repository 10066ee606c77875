"""Leaves the marks around a solution out of the reference's code where a page shows it."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from autograder.exercise_text import MARK, without_marks


def remove_marks(app: Sphinx, doctree: nodes.document) -> None:
    for block in list(doctree.findall(nodes.literal_block)):
        text = block.rawsource or block.astext()
        if MARK.search(text):
            clean = without_marks(block.astext())
            block.rawsource = clean
            block.children = [nodes.Text(clean)]
            block.children[0].parent = block


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("doctree-read", remove_marks)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
