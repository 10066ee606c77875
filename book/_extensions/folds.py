"""A part of a page that the reader unfolds, without JavaScript: <details>."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator


class fold(nodes.General, nodes.Element):  # noqa: N801  docutils names its nodes in lower case
    """<details>; its attribute `summary` is the line that stays visible."""


def visit_fold(self: HTML5Translator, node: fold) -> None:
    self.body.append(self.starttag(node, "details"))
    self.body.append(f"<summary>{self.encode(node['summary'])}</summary>\n")


def depart_fold(self: HTML5Translator, node: fold) -> None:
    self.body.append("</details>\n")


def visit_unfolded(self: nodes.NodeVisitor, node: fold) -> None:
    """Every other output shows what is inside."""


def setup(app: Sphinx) -> dict[str, Any]:
    others = {name: (visit_unfolded, visit_unfolded) for name in ("latex", "text", "man", "texinfo")}
    app.add_node(fold, html=(visit_fold, depart_fold), **others)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
