"""Parts of a page that the reader unfolds, without JavaScript: <details>, named by what they hold."""

from __future__ import annotations

from typing import Any, ClassVar

from docutils import nodes
from myst_nb.sphinx_ import HideCodeCellNode, depart_HideCellInput
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
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


def visit_hidden_cell(self: HTML5Translator, node: HideCodeCellNode) -> None:
    """As MyST-NB writes it, but named by its visible words: what is hidden, and whether it is."""
    self.body.append(self.starttag(node, "details", CLASS="admonition hide"))
    prompts = {"collapsed": node["prompt_show"], "expanded": node["prompt_hide"]}
    shown = [f'<span class="{state} admonition-title">{self.encode(text)}</span>\n' for state, text in prompts.items()]
    self.body.append(f"<summary>\n{''.join(shown)}</summary>\n")


class FoldAdmonitions(SphinxPostTransform):
    """Makes an admonition of the class `dropdown` a fold, where sphinx-togglebutton would need a script for it."""

    default_priority = 200
    formats: ClassVar[tuple[str, ...]] = ("html",)

    def run(self, **kwargs: Any) -> None:
        for box in list(self.document.findall(nodes.admonition)):
            if "dropdown" in box["classes"]:
                title, *content = box.children
                box.replace_self(fold("", *content, summary=title.astext(), classes=["answer"], ids=box["ids"]))


def setup(app: Sphinx) -> dict[str, Any]:
    others = {name: (visit_unfolded, visit_unfolded) for name in ("latex", "text", "man", "texinfo")}
    app.add_node(fold, html=(visit_fold, depart_fold), **others)
    app.add_node(HideCodeCellNode, override=True, html=(visit_hidden_cell, depart_HideCellInput))
    app.add_post_transform(FoldAdmonitions)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
