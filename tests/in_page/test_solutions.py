"""A solution is hidden until its exercise has passed in the page, or the reader insists with a second click."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page

from .conftest import PAGE, Exercise

#: Stands in for Python: whatever is asked has passed all its checks.
WORKER = """onmessage = ({ data }) => postMessage(data.kind === "start" ? { kind: "ready" } : { kind: "told",
    told: { state: "passed", passed: 5, count: 5, html: "", left_out: [], begins: null, remedy: null } })"""
SOLVED = "() => localStorage.getItem('attention.solved.worked_example.dot_scores')"


@pytest.fixture
def reader(browser: Browser) -> Iterator[BrowserContext]:
    context = browser.new_context()
    context.route("**/worker.js", lambda route: route.fulfill(content_type="text/javascript", body=WORKER))
    yield context
    context.close()


def opened(context: BrowserContext, address: str) -> tuple[Page, Locator, Locator]:
    """A tab, the two summaries of exercise 2.2's solution, and its code."""
    tab = context.new_page()
    tab.goto(address + PAGE)
    block = tab.locator(".exercise", has=tab.locator('[data-number="2.2"]')).last
    return tab, block.locator(".solution-question summary"), block.locator(".solution pre")


def test_before_a_pass_the_first_click_asks_and_the_second_shows(reader, small):
    _, summaries, code = opened(reader, small[1])
    assert not code.is_visible()
    summaries.first.press("Enter")
    assert not code.is_visible(), "one click, and nothing has passed"
    assert summaries.last.inner_text() == "Show the solution anyway"
    summaries.last.press("Enter")
    assert code.is_visible()


def test_after_a_pass_one_click_shows_it_also_on_the_next_visit(reader, small):
    tab, summaries, code = opened(reader, small[1])
    second = Exercise(tab, "2.2")
    assert second.check("x = 1") == "passed"
    assert not code.is_visible(), "a pass opens nothing by itself"
    summaries.first.click()
    assert code.is_visible()
    assert len(tab.evaluate(SOLVED)) == len("2026-11-24"), "the progress page counts it"
    _, summaries, code = opened(reader, small[1])
    assert not code.is_visible()
    summaries.first.press("Enter")
    assert code.is_visible()


def test_without_a_script_there_are_two_folds(browser, small):
    context = browser.new_context(java_script_enabled=False)
    _, summaries, code = opened(context, small[1])
    summaries.first.click()
    assert not code.is_visible()
    summaries.last.click()
    assert code.is_visible()
    context.close()
