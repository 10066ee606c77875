"""What chapters and deeper pages say of their own training runs, read from the record and from the built page."""

from __future__ import annotations

import ast
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


CLOCKS = {"process_time", "perf_counter", "cpu_seconds", "checked_seconds"}


def _timed_functions() -> set[str]:
    """The studies' functions, "clocks.layer_times", that look at a clock, or call one of their module that does."""
    uses: dict[str, set[str]] = {}
    for file in (BOOK / "studies").glob("*.py"):
        for function in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(function, ast.FunctionDef):
                names = (getattr(node, "id", None) or getattr(node, "attr", None) for node in ast.walk(function))
                uses[f"{file.stem}.{function.name}"] = {name for name in names if name}
    timed: set[str] = set()
    while more := {
        name
        for name, used in uses.items()
        if name not in timed
        and used & (CLOCKS | {other.partition(".")[2] for other in timed if other.split(".")[0] == name.split(".")[0]})
    }:
        timed |= more
    return timed


def test_every_page_that_times_says_whether_its_sentences_hold_in_this_build() -> None:
    timed, timing = _timed_functions(), {}
    for page in [*BOOK.glob("chapters/*.md"), *BOOK.glob("deeper/*.md")]:
        text = page.read_text("utf-8")
        cells = "\n".join(re.findall(r"^```\{code-cell\}.*?^```$", text, re.M | re.S))
        modules = re.findall(r"^from studies import (.+)$", cells, re.M)
        known = [name.split(" as ") for names in modules for name in names.split(", ")]
        of = {name[-1]: name[0] for name in known}
        called = {f"{of[name]}.{function}" for name, function in re.findall(r"\b(\w+)\.(\w+)\(", cells) if name in of}
        if called & timed:
            timing[page.stem] = "NOT IN THIS RUN" in cells or re.search(r"^:?tags: .*\bmeasured\b", cells, re.M)
    assert len(timing) >= 9 and "attention-roofline" in timing
    assert [page for page, says in timing.items() if not says] == []
