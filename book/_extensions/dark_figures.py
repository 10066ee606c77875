"""Gives each figure that a cell has drawn a transparent ground, a twin for dark pages, its size, and loading when seen.

The executed figures stay as they are: both variants are made of their SVG while the site is built.
"""

from __future__ import annotations

import base64
import io
import re
from pathlib import Path
from typing import Any
from urllib.parse import quote
from xml.etree import ElementTree as Xml

import numpy as np
from dark_colours import dark, reflected
from docutils import nodes
from PIL import Image
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator

SVG, LINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
HREF = f"{{{LINK}}}href"
Xml.register_namespace("", SVG)  # SVG's own elements are written without a prefix
Xml.register_namespace("xlink", LINK)
WHITE = "#ffffff"
GROUNDS = re.compile(r"figure_\d+|axes_\d+")  # matplotlib's groups whose first patch is the ground
COLOUR = re.compile(r"\b(fill|stroke): (#[0-9a-fA-F]{6})")
WHITE_FILL = re.compile(rf"\bfill: {WHITE}", re.IGNORECASE)
PICTURE = "data:image/png;base64,"
PIXELS_A_POINT = 96 / 72


class figure_variant(nodes.image):  # noqa: N801  docutils names its nodes in lower case
    """An image for one theme; `size` is its width and height in CSS pixels; a `first` one is fetched unseen."""


def variants(svg: str) -> dict[str, str]:
    """svg: a figure of matplotlib. Returns it for a "light" and for a "dark" page."""
    figure = Xml.fromstring(svg)
    for part in figure.findall(f"{{{SVG}}}metadata"):
        figure.remove(part)
    clear_grounds(figure)
    light = _text(figure)
    darken(figure)
    figure.set("fill", dark("#000000"))  # of what names no colour
    return {"light": light, "dark": _text(figure)}


def clear_grounds(figure: Xml.Element) -> None:
    """Lets the page's colour through where a figure or its axes are white."""
    for group in figure.iter(f"{{{SVG}}}g"):
        if GROUNDS.fullmatch(group.get("id", "")):
            first = next(iter(group), None)
            if first is not None and first.get("id", "").startswith("patch_"):
                for path in first.iter(f"{{{SVG}}}path"):
                    path.set("style", WHITE_FILL.sub("fill: none", path.get("style", "")))


def darken(element: Xml.Element, in_text: bool = False) -> None:
    """Gives an element and all below it the colours of a dark page; in_text: they are the letters of a text."""
    name = element.get("id", "")
    in_text = name.startswith("text_") or in_text and not name.startswith("patch_")
    if style := element.get("style"):
        element.set("style", COLOUR.sub(lambda found: f"{found[1]}: {_dark(found[2], in_text)}", style))
    for paint in ("fill", "stroke"):
        if (colour := element.get(paint, "")).startswith("#"):
            element.set(paint, _dark(colour, in_text))
    if (link := element.get(HREF, "")).startswith(PICTURE):
        element.set(HREF, PICTURE + base64.b64encode(dark_png(base64.b64decode(link[len(PICTURE) :]))).decode())
    for child in element:
        darken(child, in_text)


def dark_png(content: bytes) -> bytes:
    """A picture of a matrix with the colours of a dark page."""
    pixels = np.asarray(Image.open(io.BytesIO(content)).convert("RGBA")).copy()
    colours, where = np.unique(pixels[..., :3].reshape(-1, 3), axis=0, return_inverse=True)
    changed = [bytes.fromhex(reflected("#" + bytes(colour).hex())[1:]) for colour in colours]
    pixels[..., :3] = np.array([list(one) for one in changed], np.uint8)[where.ravel()].reshape(pixels[..., :3].shape)
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "PNG", optimize=True)
    return file.getvalue()


def _dark(colour: str, in_text: bool) -> str:
    """White letters stand on a filled cell, which is light on a dark page, and become black."""
    return "#000000" if in_text and colour.lower() == WHITE else dark(colour)


def _text(figure: Xml.Element) -> str:
    return Xml.tostring(figure, encoding="unicode")


def give_variants(app: Sphinx, doctree: nodes.document) -> None:
    """Puts two images in the place of each executed figure, before Sphinx gathers the images of the page."""
    first = True
    for image in list(doctree.findall(nodes.image)):
        file = Path(app.env.relfn2path(image["uri"])[1])
        if file.suffix != ".svg" or not file.is_file() or isinstance(image, figure_variant):
            continue
        made = variants(file.read_text("utf-8"))
        figure = Xml.fromstring(made["light"])
        width, height = (float(figure.get(side, "0").removesuffix("pt")) for side in ("width", "height"))
        twins = []
        for theme, content in made.items():
            twin = file.with_name(f"{file.stem}-{theme}.svg")
            if not twin.is_file():
                twin.write_text(content, "utf-8")
            attributes = {**image.attributes, "uri": image["uri"].replace(file.name, twin.name)}
            attributes["classes"] = [*image["classes"], f"for-{theme}"]
            attributes["size"] = (round(PIXELS_A_POINT * width), round(PIXELS_A_POINT * height))
            attributes["first"] = first and theme == "light" and is_at_the_top(image)
            twins.append(figure_variant("", **attributes))
        first = False
        image.replace_self(twins)


def is_at_the_top(image: nodes.image) -> bool:
    """Whether it stands above the first section of its page."""
    place = image.parent
    while place is not None and not isinstance(place, nodes.section):
        place = place.parent
    return place is None or isinstance(place.parent, nodes.document)


def visit(self: HTML5Translator, node: figure_variant) -> None:
    name = self.builder.images.get(node["uri"], node["uri"])
    width, height = node["size"]
    fetched = {"fetchpriority": "high"} if node["first"] else {"loading": "lazy"}
    tag = self.starttag(
        {"classes": node["classes"]},
        "img",
        "",
        empty=True,
        src=f"{self.builder.imgpath}/{quote(name)}",
        alt=node.get("alt", ""),
        width=str(width),
        height=str(height),
        **fetched,
    )
    self.body.append(tag + "\n")


def depart(self: HTML5Translator, node: figure_variant) -> None:
    """The tag is empty."""


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_node(figure_variant, html=(visit, depart))
    app.connect("doctree-read", give_variants, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
