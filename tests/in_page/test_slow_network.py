"""A connection that is slow or breaks while Python comes: its progress shows, Stop and a second attempt work."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
from playwright.sync_api import Browser, Page

from autograder.build.serving import QuietHandler, served

from .answers import RIGHT, WRONG
from .conftest import PAGE, Exercise
from .places import small_site

pytestmark = [pytest.mark.full, pytest.mark.timeout(1800)]
PART = "() => document.querySelector('.in-page-status progress')?.value > 0.2"


class Line(NamedTuple):
    """A connection: what Python needs comes half, until it is opened or cut."""

    address: str
    opened: threading.Event
    cut: threading.Event


@pytest.fixture(scope="module")
def line(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Line]:
    opened, cut = threading.Event(), threading.Event()

    class Halting(QuietHandler):
        def copyfile(self, source: Any, outputfile: Any) -> None:
            content = source.read()
            half = len(content) // 2 if ".wasm" in self.path else len(content)
            outputfile.write(content[:half])
            while half < len(content) and not opened.wait(0.05):
                if cut.is_set():
                    return  # the reader has fewer bytes than were promised
            outputfile.write(content[half:])

    with served(small_site(tmp_path_factory.mktemp("slow")), Halting) as address:
        yield Line(address, opened, cut)
        opened.set()


@pytest.fixture
def tab(browser: Browser, line: Line) -> Iterator[Page]:
    line.opened.clear()
    line.cut.clear()
    context = browser.new_context()
    tab = context.new_page()
    tab.goto(line.address + PAGE)
    yield tab
    line.opened.set()
    context.close()


def begun(tab: Page, text: str) -> Exercise:
    """Exercise 2.2 while Python is coming, with half of it there."""
    second = Exercise(tab, "2.2")
    second.text.fill(text)
    second.place.locator(".in-page-check").click()
    tab.wait_for_function(PART)
    assert "MB, only the first time" in second.status.inner_text()
    assert tab.evaluate("document.querySelector('.in-page-status progress').value") < 1
    return second


def test_progress_is_shown_and_the_check_goes_on_when_the_rest_comes(tab: Page, line: Line) -> None:
    second = begun(tab, WRONG)
    second.text.fill(RIGHT)  # one can go on writing meanwhile
    line.opened.set()
    assert second.wait() == "passed"


def test_stop_ends_the_wait_and_the_next_check_begins_anew(tab: Page, line: Line) -> None:
    second = begun(tab, RIGHT)
    second.button("Stop").click()
    assert second.wait() == "error" and second.status.inner_text() == "Stopped."
    line.opened.set()
    assert second.check() == "passed"


def test_a_connection_that_breaks_is_no_verdict_and_another_attempt_works(tab: Page, line: Line) -> None:
    second = begun(tab, RIGHT)
    line.cut.set()
    assert second.wait() == "ours"
    assert second.status.inner_text().startswith("The checker failed, not your answer.")
    assert second.button("Try again").is_visible()
    line.opened.set()
    assert second.check() == "passed"


def test_where_no_room_is_left_python_is_fetched_and_works(tab: Page, line: Line) -> None:
    line.opened.set()
    session = tab.context.new_cdp_session(tab)
    session.send("Storage.overrideQuotaForOrigin", {"origin": line.address.rstrip("/"), "quotaSize": 1})
    second = Exercise(tab, "2.2")
    assert second.check(WRONG) == "failed"
    assert second.check(RIGHT) == "passed"
