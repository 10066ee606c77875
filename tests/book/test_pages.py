"""Every page: in a real browser it asks nobody else and fits a phone, and each of its links leads somewhere.

One test per page makes all observations; what it finds is listed, each with the page and the place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from playwright.sync_api import Browser, BrowserContext, Request

from autograder.build.notebooks import texts
from autograder.build.urls import colab_url, notebook_name
from autograder.course.paths import BOOK

from .layout import too_wide
from .pages import all_pages, notebook_pages, parsed

COLAB = re.compile(r"https://colab\.research\.google\.com/\S*?/blob/[^/]+/(\S+\.ipynb)")
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
#: What code says to a formatter or a linter, and to no reader.
FOR_TOOLS = re.compile(r"# (?:fmt: |noqa|type: ignore).*")
#: The formulas that are not drawn: a box without a size, or text in a font that did not arrive.
UNDRAWN = """() => [...document.querySelectorAll('.katex-html')].filter(e => e.checkVisibility())
    .filter(e => e.getBoundingClientRect().width < 2 || !getComputedStyle(e).fontFamily.includes('KaTeX'))
    .map(e => e.textContent)"""


@pytest.fixture(scope="module")
def generated() -> dict[Path, str]:
    return texts()


@pytest.mark.parametrize("page", all_pages())
def test_page(page: str, phone: BrowserContext, address: str, site: Path, generated: dict[Path, str]) -> None:
    soup = parsed(site, page)
    findings = [
        *in_a_browser(phone, address, page),
        *in_its_formulas(site, page, soup),
        *in_its_head(site, page, soup),
        *in_its_markup(soup),
        *in_its_pictures(soup),
        *in_its_code(soup),
        *in_its_notebook(site, page, soup, generated),
        *in_its_links(site, page, soup),
    ]
    assert [f"{page}: {finding}" for finding in findings] == []


def in_a_browser(phone: BrowserContext, address: str, page: str) -> Iterator[str]:
    """Requests that leave the page, what fails or is said on the console, undrawn formulas, and overflow on a phone."""
    findings: list[str] = []

    def note(request: Request) -> None:
        if not request.url.startswith((address, "data:", "blob:")):
            findings.append(f"it asks for {request.url}")

    tab = phone.new_page()
    tab.on("request", note)
    tab.on("console", lambda one: findings.append(f"console: {one.text}") if one.type in ("error", "warning") else None)
    tab.on("pageerror", lambda error: findings.append(f"script: {error}"))
    tab.on("requestfailed", lambda request: findings.append(f"not loaded: {request.url}"))
    response = tab.goto(f"{address}{page}.html", wait_until="load")
    tab.wait_for_timeout(200)  # what scripts ask for after the load
    overflow, undrawn = tab.evaluate(OVERFLOW), tab.evaluate(UNDRAWN)
    wide = too_wide(tab, 390)
    if page.startswith("deeper/"):  # a wide table of measurements may scroll there, and nowhere else
        wide = [finding for finding in wide if "px: table." not in finding]
    tab.close()
    if not response.ok:
        yield f"the server answers {response.status}"
    yield from findings
    if overflow > 0:
        yield f"it scrolls sideways by {overflow} px on a phone"
    yield from wide
    yield from (f"the formula {formula[:60]!r} is not drawn" for formula in undrawn)


def in_its_formulas(site: Path, page: str, soup: BeautifulSoup) -> Iterator[str]:
    """Formulas that would need a script: not rendered in the page, or without KaTeX's style in its head."""
    article = soup.find("article")
    formulas = article.select(".math")
    yield from (f"no KaTeX in {one.get_text()[:60]!r}" for one in formulas if not one.select_one(".katex-html"))
    yield from (f"KaTeX refuses {one.get_text()[:60]!r}" for one in article.select(".katex-error"))
    styles = [link["href"].split("?")[0] for link in soup.head.find_all("link", rel="stylesheet")]
    files = [(site / page).parent.joinpath(style).resolve() for style in styles if ":" not in style]
    if formulas and not any(file.is_file() and ".katex" in file.read_text("utf-8") for file in files):
        yield "it has formulas, but not KaTeX's style"


def in_its_head(site: Path, page: str, soup: BeautifulSoup) -> Iterator[str]:
    """A description that is missing or longer than search engines show, or an icon that is not there."""
    described = soup.head.find_all("meta", attrs={"name": "description"})
    if len(described) != 1 or not 40 <= len(described[0]["content"]) <= 160:
        yield f"it needs one description of 40 to 160 characters, got {[one['content'] for one in described]}"
    icon = soup.head.find("link", rel="icon")
    if icon is None or not (site / page).parent.joinpath(icon["href"].split("?")[0]).resolve().is_file():
        yield f"its icon is not there: {icon}"


def in_its_markup(soup: BeautifulSoup) -> Iterator[str]:
    """Paragraphs where HTML allows none, and columns without a name."""
    yield from (f"a paragraph in <summary>: {one.get_text()[:40]}" for one in soup.select("summary p"))
    yield from (
        f"a heading without words: {one.parent.get_text()[:40]}"
        for one in soup.select("th")
        if not one.get_text(strip=True)
    )


def in_its_code(soup: BeautifulSoup) -> Iterator[str]:
    for code in soup.select("div.highlight pre"):
        yield from (f"a comment for a tool: {found}" for found in FOR_TOOLS.findall(code.get_text()))


def in_its_pictures(soup: BeautifulSoup) -> Iterator[str]:
    """Pictures without words."""
    for picture in soup.select("article img"):
        description = picture.get("alt", "")
        if not description:
            yield f"{picture['src']} has no alternative text"
        if "_images/" in description:
            yield f"{picture['src']} is described by its file's name"


def in_its_notebook(site: Path, page: str, soup: BeautifulSoup, generated: dict[Path, str]) -> Iterator[str]:
    """Buttons and links to notebooks that are not the generated ones."""
    linked = [link for link in _links(soup) if link.startswith("https://colab")]
    for link in linked:
        name = COLAB.fullmatch(link)
        if not name or BOOK.parent / name[1] not in generated:
            yield f"{link} is no generated notebook"
    if page in notebook_pages():
        notebook = notebook_name(page)
        if colab_url(notebook) not in linked:
            yield "it does not lead to its notebook on Colab"
        if (site / "_sources" / f"{page}.ipynb").read_text("utf-8") != generated[BOOK / f"notebooks/{notebook}.ipynb"]:
            yield "the notebook to download is not the generated one"
        return
    if soup.select(".launch-buttons"):
        yield "it has launch buttons, but no notebook"
    yield from (
        f"{link}: it has no notebook" for link in _links(soup) if link.endswith(".ipynb") and "_sources" in link
    )


def in_its_links(site: Path, page: str, soup: BeautifulSoup) -> Iterator[str]:
    """Links inside the book that lead nowhere."""
    for link in _links(soup):
        if re.match(r"[a-z]+:|//", link):
            continue
        path, _, anchor = link.partition("#")
        target = ((site / page).parent / path.partition("?")[0]).resolve() if path else site / f"{page}.html"
        if not target.is_file():
            yield f"it links to {link}, which is no file"
        elif anchor and target.suffix == ".html" and anchor not in _anchors(target):
            yield f"it links to {link}, where there is no #{anchor}"


def _links(soup: BeautifulSoup) -> list[str]:
    return [link["href"] for link in soup.find_all("a", href=True)]


@cache
def _anchors(page: Path) -> frozenset[str]:
    return frozenset(re.findall(r'\bid="([^"]+)"', page.read_text("utf-8")))


def test_formulas_are_drawn_where_no_script_runs(browser: Browser, address: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    tab = context.new_page()
    tab.goto(f"{address}chapters/03-scores.html", wait_until="load")
    drawn, undrawn = tab.locator("article .katex-html").count(), tab.evaluate(UNDRAWN)
    context.close()
    assert drawn > 100 and undrawn == []
