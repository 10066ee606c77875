"""A page's notebook opens on Colab, Binder and a JupyterHub: the course's, or the reader's own."""

from __future__ import annotations

import sys
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest
from playwright.sync_api import Browser, Page

from autograder.build.urls import binder_url, colab_url, hub_query
from autograder.course.paths import BOOK

from .conftest import PHONE
from .pages import parsed

sys.path.insert(0, str(BOOK / "_extensions"))
import launch_buttons  # noqa: E402


@pytest.fixture
def tab(browser: Browser) -> Page:
    """A phone; whatever hub it opens answers."""
    context = browser.new_context(viewport=PHONE)
    context.route("https://hub.example.org/**", lambda route: route.fulfill(body="a hub"))
    yield context.new_page()
    context.close()


def test_a_page_names_the_three_and_asks_for_the_hub(site: Path) -> None:
    links = parsed(site, "chapters/04-masks").select("details.launch-buttons a")
    assert {link.get_text(strip=True): link["href"] for link in links} == {
        "Binder": binder_url("04-masks"),
        "Colab": colab_url("04-masks"),
        "JupyterHub": "../guides/learner.html?notebook=04-masks#sec-learner-hub",
    }


def test_the_hub_of_the_settings_is_opened_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(launch_buttons.ADDRESS, "JupyterHub", lambda notebook: f"https://hub.example.org/{notebook}")
    (button,) = buttons = [{"type": "link", "text": "JupyterHub", "url": "what the theme wrote"}]

    class Builder:
        def get_relative_uri(self, here: str, there: str) -> str:
            return "not asked for"

    class Environment:
        metadata: dict[str, dict[str, str]] = {}

    class App:
        builder, env = Builder(), Environment()

    groups = [{"type": "group", "label": "launch-buttons", "buttons": buttons}]
    launch_buttons.lead_to_notebook(App(), "chapters/04-masks", "page.html", {"header_buttons": groups}, None)
    assert buttons == [button] and button["url"] == "https://hub.example.org/04-masks"


@pytest.mark.parametrize("typed", ["https://hub.example.org", "https://hub.example.org/hub/home?next=/"])
def test_the_readers_hub_gets_the_page_and_is_remembered(typed: str, tab: Page, address: str) -> None:
    tab.goto(f"{address}chapters/04-masks.html", wait_until="load")
    tab.locator(".launch-buttons summary").click()
    tab.get_by_role("link", name="JupyterHub").click()
    tab.get_by_label("Address of your hub").fill(typed)
    tab.get_by_role("button", name="Open 04-masks").click()
    tab.wait_for_url("https://hub.example.org/**")
    opened = urlsplit(tab.url)
    assert opened.path == "/hub/user-redirect/git-pull"
    assert dict(parse_qsl(opened.query)) == hub_query("04-masks")
    tab.goto(f"{address}guides/learner.html?notebook=ps3", wait_until="load")
    assert tab.get_by_label("Address of your hub").input_value() == "https://hub.example.org"
    assert tab.get_by_role("button", name="Open ps3").is_visible()


def test_an_address_that_is_typed_while_the_page_loads_stays(tab: Page, address: str) -> None:
    waiting = []
    tab.route("**/hub.js*", lambda route: waiting.append(route))
    tab.goto(f"{address}guides/learner.html", wait_until="commit")
    tab.get_by_label("Address of your hub").fill("https://hub.example.org")
    (script,) = waiting
    script.continue_()
    tab.wait_for_load_state("load")
    assert tab.get_by_label("Address of your hub").input_value() == "https://hub.example.org"


def test_no_other_address_and_no_other_file_is_opened(tab: Page, address: str) -> None:
    tab.goto(f"{address}guides/learner.html?notebook=../../x", wait_until="load")
    tab.get_by_label("Address of your hub").fill("javascript:alert(1)")
    tab.get_by_role("button", name="Open problem set 1").click()
    tab.wait_for_timeout(200)
    assert tab.url.startswith(address)
