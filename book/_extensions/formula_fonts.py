"""Says which characters the formulas of a page are drawn with, and in which font of KaTeX."""

from __future__ import annotations

import html
import re
from collections import defaultdict

FORMULA = re.compile(r'<span class="katex-html"[^>]*>')
PART = re.compile(r"<[^>]*>|[^<]+")
CLASSES = re.compile(r'class="([^"]*)"')
MAIN = "KaTeX_Main-Regular"
#: The font of a class, as katex.min.css has it, for the fonts that most pages load.
FONTS = {"mathnormal": "KaTeX_Math-Italic", "mathbf": "KaTeX_Main-Bold", "textbf": "KaTeX_Main-Bold"}


def characters_by_font(page: str) -> dict[str, set[str]]:
    """The characters of a page's formulas by the font that they are drawn in; "" has all of them.

    page: its HTML. A character of a class that FONTS does not name counts as one of KaTeX_Main-Regular.
    """
    found: dict[str, set[str]] = defaultdict(set)
    for formula in FORMULA.finditer(page):
        fonts = [MAIN]  # of the elements that are open
        for part in PART.finditer(page, formula.end()):
            text = part[0]
            if text.startswith("</span"):
                fonts.pop()
                if not fonts:
                    break
            elif text.startswith("<span"):
                fonts.append(font_of(text) or fonts[-1])
            elif not text.startswith("<"):
                for font in ("", fonts[-1]):
                    found[font] |= set(html.unescape(text))
    return found


def font_of(tag: str) -> str | None:
    """The font that a tag's classes ask for, None where they leave it as it is."""
    classes = CLASSES.search(tag)
    return next((FONTS[name] for name in classes[1].split() if name in FONTS), None) if classes else None
