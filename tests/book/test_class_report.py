"""The class report's page in a real browser."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from autograder.course.folder import Course
from autograder.course.paths import ROOT
from autograder.report.page import write_html
from autograder.report.summary import class_report
from tests.autograder.class_records import file_record, hand_in
from tests.autograder.honest_answers import ANSWERS, module

from .test_pages import OVERFLOW

WRONG = {"worked_example.softmax": {"failed": ("softmax_rows",), "misconception": "over_the_queries"}}


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report on a class with something of everything in it."""
    course = Course.open(tmp_path_factory.mktemp("report") / "course")
    for number in range(12):
        source = module(ANSWERS["long" if number < 3 else "dot"]) if number < 5 else ""
        remarks = ["a remark with a_very_long_name_that_nothing_can_break" * 3] if number == 7 else []
        outcome = WRONG if number % 3 else {}
        file_record(course, f"learner-with-a-long-name-{number}@school.example", outcome, source, remarks=remarks)
    hand_in(course, "newcomer", "x = 1")
    target = course.root / "reports" / "ps1.html"
    write_html(class_report(course, "ps1"), target)
    return target


@pytest.mark.parametrize("width", [390, 1280])
def test_the_report_fits_has_no_barrier_and_asks_nobody(page: Path, browser: Browser, width: int) -> None:
    context = browser.new_context(viewport={"width": width, "height": 900})
    tab, asked = context.new_page(), []
    tab.on("request", lambda request: asked.append(request.url))
    tab.goto(page.as_uri(), wait_until="load")
    overflow = tab.evaluate(OVERFLOW)
    small = tab.evaluate(
        "[...document.querySelectorAll('svg text')].filter(one => one.getBoundingClientRect().height < 9).length"
    )
    tab.evaluate((ROOT / "node_modules" / "axe-core" / "axe.min.js").read_text("utf-8"))
    found = tab.evaluate("axe.run(document, {resultTypes: ['violations']}).then(result => result.violations)")
    context.close()
    assert asked == [page.as_uri()]
    assert overflow <= 0 and small == 0
    assert [f"{barrier['id']}: {barrier['nodes'][0]['html'][:120]}" for barrier in found] == []


def test_without_scripts_everything_is_there_and_print_hides_no_row(page: Path, browser: Browser) -> None:
    context = browser.new_context(java_script_enabled=False)
    tab = context.new_page()
    tab.goto(page.as_uri(), wait_until="load")
    tab.emulate_media(media="print")
    rows = tab.locator("tbody tr")
    count = rows.count()
    shown = sum(rows.nth(number).is_visible() for number in range(count))
    context.close()
    assert count > 60 and shown == count


def test_the_exercises_alone_have_numbers_of_two_parts(site: Path) -> None:
    from bs4 import BeautifulSoup

    for path in sorted((site / "chapters").glob("*.html")):
        page = BeautifulSoup(path.read_text("utf-8"), "html.parser")
        numbers = [heading.get_text() for heading in page.select("h2 .section-number, h3 .section-number")]
        assert not numbers, f"{path.name}: sections {numbers} look like exercises; see `numbered` in _toc.yml"
