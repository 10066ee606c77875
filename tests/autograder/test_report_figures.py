"""The figures of a class report: who counts, discrimination, sections, and a report without names."""

import json
import re
import statistics

import pytest
from bs4 import BeautifulSoup
from click.testing import CliRunner

from autograder.__main__ import main
from autograder.course.folder import Course
from autograder.gradebook.scores import Score
from autograder.report import anonymous
from autograder.report import page as report_page
from autograder.report.anonymous import without_names
from autograder.report.attempts import BLANK, MISPACKED, STARTED, attempt_of, attempts_of
from autograder.report.statistics import discrimination, distribution, interval, sections
from autograder.report.summary import class_report

from .class_records import file_record, in_a_terminal

SOFTMAX, LAYER = "worked_example.softmax", "worked_example.self_attention"
WRONG = {"failed": ("softmax_rows", "softmax_axis"), "misconception": "over_the_queries"}
STUB = "2.3 A stable softmax (worked_example.softmax): not started yet\n  write your answer in …"
IN_CELLS = "Your code for softmax is in the notebook. …\n" + STUB


def exercise(text="2.3 A stable softmax (worked_example.softmax): 5 of 13 checks pass", id=SOFTMAX):
    return {"id": id, "text": text}


@pytest.mark.parametrize(
    ("record", "kind"),
    [
        ({"exercises": [exercise()], "files": {"worked_example.py": "0"}}, STARTED),
        ({"exercises": [exercise(STUB)], "files": {"worked_example.py": "0"}}, BLANK),
        ({"exercises": [exercise(IN_CELLS)], "files": {"worked_example.py": "0"}}, MISPACKED),
        ({"exercises": [exercise()], "files": {"masks.py": "0"}}, MISPACKED),
        ({"exercises": [exercise()]}, STARTED),  # of a version that wrote no files
        ({"exercises": [exercise(STUB), exercise(id=LAYER)], "files": {"worked_example.py": "0"}}, STARTED),
    ],
)
def test_work_that_tells_nothing_of_an_exercise_is_told_apart(record, kind):
    assert attempt_of(attempts_of(record).values()) == kind


@pytest.fixture
def course(tmp_path):
    """Ten with a mistake and ten without, of whom some have another; one blank, one without the module."""
    course = Course.open(tmp_path / "course")
    for number in range(20):
        outcome = {SOFTMAX: WRONG} if number % 2 else {}
        outcome |= {LAYER: {"failed": ("all",)}} if number in (1, 3, 5, 6) else {}
        file_record(course, f"s{number:02}@school", outcome, files={"worked_example.py": "0"})
    file_record(course, "blank", {SOFTMAX: {"failed": ("all",)}}, files={"worked_example.py": "0"})
    rename(course, "blank")
    file_record(course, "lost", {SOFTMAX: {"failed": ("all",)}}, files={})
    return course


def rename(course, student):
    """Have every exercise of a record say that it was not started."""
    path = course.result_file(student, "ps1")
    record = json.loads(path.read_text())
    for one in record["exercises"]:
        one["text"] = f"{one['number']} A title ({one['id']}): not started yet"
    path.write_text(json.dumps(record))


def of(report, exercise):
    return next(one for one in report.exercises if one.id == exercise)


def test_blank_and_mispackaged_work_lowers_no_rate(course):
    report = class_report(course, "ps1")
    assert (report.of_attempt(BLANK), report.of_attempt(MISPACKED)) == (["blank"], ["lost"])
    softmax = of(report, SOFTMAX)
    assert (softmax.rate, softmax.blank, softmax.missing) == (0.5, ["blank"], ["lost"])
    assert (
        report.mean == statistics.mean(report.totals[name][0] for name in report.started) and len(report.started) == 20
    )
    text = in_a_terminal(report)
    assert "22 submissions: 20 started, 1 blank, 1 mispackaged" in text
    soup = BeautifulSoup(report_page.page(report), "html.parser")
    (row,) = [row for row in soup.select("tbody tr") if row.th.get_text() == "mispackaged"]
    assert row.select_one(".number").get_text() == "1" and row.select_one(".id").get_text() == "lost"


def test_discrimination_is_the_correlation_of_passing_with_the_points_elsewhere(course):
    report = class_report(course, "ps1")
    softmax = of(report, SOFTMAX)
    rest = {name: report.totals[name][0] - softmax.points[name] for name in softmax.points}
    passes, fails = ([rest[name] for name in rest if (name in softmax.passed) == did] for did in (True, False))
    # The point-biserial coefficient by its own formula (Lord and Novick 1968, 15.5), with the population's deviation.
    share = len(passes) / len(rest)
    spread = statistics.pstdev(rest.values())
    by_hand = (statistics.mean(passes) - statistics.mean(fails)) / spread * (share * (1 - share)) ** 0.5
    assert discrimination(report, softmax) == pytest.approx(by_hand, abs=1e-12) and 0 < by_hand < 1
    assert discrimination(report, of(report, "worked_example.project")) is None, "all pass"
    assert f"{by_hand:.2f}" in BeautifulSoup(report_page.page(report), "html.parser").get_text()


def test_in_a_small_class_discrimination_is_not_given_and_that_is_said(course):
    course.result_file("s00@school", "ps1").unlink()
    report = class_report(course, "ps1")
    assert discrimination(report, of(report, SOFTMAX)) is None
    text = BeautifulSoup(report_page.page(report), "html.parser").get_text()
    assert "not given" in text and "fewer than 20 learners" in text and "Henrysson 1963" in text


def test_the_interval_that_the_footnote_tells_is_fishers():
    assert [round(one, 2) for one in interval(0.3, 20)] == [-0.16, 0.66]


def test_a_distribution_of_one_or_of_none_is_told_too():
    assert distribution([]) is None
    one = distribution([3.0])
    assert (one.deviation, one.least, one.middle, one.most) == (None, 3, 3, 3)
    four = distribution([1, 2, 3, 10])
    assert (four.mean, four.lower, four.middle, four.upper) == (4, 1.75, 2.5, 4.75)


def test_sections_are_counted_with_those_who_handed_in_nothing(course):
    report = class_report(course, "ps1")
    graded = Score("s00@school", 40, 50, False, "", 60.0, 4.0, section="A")
    report.scores = {"s00@school": graded}
    report.absent = [Score("idle", 0, 50, False, "", 0.0, graded=False, handed_in=False, section="A")]
    (section,) = sections(report)
    assert (section.name, section.learners, section.handed_in, section.late, section.finals.mean) == ("A", 2, 1, 1, 36)
    text = " ".join(BeautifulSoup(report_page.page(report), "html.parser").get_text(" ").split())
    assert "1 of 1 late, 4 points taken off" in text and "1 on the roster handed in nothing" in text


def test_who_is_behind_a_misconception_is_named(course):
    (met,) = class_report(course, "ps1").met
    assert met.count == 10 and met.students[0] == "s01@school"
    assert "s01@school" in in_a_terminal(class_report(course, "ps1"), 140)


def test_a_report_without_names_holds_none_and_is_the_same_else(course):
    done = CliRunner().invoke(main, ["report", "ps1", "--hide-names", "--course", str(course.root)])
    page = (course.root / "reports" / "ps1-without-names.html").read_text(encoding="utf-8")
    assert done.exit_code == 0 and not (course.root / "reports" / "ps1.html").exists()
    for text in (page, done.output):
        assert "@school" not in text and re.search(r"learner \d", text)
    report = class_report(course, "ps1")
    hidden = without_names(report)
    assert sorted(hidden.totals.values()) == sorted(report.totals.values())
    assert [one.rate for one in hidden.exercises] == [one.rate for one in report.exercises]
    assert hidden.learners == [f"learner {number}" for number in range(1, 23)]
    by_number = sorted(report.aliases, key=lambda name: int(report.aliases[name].split()[1]))
    assert by_number != sorted(report.aliases), "the numbers do not follow the ids"
    assert not hidden.aliases


REMARKS = {
    "is there a loop that never ends? See eve's": "is there a learner 1 that never ends? See learner 2's",
    "gus.ipynb is taken for ps1.ipynb": "learner 3.ipynb is taken for ps1.ipynb",
    "left out: in/MÜLLERps1/xloop_1.py; eve_ps1.zip": "left out: in/learner 4ps1/xlearner 1_1.py; learner 2_ps1.zip",
}


@pytest.mark.parametrize("text", REMARKS)
def test_an_id_is_taken_out_of_a_remark_and_not_out_of_the_words_around_it(text):
    aliases = {"loop": "learner 1", "eve": "learner 2", "gus": "learner 3", "müller": "learner 4", "is": "learner 5"}
    assert anonymous._without(text, aliases) == REMARKS[text]


def test_the_switch_on_the_page_hides_every_name(course, browser):
    target = course.root / "reports" / "ps1.html"
    report_page.write_html(class_report(course, "ps1"), target)
    context = browser.new_context(viewport={"width": 390, "height": 900}, java_script_enabled=False)
    tab = context.new_page()
    tab.goto(target.as_uri(), wait_until="load")
    before = tab.locator("body").inner_text()
    tab.get_by_label("Hide names").check()
    after = tab.locator("body").inner_text()
    context.close()
    assert "s01@school" in before and "learner 2" not in before
    assert "@school" not in after and "learner 2" in after
