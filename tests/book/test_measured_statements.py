"""What chapters and deeper pages say of their own training runs, read from the record and from the built page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from autograder.build.executed_pages import COMMITTED, read
from autograder.course.paths import BOOK

#: Page → how many statements it makes at least.
PAGES = {
    "chapters/08-classifier": 8,
    "chapters/09-sequence-to-sequence": 11,
    "chapters/10-decoder": 11,
    "deeper/local-and-hard-attention": 3,
    "deeper/order-and-reach": 5,
    "deeper/pairs-and-pooling": 4,
    "deeper/rnn-or-attention-alone": 2,
    "deeper/two-levels-of-attention": 4,
    "deeper/what-an-alignment-shows": 11,
    "deeper/which-library": 6,
}


def _stated(page: str) -> list[str]:
    """The statements that the page's last cell checks."""
    source = (BOOK / f"{page}.md").read_text("utf-8")
    (table,) = re.findall(r"^holds = \{\n(.*?)^\}\n", source, re.M | re.S)
    return re.findall(r'^    "(.+?)":', table, re.M)


def _outcomes(page: str, printed: str) -> dict[str, bool]:
    """Statement of the page's last cell → whether it held. What a cell tagged `measured` states decides no test."""
    lines = re.findall(r"^(holds|NOT IN THIS RUN)  +(.+)$", printed, re.M)
    stated = _stated(page)
    return {statement: outcome == "holds" for outcome, statement in lines if statement in stated}


@pytest.mark.parametrize("page", PAGES)
def test_every_statement_holds_in_the_run_on_record(page: str) -> None:
    record = read(COMMITTED, page)
    printed = "\n".join(output.get("text", "") for outputs in record.outputs for output in outputs)
    outcomes = _outcomes(page, printed)
    assert list(outcomes) == _stated(page) and len(outcomes) >= PAGES[page]
    assert [statement for statement, held in outcomes.items() if not held] == []


@pytest.mark.parametrize("page", PAGES)
def test_every_statement_holds_in_the_run_that_the_page_shows(page: str, site: Path) -> None:
    """On another processor too: with vector units of another width, which round otherwise, every statement held."""
    html = (site / f"{page}.html").read_text("utf-8")
    outcomes = _outcomes(page, BeautifulSoup(html, "html.parser").get_text())
    assert list(outcomes) == _stated(page)
    assert [statement for statement, held in outcomes.items() if not held] == []
