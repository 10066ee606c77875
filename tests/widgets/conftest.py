"""A folder with a page for each widget, opened from disk."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from .pages import write_page


@pytest.fixture(scope="session")
def widget_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("widgets")


@pytest.fixture
def open_widget(browser: Browser, widget_folder: Path) -> Callable[..., Page]:
    """open_widget(name, view=…, width=1280, dark=False, address="") -> its page, drawn; pages are closed afterwards."""
    opened = []

    def open_it(name: str, width: int = 1280, dark: bool = False, address: str = "", **attributes: str) -> Page:
        page = write_page(widget_folder, name, **attributes)
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme="dark" if dark else "light", reduced_motion="reduce"
        )
        opened.append(context)
        tab = context.new_page()
        tab.goto(page.as_uri() + address)
        tab.wait_for_selector(f"{name} > .w-frame")
        return tab

    yield open_it
    for context in opened:
        context.close()
