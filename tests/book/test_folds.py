"""A long output is folded, and the tests of a promise are; the fold says how long each is."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from docutils import nodes
from docutils.utils import new_document

from autograder.course.paths import BOOK

LONG = 20


@pytest.fixture
def folds(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(str(BOOK / "_extensions"))
    import folds

    yield folds
    sys.modules.pop("folds")


def page(folds, *lines, hidden=False):
    """A page whose cells print so many lines each; hidden: in cells that are folded whole"""
    document = new_document("page")
    for count in lines:
        cell = folds.HideCodeCellNode() if hidden else nodes.container(classes=["cell"])
        cell += nodes.container("", nodes.literal_block("", "line\n" * count), classes=["cell_output"])
        document += cell
    document += nodes.literal_block("", "code\n" * 99)
    return document


def test_what_is_longer_than_twenty_lines_is_folded_once(folds) -> None:
    document = page(folds, LONG, LONG + 1)
    folds.FoldLongOutputs(document).run()
    (fold,) = document.findall(folds.fold)
    assert fold["summary"] == "Output: 21 lines" and fold.astext().count("line") == LONG + 1
    assert len(list(document.findall(nodes.literal_block))) == 3


def test_what_is_folded_whole_gets_no_second_fold(folds) -> None:
    document = page(folds, LONG + 1, hidden=True)
    folds.FoldLongOutputs(document).run()
    assert not list(document.findall(folds.fold))


def test_no_page_shows_a_long_output(site: Path) -> None:
    for path in sorted(site.glob("*/*.html")):
        soup = BeautifulSoup(path.read_text("utf-8"), "html.parser")
        for printed in soup.select(".cell_output pre"):
            lines = len(printed.text.rstrip("\n").split("\n"))
            assert lines <= LONG or printed.find_parent("details"), f"{path.stem}: {lines} lines"


def test_the_tests_of_a_promise_are_folded_one_to_a_line_and_may_be_copied_whole(site: Path) -> None:
    soup = BeautifulSoup((site / "guides" / "security.html").read_text("utf-8"), "html.parser")
    folds = soup.select("dd > details.named-tests")
    assert len(folds) >= 14
    for fold in folds:
        names = [code.text for code in fold.select("li code")]
        assert fold.summary.text == f"{len(names)} tests" and names and all("::test_" in name for name in names)
        assert all(code.select("wbr") for code in fold.select("li code"))
