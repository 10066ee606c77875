"""A formula of fewer elements is drawn and read like KaTeX's own."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from autograder.build.serving import served
from autograder.course.paths import BOOK, ROOT

sys.path.insert(0, str(BOOK / "_extensions"))
from lighter_formulas import lighter  # noqa: E402

DIST = ROOT / "node_modules" / "katex" / "dist"
CLOSE = 0.5  # CSS pixels: where a cell of a table begins is rounded, a margin is not
FORMULAS = re.compile(r"\$\$(?P<display>[^$]+)\$\$(?:\s*\([\w-]+\))?|(?<![\\$`\w])\$(?P<inline>[^$\n]+)\$(?!\d)")
CODE = re.compile(r"^(`{3,}|~{3,}).*?^\1|`[^`\n]+`", re.DOTALL | re.MULTILINE)
CHOSEN = [
    "x_i",
    "d_k^{-1/2}",
    r"e^{-x^2}",
    r"x_{i_j} + W^\top_{\text{query}}",
    r"[4.2019, 9.4041, 4.7889]",
    r"1.8639 + 2.3380 = 4.2019",
    r"\text{softmax}\left(\frac{QK^\top}{\sqrt{d_k}}\right) V",
    r"\begin{bmatrix} 1 & 0 \\ -0.5 & x_1 \end{bmatrix}",
    r"\sum_{j=1}^{n} \alpha_{ij} v_j \in \mathbb{R}^{d}, \quad \hat{y}",
    r"\underbrace{q \cdot k}_{\text{score}} \!\! f\,g",
]
#: Of each sign that is drawn: which one, its left edge and its lower edge, from those of the formula.
SIGNS = """async ([id, html]) => {
  const place = document.getElementById(id)
  place.innerHTML = html
  place.getBoundingClientRect()  // asks for the fonts
  await document.fonts.ready
  const drawn = place.querySelector('.katex-html'), found = [], from = drawn.getBoundingClientRect()
  const texts = document.createTreeWalker(drawn, NodeFilter.SHOW_TEXT), range = document.createRange()
  for (let text; (text = texts.nextNode());)
    for (let at = 0; at < text.data.length; at += 1) {
      if (/[\\s\\u200b]/.test(text.data[at])) continue
      range.setStart(text, at)
      range.setEnd(text, at + 1)
      const box = range.getBoundingClientRect()
      found.push([text.data[at], box.left - from.left, box.bottom - from.top])
    }
  return {signs: found, size: [from.width, from.height], elements: drawn.querySelectorAll('*').length}
}"""


@pytest.fixture(scope="module")
def tab(browser: Browser) -> Iterator[Page]:
    """A page with KaTeX and its style."""
    with served(DIST) as address:
        tab = browser.new_page(viewport={"width": 4000, "height": 900})
        tab.goto(f"{address}katex.min.css")
        style = (BOOK / "_static" / "attention.css").read_text("utf-8")
        tab.set_content(
            f'<base href="{address}"><link rel="stylesheet" href="{address}katex.min.css"><style>{style}</style>'
            f'<script src="{address}katex.min.js"></script><p id="before"></p><p id="after"></p>',
            wait_until="load",
        )
        yield tab
        tab.close()


def written(tab: Page, source: str, display: bool = False) -> str:
    """A formula as KaTeX writes it."""
    options = {"displayMode": display, "strict": "ignore", "throwOnError": True}
    return tab.evaluate("([source, options]) => katex.renderToString(source, options)", [source, options])


def compared(tab: Page, source: str, display: bool) -> tuple[dict[str, Any], dict[str, Any]]:
    """How a formula is drawn by KaTeX and after it was made lighter."""
    html = written(tab, source, display)
    drawn = [tab.evaluate(SIGNS, [place, one]) for place, one in (("before", html), ("after", lighter(html)))]
    return drawn[0], drawn[1]


def moved(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """The signs that stand elsewhere."""
    if [sign for sign, *_ in before["signs"]] != [sign for sign, *_ in after["signs"]]:
        return ["other signs, or another order"]
    pairs = zip(before["signs"], after["signs"], strict=True)
    found = [f"{one[0]}: {one[1:]} {two[1:]}" for one, two in pairs if not near(one[1:], two[1:])]
    return found + ([] if near(before["size"], after["size"]) else [f"size {before['size']} {after['size']}"])


def near(one: list[float], other: list[float]) -> bool:
    return all(abs(a - b) <= CLOSE for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("display", [False, True])
@pytest.mark.parametrize("source", CHOSEN)
def test_every_sign_stays_where_it_was(source: str, display: bool, tab: Page) -> None:
    before, after = compared(tab, source, display)
    assert moved(before, after) == []
    assert after["elements"] < before["elements"]


def test_a_sign_that_moves_is_seen(tab: Page) -> None:
    before, after = compared(tab, "x_i + y", False)
    after["signs"][1][2] += 2 * CLOSE
    assert len(moved(before, after)) == 1


@pytest.mark.full
def test_every_formula_of_the_book_is_drawn_alike(tab: Page) -> None:
    found: dict[tuple[str, bool], None] = {}
    for page in sorted(BOOK.glob("[cdgp]*/*.md")) + [BOOK / "notation.md"]:
        for one in FORMULAS.finditer(CODE.sub("", page.read_text("utf-8"))):
            found[one["display"] or one["inline"], bool(one["display"])] = None
    wrong, seen = {}, 0
    for source, display in found:
        try:
            before, after = compared(tab, source, display)
        except Exception as error:
            assert "KaTeX parse error" in str(error) or "ParseError" in str(error), error  # a price, a piece of a table
            continue
        seen += 1
        if signs := moved(before, after):
            wrong[source] = signs[:3]
    assert seen > 800 and wrong == {}


def test_an_index_alone_is_one_element_and_screen_readers_get_the_same(tab: Page) -> None:
    html = written(tab, "x_i")
    light = lighter(html)
    assert light.count("vlist") == 0 and html.count("vlist") > 4
    read = re.compile(r'<span class="katex-mathml">.*?</math></span>', re.DOTALL)
    assert read.search(light)[0] == re.sub(r"<annotation.*?</annotation>", "", read.search(html)[0])
