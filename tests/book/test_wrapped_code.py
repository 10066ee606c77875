"""Code wraps below its own indent on a narrow screen, and is copied as it was written."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Page
from pygments import highlight
from pygments.lexers import PythonLexer

from autograder.course.paths import BOOK

CODE = """\
def scores(query, key):
    \"\"\"A text of two lines,

    with an empty one between.\"\"\"
    for row in query:
        yield [sum(a * b for a, b in zip(row, column, strict=True)) for column in key]  # (L, S)
"""


@pytest.fixture(scope="module")
def tab(browser: Browser, request: pytest.FixtureRequest) -> Page:
    monkeypatch = pytest.MonkeyPatch()
    monkeypatch.syspath_prepend(str(BOOK / "_extensions"))
    from wrapped_code import LinesFormatter

    monkeypatch.undo()
    tab = browser.new_page(viewport={"width": 390, "height": 800})
    style = (BOOK / "_static" / "attention.css").read_text("utf-8")
    block = highlight(CODE, PythonLexer(), LinesFormatter())
    tab.set_content(f'<style>{style}</style><article class="bd-article">{block}</article>')
    request.addfinalizer(tab.close)
    return tab


def test_a_long_line_goes_on_further_in_than_it_began(tab: Page) -> None:
    heights = tab.eval_on_selector_all("pre .line", "lines => lines.map(line => line.getBoundingClientRect().height)")
    assert len(heights) == 6 and heights[5] > 2 * heights[0] and min(heights) == heights[0]
    first, second = tab.evaluate(
        """() => {
          const line = [...document.querySelectorAll('pre .line')].at(-1)
          const range = document.createRange()
          range.selectNodeContents(line)
          const lefts = new Map([...range.getClientRects()].filter(box => box.width > 0).map(box => [box.top, []]))
          for (const box of range.getClientRects()) if (box.width > 0) lefts.get(box.top).push(box.left)
          return [...lefts.entries()].sort((a, b) => a[0] - b[0]).slice(0, 2).map(entry => Math.min(...entry[1]))
        }"""
    )
    assert second > first  # the first line's box begins with its spaces
    assert tab.evaluate("document.documentElement.scrollWidth") == 390


def test_what_is_copied_is_what_was_written(tab: Page) -> None:
    by_button = tab.evaluate("document.querySelector('pre').cloneNode(true).innerText")
    assert by_button == CODE
    by_hand = tab.evaluate(
        "() => { const all = getSelection(); all.selectAllChildren(document.querySelector('pre')); return `${all}` }"
    )
    assert [line.rstrip() for line in by_hand.strip("\n").split("\n")] == CODE.rstrip().split("\n")
