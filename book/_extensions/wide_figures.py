"""Marks the figures that are too wide for a phone, so that they scroll there instead of shrinking to nothing."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

WIDE = 460  # points: what still reads well when it is drawn 350 pixels wide
WIDTH = re.compile(rb'<svg[^>]*?\swidth="([\d.]+)pt"', re.DOTALL)


def mark(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    for image in doctree.findall(nodes.image):
        for uri in image.get("candidates", {}).values() or [image["uri"]]:
            file = Path(app.srcdir) / uri
            if file.suffix == ".svg" and file.is_file():
                width = WIDTH.search(file.read_bytes()[:2000])
                if width and float(width[1]) > WIDE:
                    image["classes"].append("wide-figure")


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("doctree-resolved", mark)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
