"""Draws a formula with fewer elements than KaTeX: a table for one index becomes a shift, a spacer becomes a margin."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree as Xml

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator
from sphinxcontrib import katex

DRAWN, END = '<span class="katex-html" aria-hidden="true">', "</span>"
DISPLAY = '<span class="katex-display">'
#: TeX inside the MathML, which no browser shows and no screen reader says.
SOURCE = re.compile(r'<annotation encoding="application/x-tex">.*?</annotation>', re.DOTALL)
NAMESPACE = ' xmlns="http://www.w3.org/2000/svg"'
#: Classes that name what a sign is; no rule of katex.min.css is for them alone.
PLAIN = {"mord", "mopen", "mclose", "mpunct", "mrel", "mbin", "mop", "minner", "mtight"}
SIZES = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.2, 1.44, 1.728, 2.074, 2.488)  # of KaTeX's size1 to size11
SIZE = re.compile(r"\breset-size(\d+) size(\d+)\b")
STRUT = "3em"  # of most lines, as attention.css has it
MARGINS = {"margin-left", "margin-right"}

Element = Xml.Element


def lighter(formula: str) -> str:
    """formula: HTML as KaTeX writes it. Returns HTML that is drawn and read alike."""
    is_display = formula.startswith(DISPLAY)
    read, mark, drawn = SOURCE.sub("", formula).partition(DRAWN)
    after = END * (1 + is_display)
    root = Xml.fromstring((mark + drawn.removesuffix(after)).replace(NAMESPACE, ""))
    if is_display:
        join_bases(root)
    simplify(root)
    unwrap_text(root)
    return read + Xml.tostring(root, encoding="unicode", method="html") + after


def join_bases(root: Element) -> None:
    """A formula on a line of its own is not broken: its pieces become one, as high and deep as the largest."""
    if any(names(base) != ["base"] or names(base[0]) != ["strut"] for base in root):
        return
    struts = [style(base[0]) for base in root]
    depth = max(-em(one, "vertical-align") for one in struts)
    height = max(em(one, "height") + em(one, "vertical-align") for one in struts)
    first, *others = root
    set_style(first[0], {"height": written(height + depth), **({"vertical-align": written(-depth)} if depth else {})})
    for base in others:
        first.extend(base[1:])
        root.remove(base)


def simplify(element: Element) -> None:
    """Replaces, from within, what a simpler element draws alike."""
    kept: list[Element] = []
    for child in list(element):
        simplify(child)
        now = without_wrapper(one_line(one_script(child)))
        last = kept[-1] if kept else None
        if last is not None and is_space(now) and not {"vlist-t", "vlist-s"} & set(names(last)):
            add_margin(last, "margin-right", em(style(now), "margin-right"))
        elif last is not None and go_together(last, now):
            last.text = f"{last.text}{now.text}"
            set_style(last, style(now))
        else:
            kept.append(now)
    element[:] = kept


def one_script(element: Element) -> Element:
    """An index or an exponent alone is its own element, shifted: KaTeX sets it in a table of one or two rows."""
    if names(element) != ["msupsub"] or style(element) or len(element) != 1:
        return element
    items = list(element[0][0][0])  # table, row, cell
    if len(items) != 1 or len(items[0]) != 2 or set(style(items[0])) - MARGINS - {"top"}:
        return element
    strut, content = items[0]
    if names(strut) != ["pstrut"] or style(content):
        return element
    place, size = style(items[0]), font_size(content)
    margins = {side: em(place, side) for side in MARGINS}
    if len(content) == 1 and is_text(content[0]) and not set(style(content[0])) - MARGINS:
        (leaf,) = content
        content.text, content[:] = leaf.text, []
        content.set("class", " ".join([*names(content), *(name for name in names(leaf) if name not in PLAIN)]))
        margins = {side: width + size * em(style(leaf), side) for side, width in margins.items()}
    shift = em(place, "top") + em(style(strut), "height")
    set_style(content, {"top": written(shift / size)})
    content.set("class", " ".join([*(name for name in names(content) if name not in PLAIN), "shifted"]))
    for side, width in margins.items():
        add_margin(content, side, width)
    return content


def one_line(element: Element) -> Element:
    """A line of a matrix whose signs are of one font holds them itself; its strut is drawn by the style sheet."""
    if names(element) or [names(child) for child in element][:1] != [["pstrut"]] or len(element) != 2:
        return element
    strut, content = element
    if not is_text(content) or style(content) or SIZE.search(content.get("class", "")):
        return element
    height = style(strut)["height"]
    element.text, element[:] = content.text, []
    element.set("class", " ".join(["strutted", *(name for name in names(content) if name not in PLAIN)]))
    set_style(element, {**style(element), **({} if height == STRUT else {"--strut": height})})
    return element


def without_wrapper(element: Element) -> Element:
    """What is inside, where an element only says what kind of sign it holds."""
    if set(names(element)) - PLAIN or element.text or len(element) != 1 or set(style(element)) - MARGINS:
        return element
    (child,) = element
    if not is_text(child) or set(style(child)) - MARGINS - {"top"}:
        return element
    for side in MARGINS:
        add_margin(child, side, em(style(element), side))
    return child


def unwrap_text(element: Element) -> None:
    """Signs that nothing sets apart from their parent stand in it as text."""
    before: Element | None = None
    holds_text = bool(names(element)) and not set(names(element)) - PLAIN - {"base"} or font_size(element) != 1
    for child in list(element):
        unwrap_text(child)
        if not holds_text or not is_text(child) or style(child) or set(names(child)) - PLAIN:
            before = child
            continue
        if before is None:
            element.text = f"{element.text or ''}{child.text}"
        else:
            before.tail = f"{before.tail or ''}{child.text}"
        element.remove(child)


def go_together(one: Element, other: Element) -> bool:
    """Whether two neighbours are signs of one font with nothing between them."""
    if not (is_text(one) and is_text(other)) or style(one) or set(style(other)) - {"margin-right"}:
        return False
    return set(names(one)) - PLAIN == set(names(other)) - PLAIN


def is_text(element: Element) -> bool:
    return bool(element.text) and not len(element) and not {"mspace", "vlist-s"} & set(names(element))


def is_space(element: Element) -> bool:
    return names(element) == ["mspace"] and not element.text and set(style(element)) == {"margin-right"}


def add_margin(element: Element, side: str, width: float) -> None:
    """width: in the font size of the element's parent."""
    found = style(element)
    if width:
        total = em(found, side) + width / font_size(element)
        set_style(element, {**found, side: written(total)})


def font_size(element: Element) -> float:
    """In that of the element's parent."""
    found = SIZE.search(element.get("class", ""))
    return SIZES[int(found[2]) - 1] / SIZES[int(found[1]) - 1] if found else 1.0


def names(element: Element) -> list[str]:
    return element.get("class", "").split()


def style(element: Element) -> dict[str, str]:
    rules = filter(None, element.get("style", "").split(";"))
    return {name.strip(): value.strip() for name, _, value in (rule.partition(":") for rule in rules)}


def set_style(element: Element, rules: dict[str, str]) -> None:
    element.attrib.pop("style", None)
    if rules:
        element.set("style", ";".join(f"{name}:{value}" for name, value in rules.items()))


def em(rules: dict[str, str], name: str) -> float:
    return float(rules.get(name, "0em").removesuffix("em"))


def written(width: float) -> str:
    return f"{width:.4f}".rstrip("0").rstrip(".") + "em"


def made_lighter(visit: Callable[[HTML5Translator, nodes.Node], None]) -> Callable[[HTML5Translator, nodes.Node], None]:
    """visit: writes a formula into the translator's body and skips what is below."""

    def visit_lighter(self: HTML5Translator, node: nodes.Node) -> None:
        before = len(self.body)
        try:
            visit(self, node)
        finally:
            self.body[before:] = [lighter(part) if DRAWN in part else part for part in self.body[before:]]

    return visit_lighter


def setup(app: Sphinx) -> dict[str, Any]:
    app.setup_extension("katex_files")
    renderers = [(made_lighter(one), None) for one in (katex.html_visit_math, katex.html_visit_displaymath)]
    app.add_html_math_renderer("lighter", inline_renderers=renderers[0], block_renderers=renderers[1])
    return {"parallel_read_safe": True, "parallel_write_safe": True}
