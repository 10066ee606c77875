"""The built book, served, once for all tests of its pages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext

from autograder.build.serving import served
from autograder.build.site import build_book, is_fresh
from autograder.build.urls import site_url
from autograder.course.paths import BOOK

PHONE = {"width": 390, "height": 844}
BUILDING = 1800  # seconds; with every page on record it takes half a minute


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the built site: the one in book/_build where it is fresh, else one built for these tests."""
    if is_fresh(BOOK):
        return build_book(BOOK)
    shared = tmp_path_factory.getbasetemp()
    shared = shared.parent if shared.name.startswith("popen") else shared  # the workers of one run share one build
    return build_book(shared / "book")


@pytest.fixture(scope="session")
def address(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where the site is served, with a slash at its end: below the path that it has when it is published."""
    path = urlsplit(site_url()).path
    host = tmp_path_factory.mktemp("host") / "root"
    (host / path.strip("/")).parent.mkdir(parents=True, exist_ok=True)
    (host / path.strip("/")).symlink_to(site)
    with served(host) as address:
        yield address + path.lstrip("/")


@pytest.fixture(scope="module")
def phone(browser: Browser) -> BrowserContext:
    """A browser as wide as a phone; pages opened in it share what they have loaded."""
    return browser.new_context(viewport=PHONE)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give time to build the site to whichever test asks for it first: stale pages are executed."""
    for item in items:
        if "site" in getattr(item, "fixturenames", ()) and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(BUILDING))
