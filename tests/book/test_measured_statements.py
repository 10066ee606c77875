"""What chapter 9 says of its own training runs, read from the record and from the built page."""

from __future__ import annotations

import re
from pathlib import Path

from bs4 import BeautifulSoup

from autograder.build.executed_pages import COMMITTED, read
from autograder.course.paths import BOOK

PAGE = "chapters/09-sequence-to-sequence"


def _stated() -> list[str]:
    """The statements that the page's last cell checks."""
    source = (BOOK / f"{PAGE}.md").read_text("utf-8")
    (table,) = re.findall(r"^holds = \{\n(.*?)^\}\n", source, re.M | re.S)
    return re.findall(r'^    "(.+?)":', table, re.M)


def _outcomes(printed: str) -> dict[str, bool]:
    """Statement → whether it held."""
    lines = re.findall(r"^(holds|NOT IN THIS RUN)  +(.+)$", printed, re.M)
    return {statement: outcome == "holds" for outcome, statement in lines}


def test_every_statement_holds_in_the_run_on_record() -> None:
    record = read(COMMITTED, PAGE)
    printed = "\n".join(output.get("text", "") for outputs in record.outputs for output in outputs)
    outcomes = _outcomes(printed)
    assert list(outcomes) == _stated() and len(outcomes) > 25
    assert [statement for statement, held in outcomes.items() if not held] == []


def test_every_statement_holds_in_the_run_that_the_page_shows(site: Path) -> None:
    """On another processor too: with vector units of another width, which round otherwise, every statement held."""
    html = (site / f"{PAGE}.html").read_text("utf-8")
    outcomes = _outcomes(BeautifulSoup(html, "html.parser").get_text())
    assert list(outcomes) == _stated()
    assert [statement for statement, held in outcomes.items() if not held] == []
