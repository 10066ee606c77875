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
    files = [site / unquote(urlsplit(url).path).lstrip("/") for url in asked if url.startswith(address)]
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


def test_menus_lead_on_without_scripts(browser: Browser, address: str) -> None:
    context = browser.new_context(viewport=PHONE, java_script_enabled=False)
    tab = context.new_page()
    tab.goto(f"{address}chapters/04-masks.html")
    tab.locator(".launch-buttons summary").click()
    colab = tab.locator(".launch-buttons").get_by_role("link", name="Colab")
    assert colab.is_visible() and colab.get_attribute("href").startswith("https://colab.research.google.com/")
    context.close()


def test_the_header_tells_the_states_of_its_buttons(browser: Browser, address: str) -> None:
    context = browser.new_context(viewport=PHONE, color_scheme="dark")
    tab = context.new_page()
    tab.goto(f"{address}chapters/04-masks.html", wait_until="load")
    pages = tab.get_by_role("button", name="Pages of the book")
    assert pages.get_attribute("aria-expanded") == "false"
    pages.click()
    tab.wait_for_selector(".primary-toggle[aria-expanded=true]", state="attached")
    tab.keyboard.press("Escape")
    tab.wait_for_selector(".primary-toggle[aria-expanded=false]", state="attached")
    assert tab.locator("html").get_attribute("data-theme") == "dark"
    colours = tab.locator(".theme-switch-button").first
    before = colours.get_attribute("aria-label")
    colours.click()
    tab.wait_for_function("before => document.querySelector('.theme-switch-button').ariaLabel !== before", arg=before)
    menu = tab.locator("details.launch-buttons")
    menu.locator("summary").click()
    assert menu.get_attribute("open") is not None
    tab.keyboard.press("Escape")
    assert menu.get_attribute("open") is None
    context.close()
