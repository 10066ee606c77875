"""Puts a caption below its picture alone, and the folded code of a figure, with a page's imports, below the figure."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from myst_nb.sphinx_ import HideCodeCellNode
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

PROMPTS = {"figure": "code of this figure", "first": "code of this figure, and what the page imports"}


def set_captions(app: Sphinx, doctree: nodes.document) -> None:
    """A cell's figure holds all that the cell puts out: here its picture and caption alone."""
    for figure in list(doctree.findall(nodes.figure)):
        image = next(iter(figure.findall(nodes.image)), None)
        if image is None or image.parent is figure:
            continue
        below = [child for child in figure if isinstance(child, (nodes.caption, nodes.legend))]
        place, at = figure.parent, figure.parent.index(figure)
        place[at : at + 1] = [child for child in figure if child not in below]
        figure.children = []
        image.parent.replace(image, figure)
        figure += [image, *below]


class FoldBelow(SphinxPostTransform):
    """Moves the fold of a figure's code below the figure, and into it the cell that opens the page unseen."""

    default_priority = 250  # after myst-nb has made the folds
    formats = ("html",)

    def run(self, **kwargs: Any) -> None:
        cells = [node for node in self.document.findall(nodes.container) if node.get("nb_element") == "cell_code"]
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
    fold["prompt_show"], fold["prompt_hide"] = f"Show the {what}", f"Hide the {what}"
    fold["classes"].append("figure-code")


def _draws(cell: nodes.Element) -> bool:
    return next(iter(cell.findall(nodes.figure)), None) is not None


def _is_fold_alone(cell: nodes.Element) -> bool:
    return len(cell.children) == 1 and isinstance(cell.children[0], HideCodeCellNode)


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("doctree-read", set_captions, priority=90)
    app.add_post_transform(FoldBelow)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
