"""Parts of a page that the reader unfolds, without JavaScript: <details>, named by what they hold."""

from __future__ import annotations

import html
import re
from typing import Any, ClassVar

from docutils import nodes
from myst_nb.sphinx_ import HideCodeCellNode, depart_HideCellInput
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.writers.html5 import HTML5Translator

MOST_LINES = 20  # of what a cell prints, for all to be shown


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


class FoldLongOutputs(SphinxPostTransform):
    """Folds what a cell prints, where it is longer than a reader takes in, and says how long it is."""

    default_priority = 200
    formats: ClassVar[tuple[str, ...]] = ("html",)

    def run(self, **kwargs: Any) -> None:
        for printed in list(self.document.findall(nodes.literal_block)):
            lines = printed.astext().rstrip("\n").count("\n") + 1
            if lines > MOST_LINES and _is_shown_output(printed):
                summary = f"Output: {lines} lines"
                printed.replace_self(fold("", printed.deepcopy(), summary=summary, classes=["long-output"]))


class FoldNamedTests(SphinxPostTransform):
    """Folds what a definition says as "*Tests*: `file::name`, …": one name to a line."""

    default_priority = 200
    formats: ClassVar[tuple[str, ...]] = ("html",)

    def run(self, **kwargs: Any) -> None:
        for described in list(self.document.findall(nodes.definition)):
            paragraph = next(iter(described.children), None)
            word = next(iter(paragraph.children), None) if isinstance(paragraph, nodes.paragraph) else None
            if isinstance(word, nodes.emphasis) and word.astext() == "Tests":
                names = [name.astext() for name in paragraph.findall(nodes.literal)]
                items = [nodes.list_item("", nodes.paragraph("", "", _breakable(name))) for name in names]
                folded = fold("", nodes.bullet_list("", *items), summary=f"{len(names)} tests", classes=["named-tests"])
                paragraph.replace_self(folded)


def _breakable(name: str) -> nodes.raw:
    """A test's name as code, which a narrow screen may break before each word of it."""
    return nodes.raw("", f"<code>{re.sub('(?=/|_|::)', '<wbr>', html.escape(name))}</code>", format="html")


def _is_shown_output(node: nodes.Node) -> bool:
    """Whether a cell printed it, one that is not folded as a whole."""
    above, is_output = node.parent, False
    while above is not None and not isinstance(above, HideCodeCellNode):
        is_output |= "cell_output" in above.get("classes", ())
        above = above.parent
    return is_output and above is None


def setup(app: Sphinx) -> dict[str, Any]:
    others = {name: (visit_unfolded, visit_unfolded) for name in ("latex", "text", "man", "texinfo")}
    app.add_node(fold, html=(visit_fold, depart_fold), **others)
    app.add_node(HideCodeCellNode, override=True, html=(visit_hidden_cell, depart_HideCellInput))
    app.add_post_transform(FoldAdmonitions)
    app.add_post_transform(FoldLongOutputs)
    app.add_post_transform(FoldNamedTests)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
