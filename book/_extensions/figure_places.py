"""Gives what a cell draws a caption and a number, and puts the folded code, with the page's imports, below it."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from myst_nb.sphinx_ import HideCodeCellNode
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging

LOG = logging.getLogger(__name__)
PROMPTS = {
    "figure": "the code of this figure",
    "first": "the code of this figure, and what the page imports",
    "imports": "what the page imports",
}


def set_captions(app: Sphinx, doctree: nodes.document) -> None:
    """Makes a numbered figure of the picture that a cell draws, from the cell's `figure: {name: …, caption: …}`."""
    for cell in list(doctree.findall(nodes.container)):
        options = cell.get("cell_metadata", {}).get("figure") if cell.get("nb_element") == "cell_code" else None
        image = next(iter(cell.findall(nodes.image)), None) if options else None
        if not options:
            continue
        if image is None or set(options) != {"name", "caption"}:
            LOG.warning("figure %s needs a cell that draws, a name and a caption", options, location=cell)
            continue
        figure = nodes.figure("", names=[nodes.fully_normalize_name(options["name"])])
        figure.source, figure.line = cell.source, cell.line
        image.parent.replace(image, figure)
        figure += [image, nodes.caption("", "", *inline(options["caption"]))]
        doctree.note_explicit_target(figure, figure)


def inline(text: str) -> list[nodes.Node]:
    """The nodes of a caption, in which $…$ is a formula."""
    parts = text.split("$")
    if len(parts) % 2 == 0:
        raise ValueError(f"a formula of the caption {text!r} does not end: it needs one more $")
    return [nodes.math("", part) if number % 2 else nodes.Text(part) for number, part in enumerate(parts)]


class FoldBelow(SphinxPostTransform):
    """Moves the fold of a figure's code below the figure, and into it the cell that opens the page unseen."""

    default_priority = 250  # after myst-nb has made the folds
    formats = ("html",)

    def run(self, **kwargs: Any) -> None:
        cells = [node for node in self.document.findall(nodes.container) if node.get("nb_element") == "cell_code"]
        if cells and _is_fold_alone(cells[0]):
            name_it(cells[0].children[0], PROMPTS["imports"])
        for number, cell in enumerate(cells):
            fold = cell.children[0] if cell.children else None
            if not isinstance(fold, HideCodeCellNode) or not _draws(cell):
                continue
            first = number == 1 and _is_fold_alone(cells[0]) and cells[0].parent is cell.parent
            name_it(fold, PROMPTS["first" if first else "figure"])
            if first:
                imports = cells[0]
                imports.parent.remove(imports)
                imports.children = list(imports.children[0].children)
                fold.insert(0, imports)
            cell.remove(fold)
            cell.append(fold)


def name_it(fold: HideCodeCellNode, what: str) -> None:
    fold["prompt_show"], fold["prompt_hide"] = f"Show {what}", f"Hide {what}"
    fold["classes"].append("figure-code")


def _draws(cell: nodes.Element) -> bool:
    return next(iter(cell.findall(nodes.figure)), None) is not None


def _is_fold_alone(cell: nodes.Element) -> bool:
    return len(cell.children) == 1 and isinstance(cell.children[0], HideCodeCellNode)


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("doctree-read", set_captions, priority=90)
    app.add_post_transform(FoldBelow)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
