"""Building the book: nothing is done twice, nothing foreign slips in."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from autograder.build.site import CODE, build_book, is_fresh
from autograder.course.paths import BOOK, ROOT

sys.path.insert(0, str(BOOK / "_extensions"))
from own_files_only import ICON_SCRIPT, OTHER_HOST  # noqa: E402


def test_a_second_build_takes_seconds_and_touches_nothing(site: Path) -> None:
    out = site.parent.parent
    page = site / "index.html"
    before = page.stat().st_mtime_ns
    started = time.monotonic()
    assert build_book(out) == site
    assert time.monotonic() - started < 10
    assert page.stat().st_mtime_ns == before


def test_a_book_with_solutions_is_not_one_without(site: Path) -> None:
    out = site.parent.parent
    assert is_fresh(out, solutions=True)
    assert not is_fresh(out, solutions=False)
    assert not is_fresh(out / "elsewhere")


def test_every_page_is_executed_again_when_something_changes_that_pages_import() -> None:
    beside = {f"book/{file.name}" for file in BOOK.glob("*.py")}
    assert "book/figures.py" in beside
    assert beside | {"solutions", "src/selfcheck"} <= set(CODE)


@pytest.mark.parametrize(
    "html",
    [
        '<script src="https://example.org/a.js"></script>',
        '<img alt="" src="//example.org/a.png">',
        '<link href="https://example.org/a.css" rel="stylesheet">',
        '<iframe title="x" src="http://example.org/"></iframe>',
    ],
)
def test_what_another_host_would_serve_is_found(html: str) -> None:
    assert OTHER_HOST.search(html)


def test_links_to_other_hosts_are_no_requests() -> None:
    assert not OTHER_HOST.search('<a href="https://example.org/">text</a><link rel="canonical" href="https://e.org/">')


def test_the_icon_script_is_gone_and_the_icons_are_there(site: Path) -> None:
    assert ICON_SCRIPT.search('\n  <script defer src="../_static/scripts/fontawesome.js?digest=1"></script>')
    for page in site.rglob("*.html"):
        assert "fontawesome.js" not in page.read_text("utf-8"), page.name
    assert list(site.rglob("fa-solid*.woff2"))


def test_the_lockfile_names_no_registry() -> None:
    assert '"resolved"' not in (ROOT / "package-lock.json").read_text("utf-8")
