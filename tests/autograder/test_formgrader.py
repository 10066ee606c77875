"""An instructor reads and marks in nbgrader's formgrader, in a real browser."""

import re
import subprocess
import sys

import pytest

from autograder.course.paths import ROOT
from autograder.gradebook.rubrics import marking_guides
from autograder.gradebook.scores import scores

from ..formgrader import formgrader_on
from .judged_class import CLASS, enter, judged_course, on_file
from .shared_courses import copy_of

PARTLY = "carla"


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A class that is graded."""
    with judged_course(tmp_path_factory) as judged:
        course = copy_of(judged, tmp_path_factory.mktemp("formgrader") / "course")
    enter(course)
    return course


@pytest.fixture(scope="module")
def formgrader(course, tmp_path_factory):
    with formgrader_on(course.root, tmp_path_factory.mktemp("home")) as address:
        yield address


@pytest.fixture
def page(formgrader, browser):
    """A tab that asks nobody but this server."""
    page = browser.new_page()
    own = formgrader.rpartition("/")[0]
    page.route("**/*", lambda route: route.continue_() if route.request.url.startswith(own) else route.abort())
    yield page
    page.close()


def table_of(page, address):
    """The rows of a table once they are there: the texts of their cells."""
    page.goto(address)
    page.wait_for_function("rows => document.querySelectorAll('tbody tr').length >= rows", arg=len(CLASS))
    return [[one.strip() for one in row.locator("td").all_inner_texts()] for row in page.locator("tbody tr").all()]


def open_submission(page, formgrader, student):
    """From the list of submissions to the one of this student, as an instructor clicks."""
    table_of(page, f"{formgrader}/manage_submissions/ps1")
    page.locator("tr", has=page.get_by_text(student, exact=True)).locator("td a").first.click()
    page.wait_for_url("**/manage_students/**")
    page.get_by_role("link", name="ps1", exact=True).last.click()
    page.wait_for_url("**/submissions/**")
    page.wait_for_function("() => document.querySelector('input.score').placeholder !== ''")


def words(text):
    """A text in one line, as a page may break it anywhere."""
    return " ".join(text.split())


def written(page):
    """The panels of the written questions."""
    return page.locator(".nbgrader_cell", has=page.locator("textarea.comment")).all()


def saved(page, kind):
    """Waits, as a context, until a mark or a comment has come to the server."""
    return page.expect_response(lambda answer: f"/api/{kind}/" in answer.url and answer.request.method == "PUT")


def shown(page, address, name, score="score"):
    """What a list says: by the text of one column, the points in another."""
    page.goto(address)
    page.wait_for_selector(f"tbody td.{score}:not(:empty)")
    rows = page.locator("tbody tr:has(td)").all()
    return {row.locator(f"td.{name}").inner_text().strip(): row.locator(f"td.{score}").inner_text() for row in rows}


def of(points, most):
    """Points as formgrader writes them."""
    return f"{round(points, 2):g} / {most:g}"


def test_every_list_shows_the_points_that_count(course, formgrader, page):
    entered = {one.student: one for one in scores(course, "ps1")}
    finals = {student: of(one.final, one.max_points) for student, one in entered.items()}
    late = {student: one for student, one in entered.items() if one.late_penalty}
    assert late.keys() == {"carla", "dora", "émile"} and len(set(finals.values())) > 2
    assert shown(page, f"{formgrader}/manage_submissions/ps1", "student-id") == finals
    for student, time in shown(page, f"{formgrader}/manage_submissions/ps1", "student-id", "timestamp").items():
        taken = f"late: −{round(late[student].late_penalty, 2):g} points" if student in late else ""
        assert time.partition(", ")[2] == taken, student
    assert shown(page, f"{formgrader}/manage_students", "id") == finals
    under_numbers = shown(page, f"{formgrader}/gradebook/ps1/ps1", "name")
    assert sorted(under_numbers.values()) == sorted(finals.values()) and not finals.keys() & under_numbers.keys()
    for student in ("ada", "carla"):
        own = f"{formgrader}/manage_students/{student}"
        assert shown(page, own, "name") == shown(page, f"{own}/ps1", "name") == {"ps1": finals[student]}
    mean = of(sum(one.final for one in entered.values()) / len(entered), entered["ada"].max_points)
    assert shown(page, f"{formgrader}/gradebook", "name") == {"ps1": mean}
    assert shown(page, f"{formgrader}/gradebook/ps1", "name", "avg-score") == {"ps1": mean}


def test_a_submission_shows_verdicts_source_and_answer_and_a_mark_given_there_survives_a_regrade(
    course, formgrader, page
):
    open_submission(page, formgrader, PARTLY)
    text = words(page.locator("#notebook").first.inner_text())
    verdicts = [words(exercise.text) for exercise in on_file(course, PARTLY)[1].exercises]
    assert "# submitted: attention/worked_example.py" in text and "def project(*arguments):" in text
    assert len(verdicts) > 1 and all(one in text for one in verdicts)
    criteria = sum(len(guide.rubric) for guide in marking_guides("ps1").values())
    assert page.locator(".marking-guide tr").count() == criteria
    page.locator(".marking-guide summary").first.click()
    assert page.get_by_text("It lies near value 2").is_visible()
    for number, panel in enumerate(written(page), start=1):
        assert "in two parts" in panel.inner_text()
        assert "needs_manual_grade" in panel.locator("input.score").get_attribute("class")
        with saved(page, "grade"):
            panel.locator("input.score").fill(str(number))
            panel.locator("textarea.comment").focus()
        with saved(page, "comment"):
            panel.locator("textarea.comment").fill("Well put.")
            panel.locator("input.score").focus()
    with saved(page, "grade"):
        page.locator("input#worked_example-softmax").fill("2")
        page.locator("textarea.comment").first.focus()
    given = {one.student: one.points for one in scores(course, "ps1")}

    command = [sys.executable, "-m", "autograder", "grade", "ps1", "--regrade", "--course", course.root]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"worked_example\.softmax \d+ → 2 by \w+, \d{4}-", " ".join(done.stdout.split()))
    before = {one.student: one for one in scores(course, "ps1")}
    assert {student: one.points for student, one in before.items()} == given
    open_submission(page, formgrader, PARTLY)
    fields = [panel.locator("input.score") for panel in written(page)]
    assert [field.input_value() for field in fields] == ["1", "2"]
    assert not [field for field in fields if "needs_manual_grade" in field.get_attribute("class")]
    assert [panel.locator("textarea.comment").input_value() for panel in written(page)] == ["Well put."] * 2
    after = {row[1]: row[3:5] for row in table_of(page, f"{formgrader}/manage_submissions/ps1")}
    assert after[PARTLY] == ["graded", of(before[PARTLY].final, before[PARTLY].max_points)]
