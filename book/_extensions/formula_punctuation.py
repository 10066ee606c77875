"""Keeps a comma or full stop on the line of the formula before it."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

SIGNS = re.compile(r"[.,;:!?)\]’”]+")
COMMAND, INVISIBLE = re.compile(r"\\[A-Za-z]+ ?"), re.compile(r"[{}_^\\,; ]")
LONGEST = 24  # signs of a formula that is never broken; a longer one may be, and its last piece too


def join(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    for formula in list(doctree.findall(nodes.math)):
        after = formula.next_node(siblings=True, descend=False)
        signs = SIGNS.match(after) if isinstance(after, nodes.Text) else None
        if signs and shown(formula.astext()) <= LONGEST:
            together = nodes.inline(classes=["unbroken"])
            formula.parent.replace(formula, together)
            together += [formula, nodes.Text(signs[0])]
            after.parent.replace(after, nodes.Text(after[signs.end() :]))


def shown(formula: str) -> int:
    """About how many signs a reader sees of a formula in TeX."""
    return len(INVISIBLE.sub("", COMMAND.sub("x", formula)))


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("doctree-resolved", join)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
