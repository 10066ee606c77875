"""The class report: its numbers counted by hand, its page and its terminal form."""

import json
import re
import tomllib
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from click.testing import CliRunner

from autograder import pipeline
from autograder.__main__ import main
from autograder.build.urls import site_url
from autograder.course.folder import Course
from autograder.course.paths import ROOT
from autograder.report import page as report_page
from autograder.report.bins import binned
from autograder.report.summary import class_report
from selfcheck.catalogue import exercises, in_problem_set
from selfcheck.sections import address_of, title_of

from .class_records import file_record, hand_in, in_a_terminal
from .honest_answers import ANSWERS, module

SOFTMAX, LAYER = "worked_example.softmax", "worked_example.self_attention"
OVER = {"failed": ("softmax_rows", "softmax_axis"), "misconception": "over_the_queries"}
EMPTY = {"failed": ("softmax_empty_row",), "misconception": "empty_row_nan"}
EVIL = '<script>alert(1)</script><img src="https://evil.example/x"> \x1b[2J \u202eevil'


@pytest.fixture
def course(tmp_path):
    """Five learners: two idle in the axis, one on the empty row, two with everything right and the same code."""
    course = Course.open(tmp_path / "course")
    file_record(course, "ana", source=module(ANSWERS["long"]), seconds=1.0)
    file_record(course, "ben", source=module(ANSWERS["long"]).replace("queries", "mine"), seconds=2.0)
    outcome = {SOFTMAX: OVER, LAYER: {"skipped": ("all",)}}
    file_record(course, "eve", outcome, source=module(ANSWERS["dot"]), seconds=4.0)
    file_record(course, "ida", outcome, source=module(ANSWERS["matmul"]), seconds=30.0)
    file_record(course, "leo", {SOFTMAX: EMPTY}, remarks=["torch.py is no part of it: left out"], seconds=3.0)
    return course


def of(report, exercise):
    return next(one for one in report.exercises if one.id == exercise)


def test_pass_rates_are_those_counted_by_hand(course):
    found = class_report(course, "ps1")
    assert [len(one.passed) for one in found.exercises] == [5, 5, 2, 5, 3]
    assert of(found, SOFTMAX).rate == 2 / 5
    assert of(found, SOFTMAX).mean == (13 + 13 + 11 + 11 + 12) / 5 and of(found, LAYER).mean == (9 + 9 + 0 + 0 + 9) / 5
    assert found.totals["ana"] == (42, 42) and found.totals["eve"] == (31, 42) and found.median == 41


def test_each_mechanism_is_counted_by_verdict_and_hidden_ones_are_marked(course):
    checks = of(class_report(course, "ps1"), SOFTMAX).checks
    assert checks["softmax_rows"].verdicts == {"passed": 3, "failed": 2} and checks["softmax_rows"].rate == 3 / 5
    assert checks["softmax_empty_row"].verdicts == {"passed": 4, "failed": 1}
    skipped = of(class_report(course, "ps1"), LAYER).checks
    assert {tuple(sorted(one.verdicts.items())) for one in skipped.values()} == {(("passed", 3), ("skipped", 2))}
    visible = set(next(one for one in in_problem_set("ps1") if one.id == SOFTMAX).points)
    soup = BeautifulSoup(report_page.page(class_report(course, "ps1")), "html.parser")
    rows = [row for row in table_of(soup, "Checks by exercise") if row[0] == checks["softmax_rows"].sees]
    assert rows == [[checks["softmax_rows"].sees, "3 of 5 (60 %)", "2", "0"]]
    assert {name for name, check in checks.items() if check.hidden} == set(checks) - visible != set()


def test_misconceptions_come_by_frequency_each_learner_once_with_the_section_to_reread(course):
    met = class_report(course, "ps1").met
    assert [(one.id, one.count) for one in met] == [("over_the_queries", 2), ("empty_row_nan", 1)]
    assert met[0].reread == "“Along which axis?”"
    assert met[0].address == f"{site_url()}chapters/02-worked-example.html#sec-softmax-axis"
    assert met[0].message.startswith("Your columns sum to 1")


def test_every_misconception_of_the_catalogue_has_a_section_to_reread():
    entries = [entry for exercise in exercises() for entry in exercise.misconceptions]
    assert len(entries) > 300
    for entry in entries:
        assert title_of(entry.section).startswith("“"), entry
        assert address_of(entry.section).endswith(f"#{entry.section}"), entry


def test_a_misconception_that_the_catalogue_has_lost_is_counted_all_the_same(course):
    file_record(course, "old", {SOFTMAX: OVER | {"misconception": "of_yesterday"}})
    (lost,) = (one for one in class_report(course, "ps1").met if one.id == "of_yesterday")
    assert lost.count == 1 and "grade again" in lost.message


def test_the_graders_fault_counts_for_nobody_and_is_to_be_looked_at(course):
    before = class_report(course, "ps1")
    file_record(course, "zoe", {SOFTMAX: {"failed": ("all",)}}, grader_error=True)
    after = class_report(course, "ps1")
    assert [one.rate for one in after.exercises] == [one.rate for one in before.exercises]
    assert "zoe" not in after.totals and after.to_look_at()["zoe"] == ["the grader failed: not graded"]


def test_what_is_damaged_or_not_graded_is_to_be_looked_at(course):
    (course.root / "results" / "ps1" / "max.json").write_text("{")
    hand_in(course, "new", "x = 1")
    looks = class_report(course, "ps1").to_look_at()
    assert set(looks) == {"leo", "max", "new"}
    assert "run grade" in looks["max"][0] and "run grade" in looks["new"][0]


@pytest.mark.parametrize("name", ["zoe\udcff", "x" * 255], ids=["no text", "too long for a file"])
def test_a_folder_of_any_name_stops_neither_the_report_nor_the_beginning_of_a_grading(course, monkeypatch, name):
    started = []
    for one in ("start_fork_server", "start_reading", "expect_watch"):
        monkeypatch.setattr(pipeline, one, lambda *arguments: started.append(arguments))
    course.submitted(name, "ps1").mkdir(parents=True)
    pipeline.start_early(course, "ps1", "none", False)
    assert len(started) == 3
    assert report_page.page(class_report(course, "ps1")).encode()


def test_nothing_graded_is_said_in_a_line(tmp_path):
    course = Course.open(tmp_path / "course")
    with pytest.raises(FileNotFoundError, match="run grade ps1 first"):
        class_report(course, "ps1")


def test_grades_of_several_graders_are_told(course):
    assert "versions of the grader" not in report_page.page(class_report(course, "ps1"))
    file_record(course, "old", grader="another")
    found = class_report(course, "ps1")
    assert "2 versions of the grader: run <code>grade</code> to bring them to one." in report_page.page(found)
    assert "2 versions" in in_a_terminal(found)


def test_time_is_told_by_submission_and_by_exercise_where_the_record_has_it(course):
    text = report_page.page(class_report(course, "ps1"))
    assert "3.0 s for the median submission, 30.0 s for the longest and 40 s for all" in text
    assert "Seconds per exercise" not in text
    path = course.result_file("ana", "ps1")
    record = json.loads(path.read_text())
    for number, exercise in enumerate(record["exercises"]):
        exercise["seconds"] = 0.5 + number
    path.write_text(json.dumps(record))
    table = table_of(
        BeautifulSoup(report_page.page(class_report(course, "ps1")), "html.parser"), "Seconds per exercise"
    )
    assert [row[1:] for row in table] == [[f"{0.5 + number:.2f}"] * 2 for number in range(5)]


def test_what_a_submission_used_stands_beside_its_time_where_the_record_has_it(course):
    file_record(course, "ida", seconds=30.0, used={"processor_seconds": 12.25, "peak_mib": 512, "complete": True})
    file_record(course, "eve", seconds=4.0, used={"processor_seconds": "many"})
    page = BeautifulSoup(report_page.page(class_report(course, "ps1")), "html.parser")
    table = table_of(page, "The submissions that took longest")
    assert table[:2] == [["ida", "30.0", "12.2", "512"], ["eve", "4.0", "", ""]]


def test_code_that_is_alike_is_told_with_what_it_does_not_prove(course):
    found = class_report(course, "ps1")
    assert [group.students for group in found.similar.groups] == [("ana", "ben")]
    for text in (report_page.page(found), " ".join(in_a_terminal(found).split())):
        assert "proves nothing" in text and "the same but for names and layout" in text
    assert "proves nothing" not in in_a_terminal(class_report(without(course, "ben"), "ps1"))


def without(course, student):
    course.result_file(student, "ps1").unlink()
    return course


def test_a_link_in_place_of_a_module_is_not_followed(course, tmp_path):
    outside = tmp_path / "outside.py"
    outside.write_text(module(ANSWERS["long"]))
    file_record(course, "sly")
    folder = course.submitted("sly", "ps1") / "attention"
    folder.mkdir(parents=True)
    (folder / "worked_example.py").symlink_to(outside)
    (group,) = class_report(course, "ps1").similar.groups
    assert group.students == ("ana", "ben")


def table_of(soup, caption):
    """The cells of a table's rows, those that name a group left out."""
    for alias in soup.select(".alias"):  # what stands for a name where names are hidden
        alias.decompose()
    (found,) = (one for one in soup.find_all("table") if one.caption.get_text() == caption)
    rows = ([cell.get_text() for cell in row.find_all(["th", "td"])] for row in found.select("tbody tr"))
    return [row for row in rows if len(row) > 1]


def test_every_plot_says_its_numbers_in_words_and_in_a_table(course):
    soup = BeautifulSoup(report_page.page(class_report(course, "ps1")), "html.parser")
    plots = soup.find_all("svg")
    assert len(plots) == 3
    for plot in plots:
        title, text = plot["aria-labelledby"].split()
        assert plot["role"] == "img" and plot.find(id=title).get_text() and ":" in plot.find(id=text).get_text()
    points = dict(table_of(soup, "Learners by points for code, of those who started"))
    assert sum(map(int, points.values())) == 5 and points["40–42"] == "3" and points["30–34"] == "2"
    assert [row[1] for row in table_of(soup, "Passes and points by exercise")][2] == "2 of 5 (40 %)"
    assert [row[:2] for row in table_of(soup, "Misconceptions by frequency")] == [
        ["2.3 over_the_queries", "2"],
        ["2.3 empty_row_nan", "1"],
    ]
    bars = [float(bar["width"]) for bar in plots[1].select("rect.bar")]
    assert bars == [200, 200, 80, 200, 120], "as long as the shares of 5, 5, 2, 5 and 3 learners in 5"


def test_the_page_has_an_outline_and_every_table_names_its_rows_and_columns(course):
    soup = BeautifulSoup(report_page.page(class_report(course, "ps1")), "html.parser")
    assert soup.html["lang"] == "en" and len(soup.find_all("h1")) == 1
    assert {one.name for one in soup.find_all(re.compile("^h[1-6]$"))} == {"h1", "h2"}
    identities = [one["id"] for one in soup.select("[id]")]
    assert len(identities) == len(set(identities))
    assert {link["href"].removeprefix("#") for link in soup.select("nav a")} <= set(identities)
    assert len(soup.find_all("table")) >= 7
    for table in soup.find_all("table"):
        assert table.caption.get_text() and table.thead
        assert all(cell["scope"] == "col" for cell in table.select("thead th"))
        assert {cell["scope"] for cell in table.select("tbody th")} <= {"row", "rowgroup"}
        assert all(row.th for row in table.select("tbody tr"))


def test_the_page_asks_nobody_and_runs_nothing_whatever_learners_write(course):
    file_record(course, EVIL, {SOFTMAX: OVER}, name="evil", remarks=[EVIL], isolation=f"none {EVIL}")
    (course.root / "results" / "ps1" / "<b>.json").write_text("{")
    soup = BeautifulSoup(report_page.page(class_report(course, "ps1")), "html.parser")
    assert not soup.find_all(["script", "img", "iframe", "object", "embed", "link", "b"])
    assert not [one for one in soup.find_all(True) for name in one.attrs if name.startswith("on") or name == "src"]
    assert {link["href"] for link in soup.find_all("a") if not link["href"].startswith(("#", site_url()))} == set()
    assert "url(" not in soup.style.get_text() and "@import" not in soup.style.get_text()
    text = soup.get_text()
    assert "<script>alert(1)" in text and "\\x1b[2J" in text and "\\u202e" in text
    assert all(one == "\n" or one.isprintable() for one in text)


def test_the_terminal_form_fits_80_columns_and_obeys_nothing(course):
    file_record(course, EVIL, {SOFTMAX: OVER}, name="evil", remarks=[EVIL * 9])
    text = in_a_terminal(class_report(course, "ps1"))
    assert max(map(len, text.splitlines())) <= 80 and all(one == "\n" or one.isprintable() for one in text)
    for told in (
        "2.3 softmax",
        "2/6",
        "3  2.3 over_the_queries",
        "Along which axis?",
        "leo: torch.py",
        "To look at",
    ):
        assert told in text


def test_a_large_class_stays_short_on_the_terminal(tmp_path):
    course = Course.open(tmp_path / "course")
    for number in range(150):
        file_record(course, f"s{number:03}", remarks=[f"remark {number}"])
    found = class_report(course, "ps1")
    text = in_a_terminal(found)
    assert len(text.splitlines()) < 50 and "and 138 more: on the page" in text
    assert len(table_of(BeautifulSoup(report_page.page(found), "html.parser"), "Submissions that need a look")) == 150


def test_the_command_prints_the_report_and_writes_the_page(course):
    done = CliRunner().invoke(main, ["report", "ps1", "--course", str(course.root)], catch_exceptions=False)
    assert done.exit_code == 0 and done.output.startswith("ps1: 5 submissions, isolation bubblewrap\n")
    page = (course.root / "reports" / "ps1.html").read_text(encoding="utf-8")
    assert "".join(done.output.split()).endswith(f"written:{course.root}/reports/ps1.html")
    assert page == report_page.page(class_report(course, "ps1"))


@pytest.mark.parametrize("most", [0, 1, 7, 42, 100])
def test_every_number_of_points_is_in_one_bin(most):
    found = binned(list(range(most + 1)), most)
    assert sum(count for _, count in found) == most + 1 and len(found) <= 11
    assert found[-1][0].endswith(str(most))


def test_what_the_page_is_made_of_is_shipped_with_the_package():
    folder = Path(report_page.__file__).parent
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]
    shipped = {path for pattern in settings["package-data"]["autograder.report"] for path in folder.glob(pattern)}
    assert shipped == {path for path in folder.rglob("*") if path.is_file() and path.suffix not in (".py", ".pyc")}
    assert len(shipped) == 4
