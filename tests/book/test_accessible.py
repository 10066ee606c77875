"""The site for who cannot see it, or uses the keyboard alone, or has no JavaScript."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from autograder.course.paths import ROOT

from .conftest import PHONE
from .pages import all_pages

AXE = ROOT / "node_modules" / "axe-core" / "axe.min.js"
WIDTHS = (390, 1280)
KINDS = (
    "index",
    "chapters/04-masks",
    "deeper/mask-conventions",
    "problem-sets/ps3",
    "guides/learner",
    "notation",
    "glossary",
    "references",
    "search",
    "404",
)
QUICK = {("index", "dark"), ("problem-sets/ps3", "light"), ("search", "dark")}
RING = 3  # CSS pixels
#: What has the focus: its name, the ring around it, whether it can be seen. The ring of a tab is its label's, that of a
#: link as large as its card the card's.
FOCUSED = """() => {
  const focused = document.activeElement
  const of_tab = focused.matches('.sd-tab-set > input') && focused.nextElementSibling
  const of_card = focused.matches('.sd-stretched-link') && focused.closest('.sd-card')
  const it = of_tab || of_card || focused, style = getComputedStyle(it), box = it.getBoundingClientRect()
  return {
    name: (it.ariaLabel || it.textContent).trim().replace(/\\s+/g, ' '),
    tag: it.tagName,
    html: it.outerHTML.slice(0, 150),
    ring: style.outlineStyle === 'none' ? 0 : parseFloat(style.outlineWidth),
    seen: box.width > 0 && box.height > 0 && style.visibility === 'visible' && style.opacity > 0.9
  }
}"""


def barriers(tab: Page) -> list[str]:
    """What axe finds on a page, with every fold open and faded in."""
    tab.evaluate("document.querySelectorAll('article details').forEach(fold => { fold.open = true })")
    tab.evaluate("Promise.all(document.getAnimations().map(one => one.finished))")
    tab.evaluate(AXE.read_text("utf-8"))
    found = tab.evaluate("axe.run(document, {resultTypes: ['violations']}).then(result => result.violations)")
    return [f"{one['id']}: {node['html'][:150]}" for one in found for node in one["nodes"]]


@pytest.mark.parametrize(
    ("page", "theme"),
    [
        pytest.param(page, theme, marks=[] if (page, theme) in QUICK else pytest.mark.full)
        for page in KINDS
        for theme in ("light", "dark")
    ],
)
def test_axe_finds_no_barrier(page: str, theme: str, browser: Browser, address: str) -> None:
    context = browser.new_context(color_scheme=theme)
    tab = context.new_page()
    tab.goto(f"{address}{page}.html", wait_until="load")
    assert tab.locator("html").get_attribute("data-theme") == theme
    found = {}
    for width in WIDTHS:
        tab.set_viewport_size({"width": width, "height": 900})
        found[width] = barriers(tab)
    context.close()
    assert found == dict.fromkeys(WIDTHS, [])


def test_a_barrier_in_a_fold_is_found(browser: Browser) -> None:
    tab = browser.new_page()
    tab.set_content("<article><details><summary>More</summary><img src='x.svg'></details></article>")
    assert any(one.startswith("image-alt") for one in barriers(tab))
    tab.close()


def tab_to(tab: Page, name: str, within: int = 300) -> dict[str, Any]:
    """Presses Tab until what begins with this name has the focus; whatever has it meanwhile is seen, with a ring."""
    for _ in range(within):
        tab.keyboard.press("Tab")
        focused = tab.evaluate(FOCUSED)
        if focused["tag"] == "BODY":  # the browser's own bar
            continue
        assert focused["ring"] >= RING, f"no ring of {RING} px: {focused['html']}"
        assert focused["seen"], f"the focus is on what nobody sees: {focused['html']}"
        if focused["name"].startswith(name):
            return focused
    raise AssertionError(f"{within} times Tab, and {name!r} never had the focus")


def test_the_keyboard_alone_reads_unfolds_searches_and_changes_colours(browser: Browser, address: str) -> None:
    context = browser.new_context(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    tab = context.new_page()
    tab.goto(f"{address}chapters/04-masks.html", wait_until="load")
    tab_to(tab, "Skip to main content", within=1)
    tab.keyboard.press("Enter")
    tab_to(tab, "Launch interactive content", within=3)
    exercise = tab.locator(".exercise").first
    tab_to(tab, "Hint 1")
    hint = exercise.locator("details.hint").first
    assert hint.get_attribute("open") is None
    tab.keyboard.press("Enter")
    assert hint.locator("p").first.is_visible()
    tab_to(tab, "Solution")
    tab.keyboard.press("Enter")
    tab_to(tab, "Show the solution", within=2)
    tab.keyboard.press("Enter")
    assert exercise.locator("details.solution pre").is_visible()
    tab_to(tab, "Copy", within=3)
    tab.keyboard.press("Control+k")
    tab.keyboard.type("rope")
    tab.keyboard.press("Enter")  # at once: the results of "rope" are waited for, not those of "rop"
    tab.wait_for_function("document.activeElement.closest('.search-results')")
    assert tab.evaluate(FOCUSED)["ring"] >= RING
    tab.keyboard.press("Enter")
    tab.wait_for_url("**/06-positions.html#rotary-positions")
    tab.wait_for_load_state("load")
    tab.evaluate("document.activeElement.blur(); scrollTo(0, 0); getSelection().removeAllRanges()")
    tab.reload()
    tab_to(tab, "Skip to main content")
    tab.keyboard.press("Enter")
    before = tab_to(tab, "Colours")
    tab.keyboard.press("Enter")
    after = tab.evaluate(FOCUSED)
    assert after["name"].startswith("Colours") and after["name"] != before["name"]
    assert tab.locator("#page-status").inner_text() == after["name"]
    assert tab.locator("html").get_attribute("data-mode") != "auto"
    context.close()


@pytest.mark.full
@pytest.mark.parametrize("page", KINDS)
def test_every_control_has_a_ring(page: str, browser: Browser, address: str) -> None:
    tab = browser.new_page(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    tab.goto(f"{address}{page}.html", wait_until="load")
    with pytest.raises(AssertionError, match="never had the focus"):
        tab_to(tab, "a name that nothing has", within=400)
    tab.close()


def test_what_has_the_focus_stays_listed_while_another_section_is_read(browser: Browser, address: str) -> None:
    tab = browser.new_page(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    tab.goto(f"{address}guides/learner.html#your-own-machine", wait_until="load")
    entry = tab.locator("#pst-page-toc-nav a[href='#your-own-machine']")
    entry.focus()
    tab.wait_for_timeout(1100)  # for so long a link that was followed stays marked
    last = tab.locator("#pst-page-toc-nav > ul > li > a").last
    tab.evaluate("id => document.getElementById(id).scrollIntoView()", last.get_attribute("href").removeprefix("#"))
    tab.wait_for_function("link => link.classList.contains('active')", arg=last.element_handle(), timeout=5000)
    assert entry.is_visible()
    tab.close()


def test_copying_is_said(browser: Browser, address: str) -> None:
    context = browser.new_context()
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    tab = context.new_page()
    tab.goto(f"{address}chapters/04-masks.html", wait_until="load")
    copy = tab.locator(".exercise-solution .copybtn, .cell_input .copybtn").first
    copy.evaluate("button => { button.closest('details')?.setAttribute('open', '') ; button.focus() }")
    tab.keyboard.press("Enter")
    tab.wait_for_function("document.querySelector('#page-status').textContent === 'Copied!'")
    context.close()


def test_a_fold_is_named_by_what_it_shows(browser: Browser, address: str) -> None:
    tab = browser.new_page()
    tab.goto(f"{address}chapters/04-masks.html", wait_until="load")
    named = tab.locator("article summary[aria-label]").evaluate_all("folds => folds.map(fold => fold.outerHTML)")
    empty = tab.locator("article summary").evaluate_all("all => all.filter(one => !one.textContent.trim()).length")
    tab.close()
    assert named == [] and empty == 0


def test_without_scripts_every_page_is_reached_from_every_kind_of_page(browser: Browser, address: str) -> None:
    context = browser.new_context(viewport=PHONE, java_script_enabled=False)
    tab = context.new_page()
    for page in ("index", "chapters/04-masks", "problem-sets/ps3"):
        tab.goto(f"{address}{page}.html")
        tab.get_by_role("link", name="Search").click()
        links = tab.locator(".all-pages a").evaluate_all("links => links.map(link => link.href.slice(0, -5))")
        assert {address + one for one in set(all_pages()) - {"index"}} <= set(links)
    tab.get_by_role("link", name="Attention by Hand").first.click()
    assert tab.url.endswith("/index.html")
    context.close()


def test_a_page_says_its_title_address_and_width_once(site: Path) -> None:
    for page in ("index", "chapters/04-masks"):
        head = (site / f"{page}.html").read_text("utf-8").partition("</head>")[0]
        assert head.count('name="viewport"') == 1 and head.count("<title>") == 1, page
    head = (site / "index.html").read_text("utf-8").partition("</head>")[0]
    assert "<title>Attention by Hand</title>" in head
    assert 'index.html"' not in head.partition('rel="canonical"')[2].partition(">")[0]


def test_menus_lead_on_without_scripts(browser: Browser, address: str) -> None:
    context = browser.new_context(viewport=PHONE, java_script_enabled=False)
    tab = context.new_page()
    tab.goto(f"{address}chapters/04-masks.html")
    tab.locator(".launch-buttons summary").click()
    colab = tab.locator(".launch-buttons").get_by_role("link", name="Colab")
    assert colab.is_visible() and colab.get_attribute("href").startswith("https://colab.research.google.com/")
    context.close()


def test_the_header_tells_what_a_narrower_window_hides(browser: Browser, address: str) -> None:
    context = browser.new_context(viewport={"width": 1400, "height": 800})
    tab = context.new_page()
    tab.goto(f"{address}chapters/04-masks.html", wait_until="load")
    tab.wait_for_selector(".secondary-toggle[aria-expanded=true]", state="attached")
    tab.set_viewport_size(PHONE)
    tab.wait_for_selector(".secondary-toggle[aria-expanded=false]", state="attached")
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
