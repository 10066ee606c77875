"""Tells a screen reader that each work cited is an item of a list.

docutils gives it the role doc-biblioentry, which ARIA has deprecated, and which axe and Lighthouse object to.
"""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx


def open_citation(translator: Any, node: nodes.citation) -> None:
    if not isinstance(node.previous_sibling(), nodes.citation):
        translator.body.append('<div role="list" class="citation-list">\n')
    translator.body.append(translator.starttag(node, "div", classes=["citation"], role="listitem"))


def close_citation(translator: Any, node: nodes.citation) -> None:
    type(translator).depart_citation(translator, node)  # the instance's own is this function


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_node(nodes.citation, override=True, html=(open_citation, close_citation))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
