"""Keeps a comma or full stop on the line of the formula before it."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

JOINER = "\u2060"  # word joiner: no line break here


def join(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    for formula in doctree.findall(nodes.math):
        after = formula.next_node(siblings=True, descend=False)
        if isinstance(after, nodes.Text) and after[:1] in ".,;:!?)]’”":
            after.parent.replace(after, nodes.Text(JOINER + after))


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("doctree-resolved", join)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
