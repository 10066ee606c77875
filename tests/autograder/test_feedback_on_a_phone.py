"""On a narrow page of feedback the points stay in their column."""

import pytest

from autograder.gradebook.feedback.writing import write_pages
from selfcheck.catalogue import exercises

from .judged_class import enter, judged_course
from .shared_courses import copy_of

LONGEST = max((exercise.symbol for exercise in exercises()), key=len)
RENAME = f"document.querySelectorAll('.verdicts code').forEach(one => one.textContent = '{LONGEST}')"
LINES = """name => Array.from(document.querySelectorAll('.verdicts code')).filter(one => one.textContent == name)
    .flatMap(one => Array.from(one.childNodes)).filter(one => one.nodeType == Node.TEXT_NODE)
    .map(one => { const part = document.createRange(); part.selectNode(one); return part.getClientRects().length })"""
BESIDE = """Array.from(document.querySelectorAll('.verdicts li > *'))
    .map(one => one.getBoundingClientRect().right - one.parentElement.getBoundingClientRect().right)"""


def broken(symbol):
    """A name as the page has it: it may go on in another line behind an underscore."""
    return "<code>" + symbol.replace("_", "_<wbr>") + "</code>"


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """The feedback page of somebody who is partly right."""
    with judged_course(tmp_path_factory) as judged:
        course = copy_of(judged, tmp_path_factory.mktemp("feedback") / "course")
    enter(course)
    assert [one.trouble for one in write_pages(course, "ps1", ["carla"])] == [""]
    return course.feedback("carla", "ps1") / "ps1.html"


@pytest.mark.parametrize("width", [320, 390, 1280])
def test_the_longest_name_of_an_exercise_pushes_no_points_out_of_their_column(page, browser, width):
    context = browser.new_context(viewport={"width": width, "height": 900})
    tab = context.new_page()
    tab.goto(page.as_uri(), wait_until="load")
    tab.evaluate(RENAME)
    beside = tab.evaluate(BESIDE)
    context.close()
    assert len(beside) > 6 and max(beside) < 1


@pytest.mark.parametrize("width", [320, 390])
def test_a_name_is_broken_behind_its_underscores_alone(page, browser, width):
    text = page.read_text(encoding="utf-8")
    (symbol, *_) = (one.symbol for one in exercises() if one.problem_set == "ps1" and "_" in one.symbol)
    assert (name := broken(symbol)) in text
    context = browser.new_context(viewport={"width": width, "height": 900})
    tab = context.new_page()
    tab.set_content(text.replace(name, broken(LONGEST)), wait_until="load")
    lines = tab.evaluate(LINES, LONGEST)
    context.close()
    assert lines and set(lines) == {1}
