"""The observations of test_pages see what is wrong: each on a page that is broken in one way."""

from __future__ import annotations

from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from playwright.sync_api import BrowserContext

from autograder.build.serving import served

from .test_pages import (
    in_a_browser,
    in_its_formulas,
    in_its_head,
    in_its_links,
    in_its_markup,
    in_its_notebook,
    in_its_pictures,
)

FORMULA = '<span class="math"><span class="katex-html" style="font-family: KaTeX_Main">x</span></span>'
GOOD_HEAD = f'<meta name="description" content="{"word " * 10}"><link rel="icon" href="data.svg">'


@pytest.fixture
def write(tmp_path: Path):
    (tmp_path / "katex.min.css").write_text(".katex {}")
    (tmp_path / "data.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>", "utf-8")

    def page(head: str = GOOD_HEAD, article: str = "") -> tuple[Path, BeautifulSoup]:
        html = f"<!doctype html><html><head>{head}</head><body><article>{article}</article></body></html>"
        (tmp_path / "page.html").write_text(html, "utf-8")
        return tmp_path, BeautifulSoup(html, "html.parser")

    return page


@pytest.mark.parametrize(
    ("article", "finding"),
    [
        ("", None),
        ('<img alt="" src="http://other.example/a.png">', "asks for http://other.example/a.png"),
        ("<script>console.error('oh')</script>", "console: oh"),
        ("<script>undefinedName()</script>", "script: "),
        ('<div style="width: 1000px">x</div>', "scrolls sideways"),
        ('<script src="gone.js"></script>', "console: "),
        (FORMULA, None),
        (FORMULA.replace("KaTeX_Main", "serif"), "the formula 'x' is not drawn"),
    ],
)
def test_what_a_browser_shows_is_seen(article: str, finding: str | None, phone: BrowserContext, write) -> None:
    folder, _ = write(article=article)
    with served(folder) as address:
        findings = list(in_a_browser(phone, address, "page"))
    assert not findings if finding is None else any(finding in one for one in findings)


@pytest.mark.parametrize(
    ("head", "article", "finding"),
    [
        (GOOD_HEAD, '<img alt="a cat" src="c.svg"><a href="#here" id="here">x</a><a href="data.svg">y</a>', None),
        (GOOD_HEAD.replace("word ", ""), "", "needs one description"),
        (GOOD_HEAD.replace("word ", "word " * 10), "", "needs one description"),
        (GOOD_HEAD, "<details><summary><p>more</p></summary></details>", "a paragraph in <summary>"),
        (GOOD_HEAD, "<table><tr><th></th><th>key 1</th></tr></table>", "a heading without words"),
        (GOOD_HEAD.replace("data.svg", "gone.svg"), "", "icon is not there"),
        (f'{GOOD_HEAD}<link rel="stylesheet" href="katex.min.css">', FORMULA, None),
        (GOOD_HEAD, FORMULA, "not KaTeX's style"),
        (GOOD_HEAD, '<span class="math">x</span>', "no KaTeX in 'x'"),
        (GOOD_HEAD, f'{FORMULA}<span class="katex-error">y</span>', "KaTeX refuses 'y'"),
        (GOOD_HEAD, '<img src="c.svg">', "c.svg has no alternative text"),
        (GOOD_HEAD, '<img alt="../_images/c.svg" src="c.svg">', "described by its file's name"),
        (GOOD_HEAD, '<a href="gone.html">x</a>', "links to gone.html, which is no file"),
        (GOOD_HEAD, '<a href="page.html#gone">x</a>', "there is no #gone"),
        (GOOD_HEAD, '<a href="_sources/page.ipynb">x</a>', "it has no notebook"),
        (GOOD_HEAD, '<a href="https://colab.research.google.com/x">x</a>', "is no generated notebook"),
        (GOOD_HEAD, '<div class="launch-buttons"></div>', "launch buttons, but no notebook"),
    ],
)
def test_what_is_missing_in_a_page_is_seen(head: str, article: str, finding: str | None, write) -> None:
    folder, soup = write(head, article)
    findings = [
        *in_its_head(folder, "page", soup),
        *in_its_formulas(folder, "page", soup),
        *in_its_markup(soup),
        *in_its_pictures(soup),
        *in_its_links(folder, "page", soup),
        *in_its_notebook(folder, "page", soup, {}),
    ]
    assert not findings if finding is None else any(finding in one for one in findings)
