"""A page fits two phones, a tablet, a desktop and A4. That all pages fit a phone is part of test_pages."""

from __future__ import annotations

import re
from io import BytesIO

import pytest
from playwright.sync_api import Browser
from pypdf import PageObject, PdfReader

from .layout import WIDTHS, on_paper, too_wide, torn_off
from .page_measures import chapters
from .pages import all_pages

NARROWEST = 320
#: Editors, a mask to choose, the widest tables; the others are `full`.
QUICK = ("02-worked-example", "04-masks", "07-encoder", "08-classifier")
#: How many characters stand on each line of a paragraph but its last.
FULL_LINES = """() => [...document.querySelectorAll('article section > p')].slice(1).flatMap(one => {
  const texts = document.createTreeWalker(one, NodeFilter.SHOW_TEXT), range = document.createRange(), lines = [0]
  let last = 0
  for (let text; (text = texts.nextNode());)
    for (let at = 0; at < text.data.length; at += 1) {
      range.setStart(text, at)
      range.setEnd(text, at + 1)
      const { left, width } = range.getBoundingClientRect()
      if (!width) continue
      if (left < last) lines.push(0)
      lines[lines.length - 1] += 1
      last = left
    }
  return lines.slice(0, -1)
})"""
FULL = [page for page in all_pages() if not page.startswith("chapters/")]
TABLE = r"px: (table|div\.output text_html)"  # itself, or what scrolls it


@pytest.mark.parametrize("chapter", chapters())
def test_a_chapter_fits_every_screen(chapter: str, browser: Browser, address: str) -> None:
    tab = browser.new_page()
    tab.goto(f"{address}chapters/{chapter}.html", wait_until="load")
    wider = [width for width in WIDTHS if width > NARROWEST]
    found = [finding for width in wider for finding in (*too_wide(tab, width), *torn_off(tab, width))]
    tab.close()
    assert found == []


@pytest.mark.parametrize(
    "chapter", [pytest.param(one, marks=[] if one in QUICK else pytest.mark.full) for one in chapters()]
)
def test_a_chapter_fits_the_narrowest_screen_and_paper(chapter: str, browser: Browser, address: str) -> None:
    tab = browser.new_page()
    tab.goto(f"{address}chapters/{chapter}.html", wait_until="load")
    found = too_wide(tab, NARROWEST)
    scrolls = tab.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    found += on_paper(tab)
    tab.close()
    assert found == [] and scrolls == 0


def test_a_line_of_prose_has_65_to_75_characters(browser: Browser, address: str) -> None:
    tab = browser.new_page(viewport={"width": 1280, "height": 900})
    tab.goto(f"{address}guides/instructor.html", wait_until="load")
    lines = sorted(tab.evaluate(FULL_LINES))
    tab.close()
    assert len(lines) > 20
    assert 65 <= lines[len(lines) // 2] <= 75 and lines[0] > 40


@pytest.mark.parametrize("width", WIDTHS)
def test_the_name_of_the_book_is_always_seen(width: int, browser: Browser, address: str) -> None:
    """In the side column, or above the page where that is closed; it is the way to the front page."""
    tab = browser.new_page(viewport={"width": width, "height": 900})
    tab.goto(f"{address}chapters/04-masks.html", wait_until="load")
    shown = tab.evaluate("""() => [...document.querySelectorAll('.book-name, .navbar-brand')]
        .filter(link => link.checkVisibility() && link.getBoundingClientRect().left >= 0)
        .map(link => link.textContent.trim())""")
    tab.close()
    assert shown == ["Attention by Hand"]


def test_a_figure_stands_in_the_middle_of_its_column(browser: Browser, address: str) -> None:
    tab = browser.new_page(viewport={"width": 1280, "height": 900})
    tab.goto(f"{address}chapters/04-masks.html", wait_until="load")
    margins = tab.evaluate("""() => [...document.querySelectorAll('article figure img')]
        .filter(image => image.checkVisibility())
        .map(image => [image.getBoundingClientRect(), image.closest('figure').getBoundingClientRect()])
        .map(([image, column]) => [image.left - column.left, column.right - image.right])""")
    tab.close()
    assert len(margins) > 2
    assert [pair for pair in margins if abs(pair[0] - pair[1]) > 1] == []


def test_no_printed_page_ends_on_the_head_of_what_the_next_one_holds(browser: Browser, address: str) -> None:
    tab = browser.new_page()
    tab.goto(f"{address}chapters/03-scores.html", wait_until="load")
    ends = [lowest_text(page) for page in PdfReader(BytesIO(tab.pdf(format="A4", prefer_css_page_size=True))).pages]
    tab.close()
    assert len(ends) > 10
    assert [end for end in ends if re.match(r"Exercise \d|\d+ points|Your part of|Show the code", end)] == []


def lowest_text(page: PageObject) -> str:
    """The words that stand lowest on a page of a PDF."""
    found = []

    def see(text: str, page_matrix: list[float], text_matrix: list[float], *font: object) -> None:
        if text.strip():
            height = text_matrix[4] * page_matrix[1] + text_matrix[5] * page_matrix[3] + page_matrix[5]
            found.append((round(height), text.strip()))

    page.extract_text(visitor_text=see)
    return min(found)[1] if found else ""


@pytest.mark.full
@pytest.mark.parametrize("chapter", chapters())
def test_tables_of_widgets_fit_without_scripts(chapter: str, browser: Browser, address: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    tab = context.new_page()
    tab.goto(f"{address}chapters/{chapter}.html", wait_until="load")
    found = [*too_wide(tab, NARROWEST), *on_paper(tab)]
    context.close()
    assert found == []


@pytest.mark.full
@pytest.mark.parametrize("page", FULL)
def test_every_other_page_fits(page: str, browser: Browser, address: str) -> None:
    """A wide table may scroll inside itself, with a shade at its edge; on paper it has to fit."""
    tab = browser.new_page()
    tab.goto(f"{address}{page}.html", wait_until="load")
    found = [finding for width in WIDTHS for finding in too_wide(tab, width) if not re.search(TABLE, finding)]
    found += on_paper(tab)
    tab.close()
    assert found == []


@pytest.mark.parametrize(
    ("content", "finding"),
    [
        ('<pre style="overflow: auto">' + "x" * 400 + "</pre>", "pre"),
        ('<pre style="overflow: hidden">' + "x" * 400 + "</pre>", "pre"),
        ('<img src="wide.svg" width="2000" height="10">', "wide.svg"),
        ("<details><summary>more</summary><table><tr>" + "<td>word</td>" * 200 + "</tr></table></details>", "table"),
        ('<div style="overflow-x: auto"><p style="width: 3000px">a formula</p></div>', "a formula"),
    ],
)
def test_what_is_too_wide_is_found(content: str, finding: str, browser: Browser) -> None:
    tab = browser.new_page()
    tab.set_content(f'<article style="width: 350px"><p>As it should be.</p>{content}</article>')
    found = too_wide(tab, 1280)
    tab.close()
    assert len(found) == 1 and finding in found[0]


def test_what_fits_is_not_found(browser: Browser) -> None:
    tab = browser.new_page()
    long = "word " * 200
    tab.set_content(
        f'<article style="width: 350px"><p>{long}</p><pre style="white-space: pre-wrap">{long}</pre></article>'
    )
    assert too_wide(tab, 1280) == []
    tab.close()
