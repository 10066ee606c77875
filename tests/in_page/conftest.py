"""A small site with the exercises of ps1, served, and a tab with its page."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page

from autograder.build.serving import served

from .places import small_site

PAGE = "chapters/exercises.html"


class Exercise:
    """One exercise of a page, as somebody uses it who sees it."""

    def __init__(self, tab: Page, number: str) -> None:
        self.tab = tab
        self.place = tab.locator(f'.exercise-in-page[data-number="{number}"]')
        self.text = self.place.locator("textarea")
        self.status = self.place.locator(".in-page-status")
        self.report = self.place.locator(".in-page-report")
        self.hints = self.place.locator(".in-page-hints")

    def button(self, name: str) -> Locator:
        return self.place.get_by_role("button", name=name, exact=True)

    @property
    def state(self) -> str | None:
        return self.place.get_attribute("data-state")

    def check(self, text: str | None = None) -> str | None:
        """Types an answer, presses Check and waits for what comes of it."""
        if text is not None:
            self.text.fill(text)
        self.place.locator(".in-page-check").click()
        return self.wait()

    def wait(self) -> str | None:
        handle = self.place.element_handle()
        ended = "one => one.dataset.state && !['loading', 'running'].includes(one.dataset.state)"
        self.tab.wait_for_function(ended, arg=handle, timeout=280_000)
        return self.state


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """The folder of the site and its address."""
    site = small_site(tmp_path_factory.mktemp("page"))
    with served(site) as address:
        yield site, address


@pytest.fixture(scope="module")
def tab(browser: Browser, small: tuple[Path, str]) -> Iterator[Page]:
    """A tab with the page, in which Python is started once."""
    context = browser.new_context(accept_downloads=True)
    tab = context.new_page()
    tab.goto(small[1] + PAGE)
    yield tab
    context.close()


@pytest.fixture
def exercise(tab: Page) -> Callable[[str], Exercise]:
    return lambda number: Exercise(tab, number)
