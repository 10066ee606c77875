"""What a page costs to load: gzip, as hosts send it, and no more than it needs."""

from __future__ import annotations

import gzip
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from playwright.sync_api import Browser

from .conftest import PHONE
from .pages import all_pages

WITHOUT_FIGURES, AT_FIRST_VIEW = 150, 300  # KB
SAMPLE = ("index", "chapters/07-encoder", "problem-sets/ps10")
FIGURES = (".svg", ".png", ".jpg")
COMPRESSED = (".woff2", ".png", ".jpg")


def kilobytes(path: Path) -> float:
    content = path.read_bytes()
    return len(content if path.suffix in COMPRESSED else gzip.compress(content, 6)) / 1024


def weight(browser: Browser, address: str, site: Path, page: str) -> tuple[float, float]:
    """KB that a phone loads until a page is at rest: without its figures, and with those that it has asked for."""
    context = browser.new_context(viewport=PHONE)
    tab, asked = context.new_page(), set()
    tab.on("request", lambda request: asked.add(request.url))
    tab.goto(f"{address}{page}.html", wait_until="networkidle")
    context.close()
    files = [site / unquote(urlsplit(url.removeprefix(address)).path) for url in asked if url.startswith(address)]
    figures = sum(kilobytes(path) for path in files if path.suffix in FIGURES)
    return sum(kilobytes(path) for path in files if path.suffix not in FIGURES), figures


@pytest.mark.parametrize(
    "page", [pytest.param(page, marks=[] if page in SAMPLE else pytest.mark.full) for page in all_pages()]
)
def test_a_page_is_light(page: str, browser: Browser, address: str, site: Path) -> None:
    bare, figures = weight(browser, address, site, page)
    assert bare > 20, f"{page}: {bare:.0f} KB cannot be all of it"
    assert bare <= WITHOUT_FIGURES, f"{page}: {bare:.0f} KB without figures, at most {WITHOUT_FIGURES}"
    assert bare + figures <= AT_FIRST_VIEW, f"{page}: {bare + figures:.0f} KB at first view, at most {AT_FIRST_VIEW}"
