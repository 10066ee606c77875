"""What is typed stays: in two tabs, where no storage is left or none is allowed. No Python is loaded here."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext

from .conftest import PAGE, Exercise

KEPT = "() => localStorage.getItem('attention-by-hand/answer/2.2')"
#: Fills this site's storage to its last character.
FILL = """() => {
    let text = "x".repeat(1 << 20);
    for (let at = 0; text; at++) {
        try { localStorage.setItem(`filler${at}`, text) } catch { text = text.slice(text.length / 2 + 0.5) }
    }
}"""


@pytest.fixture
def reader(browser: Browser) -> Iterator[BrowserContext]:
    context = browser.new_context()
    yield context
    context.close()


def opened(reader: BrowserContext, address: str, used: bool = True) -> Exercise:
    """Exercise 2.2 in a tab of its own; used: its editor has the focus, and its scripts are there"""
    tab = reader.new_page()
    tab.goto(address + PAGE)
    second = Exercise(tab, "2.2")
    if used:
        second.text.focus()
        tab.wait_for_function("() => window.exercisesInPage")
    return second


def test_two_tabs_show_what_either_writes(reader, small):
    first, second = opened(reader, small[1]), opened(reader, small[1])
    first.text.fill("x = 1")
    second.tab.wait_for_function("() => [...document.querySelectorAll('textarea')].some(one => one.value === 'x = 1')")
    second.text.press("End")
    second.text.press_sequentially("2")
    assert second.tab.evaluate(KEPT) == "x = 12"
    first.tab.wait_for_function("() => [...document.querySelectorAll('textarea')].some(one => one.value === 'x = 12')")
    first.button("Reset").click()
    second.tab.wait_for_function(
        "() => ![...document.querySelectorAll('textarea')].some(one => one.value === 'x = 12')"
    )
    assert "NotImplementedError" in second.text.input_value()


def test_a_tab_that_was_open_before_does_not_bring_old_text_back(reader, small):
    first = opened(reader, small[1])
    first.text.fill("old = 1")
    second = opened(reader, small[1], used=False)
    assert second.text.input_value() == "old = 1"
    first.text.fill("new = 1")
    second.text.focus()
    second.tab.wait_for_function(
        "() => [...document.querySelectorAll('textarea')].some(one => one.value === 'new = 1')"
    )
    assert second.tab.evaluate(KEPT) == "new = 1"


def test_what_is_typed_while_scripts_come_is_kept(reader, small):
    second = opened(reader, small[1], used=False)
    second.tab.route("**/page.js", lambda route: (second.text.fill("early = 1"), route.continue_()))
    second.text.focus()
    second.tab.wait_for_function(f"() => ({KEPT})() === 'early = 1'")
    assert second.text.input_value() == "early = 1"


def test_where_storage_is_full_the_text_stays_in_the_page_and_the_reader_is_told(reader, small):
    second = opened(reader, small[1])
    second.tab.evaluate(FILL)
    second.text.fill("x = 1" * 100)
    assert "keeps no text" in second.status.inner_text()
    other = opened(reader, small[1])
    other.tab.evaluate("localStorage.removeItem('filler0')")
    other.text.fill("y = 1")
    second.tab.wait_for_timeout(300)
    assert second.text.input_value() == "x = 1" * 100, "what was never kept is never replaced"
