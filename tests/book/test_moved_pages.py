"""An address that a page had before it moved leads to the page, also to a part of it that went elsewhere."""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from playwright.sync_api import Browser

from autograder.build import urls
from autograder.course.paths import BOOK

from .pages import all_pages, parsed

sys.path.insert(0, str(BOOK / "_extensions"))
import moved_pages  # noqa: E402

MOVED = yaml.safe_load((BOOK / "_config.yml").read_text("utf-8"))["sphinx"]["config"]["moved_pages"]
PAGES = urls.moved_pages()


def test_the_addresses_of_0_5_0_that_are_gone_are_all_there() -> None:
    assert {"chapters/09-efficient", "chapters/10-sequence-to-sequence"} == set(PAGES)


def test_an_old_address_forwards_where_no_script_runs(browser: Browser, address: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    for old, now in PAGES.items():
        tab = context.new_page()
        tab.goto(f"{address}{old}.html")
        tab.wait_for_url(f"{address}{now}.html")
        assert tab.locator("article h1").count() == 1
    context.close()


def test_a_part_is_found_on_the_page_that_has_it_now(browser: Browser, address: str, site: Path) -> None:
    context, parts = browser.new_context(), {}
    stayed = {
        "09-efficient#sec-roofline": "11-efficient",
        "10-sequence-to-sequence#sec-attend": "09-sequence-to-sequence",
    }
    for part, now in {**MOVED, **{f"chapters/{old}": f"chapters/{now}" for old, now in stayed.items()}}.items():
        page, mark, name = part.partition("#")
        if mark:
            tab = context.new_page()
            tab.goto(f"{address}{page}.html#{name}")
            tab.wait_for_url(f"{address}{now}.html#{name}")
            tab.close()
            parts.setdefault(now, []).append(name)
    context.close()
    for now, names in parts.items():
        on_the_page = {tag["id"] for tag in parsed(site, now).find_all(id=True)}
        assert on_the_page.issuperset(names), now


def test_a_set_that_took_anothers_name_says_at_its_top_where_that_went(site: Path) -> None:
    for name, places in {"ps8": {"ps9.html", "ps10.html"}, "ps9": {"ps8.html"}}.items():
        note = parsed(site, f"problem-sets/{name}").select_one("article h1").find_next(class_="admonition")
        assert {link["href"].partition("#")[0] for link in note.find_all("a")} == places


@pytest.mark.parametrize("moved", [{"chapters/04-masks": "index"}, {"chapters/99-gone": "chapters/98-gone"}])
def test_a_page_that_is_there_and_a_target_that_is_gone_are_warned_of(
    moved: dict[str, str], tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(moved_pages, "LOG", logging.getLogger("moved pages"))
    monkeypatch.setattr(moved_pages, "write_forward", lambda *arguments: None)
    app = SimpleNamespace(
        builder=SimpleNamespace(format="html"),
        config=SimpleNamespace(moved_pages=moved),
        env=SimpleNamespace(found_docs=set(all_pages())),
        outdir=tmp_path,
    )
    moved_pages.write_forwards(app, None)
    assert "is to forward to" in caplog.text


def test_a_page_that_stayed_forwards_the_parts_that_moved_and_no_others() -> None:
    moved = {"chapters/05-heads#sec-wide": "deeper/loop", "chapters/04-masks#sec-far": "deeper/far"}
    app = SimpleNamespace(
        config=SimpleNamespace(moved_pages=moved),
        builder=SimpleNamespace(get_target_uri=lambda page: f"{page}.html"),
    )
    here: dict[str, str] = {"metatags": "<meta>"}
    moved_pages.forward_parts(app, "chapters/05-heads", "page.html", here, None)  # type: ignore[arg-type]
    assert here["metatags"].startswith("<meta><script>") and '{"#sec-wide": "../deeper/loop.html"}' in here["metatags"]
    other: dict[str, str] = {}
    moved_pages.forward_parts(app, "chapters/06-positions", "page.html", other, None)  # type: ignore[arg-type]
    assert other == {}
