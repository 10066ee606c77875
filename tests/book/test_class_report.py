"""The class report's page in a real browser."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from autograder.course.folder import Course
from autograder.course.paths import ROOT
from autograder.report.page import write_html
from autograder.report.reread import section
from autograder.report.summary import class_report
from selfcheck.catalogue import exercises
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


def test_sections_to_reread_have_the_numbers_that_the_book_gives_them(site: Path) -> None:
    from bs4 import BeautifulSoup

    labels = {entry.section for exercise in exercises() for entry in exercise.misconceptions}
    pages: dict[str, BeautifulSoup] = {}
    for label in sorted(labels):
        found = section(label)
        name, _, anchor = found.address.partition("#")
        file = f"chapters/{name.rpartition('/')[2]}"
        pages.setdefault(file, BeautifulSoup((site / file).read_text("utf-8"), "html.parser"))
        above = pages[file].find(id=anchor)
        heading = above if above.name in ("h2", "h3") else above.find_next(["h2", "h3"])
        numbered = heading if heading.name == "h2" else heading.find_previous("h2")
        assert found.name.split()[0] == numbered.select_one(".section-number").get_text().rstrip(". \xa0"), label
