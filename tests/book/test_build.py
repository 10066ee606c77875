"""Building the book: nothing is done twice, nothing foreign slips in."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from autograder.__main__ import main
from autograder.build import exercise_text, notebooks, stubs, urls
from autograder.build import site as book
from autograder.build.site import build_book, fingerprint, is_fresh, writers
from autograder.course import extra_checks, policy, settings
from autograder.course.paths import BOOK, ROOT

sys.path.insert(0, str(BOOK / "_extensions"))
from own_files_only import OTHER_HOST  # noqa: E402


def test_a_second_build_touches_nothing(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = site.parent.parent
    before = {page: page.stat().st_mtime_ns for page in site.rglob("*.html")}
    assert build_book(out) == site
    assert {page: page.stat().st_mtime_ns for page in site.rglob("*.html")} == before
    assert capsys.readouterr().out == f"The book is up to date: {site}\n"


def test_a_book_with_solutions_is_not_one_without(site: Path) -> None:
    out = site.parent.parent
    assert is_fresh(out, solutions=True)
    assert not is_fresh(out, solutions=False)
    assert not is_fresh(out / "elsewhere")


def test_the_book_is_built_again_when_something_changes_that_writes_it() -> None:
    writing = {exercise_text, extra_checks, notebooks, urls, settings, stubs, policy}
    assert {Path(module.__file__) for module in writing} <= writers()
    assert set(BOOK.glob("_extensions/*.py")) <= writers()


def test_a_book_is_fresh_where_its_fingerprint_is_that_of_the_repository(tmp_path: Path) -> None:
    (tmp_path / "_build").mkdir()
    file = tmp_path / "_build" / "inputs.sha256"
    file.write_text(fingerprint(True), "utf-8")
    assert is_fresh(tmp_path)
    file.write_text(fingerprint(False), "utf-8")
    assert not is_fresh(tmp_path)


def test_what_is_not_installed_is_named_before_anything_is_built(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "package.json").write_text((ROOT / "package.json").read_text("utf-8"), "utf-8")
    monkeypatch.setattr(book, "ROOT", tmp_path)
    with pytest.raises(book.BookError, match="node_modules lacks esbuild, katex, .*: run npm ci in"):
        build_book(tmp_path / "out", force=True)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(book.BookError, match="Node.js, .* is not installed"):
        build_book(tmp_path / "out", force=True)


def test_the_command_builds_what_it_is_asked_for(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked = []

    def build(out: Path, solutions: bool, force: bool, **options: bool) -> None:
        asked.append((out, solutions, force, options))
        if force:
            raise book.BookError("it has warnings")

    monkeypatch.setattr(book, "build_book", build)
    monkeypatch.delenv("SOLUTIONS", raising=False)
    usual = {"anew": False, "record": False}
    for arguments, expected, status in (
        ([], (BOOK, True, False, usual), 0),
        (["--no-solutions", "--out", str(tmp_path)], (tmp_path, False, False, usual), 0),
        (["--execute-all"], (BOOK, True, False, {"anew": True, "record": False}), 0),
        (["--record"], (BOOK, True, False, {"anew": False, "record": True}), 0),
        (["--force"], (BOOK, True, True, usual), 1),
    ):
        done = CliRunner().invoke(main, ["book", *arguments])
        assert (asked.pop(), done.exit_code) == (expected, status)
    assert "error: it has warnings" in done.output
    monkeypatch.setenv("SOLUTIONS", "no")
    CliRunner().invoke(main, ["book"])
    assert asked == [(BOOK, False, False, usual)]


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


def test_scripts_that_no_page_needs_are_gone_and_the_icons_are_there(site: Path) -> None:
    for page in site.rglob("*.html"):
        text = page.read_text("utf-8")
        assert not [name for name in ("fontawesome.js", "bootstrap.js", "sphinx-thebe") if name in text], page.name
        assert page.name == "search.html" or "searchindex.js" not in text, page.name
    assert list(site.rglob("fa-solid*.woff2"))


def test_the_lockfile_names_no_registry() -> None:
    assert '"resolved"' not in (ROOT / "package-lock.json").read_text("utf-8")
