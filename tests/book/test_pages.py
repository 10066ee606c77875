"""Every page in a real browser: it asks nobody else, fits a phone and needs no JavaScript for its formulas."""

from __future__ import annotations

from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from playwright.sync_api import Browser

from autograder.course.paths import ROOT

from .pages import all_pages

PHONE = {"width": 390, "height": 844}
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
#: The formulas that are not drawn: a box without a size, or text in a font that did not arrive.
UNDRAWN = """() => [...document.querySelectorAll('.katex-html')].filter(e => e.checkVisibility())
    .filter(e => e.getBoundingClientRect().width < 2 || !getComputedStyle(e).fontFamily.includes('KaTeX'))
    .map(e => e.textContent)"""


@pytest.mark.parametrize("page", all_pages())
def test_no_request_leaves_the_page_and_it_fits_a_phone(page: str, browser: Browser, address: str) -> None:
    context = browser.new_context(viewport=PHONE)
    asked, said = [], []
    context.route(
        lambda url: not url.startswith(address), lambda route: (asked.append(route.request.url), route.abort())
    )
    tab = context.new_page()
    tab.on("console", lambda message: said.append(message.text) if message.type in ("error", "warning") else None)
    tab.on("pageerror", lambda error: said.append(str(error)))
    tab.on("requestfailed", lambda request: said.append(f"not loaded: {request.url}"))
    response = tab.goto(f"{address}{page}.html", wait_until="load")
    tab.wait_for_timeout(200)  # what scripts ask for after the load
    overflow = tab.evaluate(OVERFLOW)
    context.close()
    assert response.ok
    assert asked == []
    assert said == []
    assert overflow <= 0, f"{page} scrolls sideways by {overflow} px on a phone"


@pytest.mark.parametrize("page", all_pages())
def test_formulas_need_no_javascript(page: str, browser: Browser, address: str, site: Path) -> None:
    article = BeautifulSoup((site / f"{page}.html").read_text("utf-8"), "html.parser").find("article")
    formulas = article.select(".math")
    assert all(formula.select_one(".katex-html") for formula in formulas)
    assert not article.select(".katex-error")
    if not formulas:
        return
    context = browser.new_context(java_script_enabled=False, viewport=PHONE)
    tab = context.new_page()
    tab.goto(f"{address}{page}.html", wait_until="load")
    undrawn = tab.evaluate(UNDRAWN)
    context.close()
    assert undrawn == []


@pytest.mark.parametrize("page", all_pages())
def test_every_picture_is_described(page: str, site: Path) -> None:
    soup = BeautifulSoup((site / f"{page}.html").read_text("utf-8"), "html.parser")
    for picture in soup.select("article img"):
        description = picture.get("alt", "")
        assert description, f"{page}: {picture['src']} has no alternative text"
        assert not description.startswith("../_images/"), f"{page}: {picture['src']} is described by its file's name"
        assert "_images/" not in description


@pytest.mark.parametrize("page", all_pages())
def test_every_page_has_a_description_and_its_own_icon(page: str, site: Path) -> None:
    head = BeautifulSoup((site / f"{page}.html").read_text("utf-8"), "html.parser").head
    described = head.find_all("meta", attrs={"name": "description"})
    assert len(described) == 1
    assert len(described[0]["content"]) >= 40
    icon = head.find("link", rel="icon")
    assert (site / page).parent.joinpath(icon["href"].split("?")[0]).resolve().is_file()


@pytest.mark.parametrize(
    ("page", "theme"),
    [("index", "dark"), ("chapters/02-worked-example", "light"), ("problem-sets/ps3", "dark"), ("notation", "light")],
)
def test_axe_finds_no_barrier(page: str, theme: str, browser: Browser, address: str) -> None:
    context = browser.new_context(viewport={"width": 1280, "height": 900}, color_scheme=theme)
    tab = context.new_page()
    tab.add_init_script(f"localStorage.setItem('mode', '{theme}'); localStorage.setItem('theme', '{theme}')")
    tab.goto(f"{address}{page}.html", wait_until="load")
    tab.evaluate((ROOT / "node_modules" / "axe-core" / "axe.min.js").read_text("utf-8"))
    found = tab.evaluate("axe.run(document, {resultTypes: ['violations']}).then(result => result.violations)")
    context.close()
    barriers = [f"{barrier['id']}: {barrier['nodes'][0]['html'][:120]}" for barrier in found]
    assert barriers == []
