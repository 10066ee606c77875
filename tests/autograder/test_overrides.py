"""Points for code that somebody changes by hand are shown wherever points are, with who did it and when."""

import csv
import re
import sqlite3
from contextlib import closing

import pytest
from click.testing import CliRunner

from autograder.__main__ import main
from autograder.gradebook.audit_log import read_log
from autograder.gradebook.marks_given import FILE, HUB_USER, marks_given
from autograder.gradebook.nbgrader import api
from autograder.gradebook.scores import scores
from autograder.pipeline import grade
from autograder.report.summary import class_report

from .judged_class import judged_course
from .shared_courses import copy_of

CELL, EXERCISE = "worked_example-softmax", "worked_example.softmax"
BY_KIM = re.compile(rf"{EXERCISE} (\d+) → 2 by kim, (\d{{4}}-\d\d-\d\d \d\d:\d\d) UTC")


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    with judged_course(tmp_path_factory) as judged:
        course = copy_of(judged, tmp_path_factory.mktemp("overrides") / "course")
    grade(course, "ps1")
    return course


@pytest.fixture
def course(graded, tmp_path):
    return copy_of(graded, tmp_path / "course")


def mark(course, student="ada", score=2.0, extra=None, cell=CELL):
    """What formgrader does when somebody leaves the field for points."""
    with api(course).gradebook as book:
        found = book.find_grade(cell, "ps1", "ps1", student)
        found.manual_score, found.extra_credit = score, extra
        book.db.commit()


def called(course, *words):
    done = CliRunner().invoke(main, [*words, "--course", str(course.root)], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return " ".join(done.output.split())


@pytest.mark.parametrize("score", [2.0, "2"])  # the second is what formgrader's page sends
def test_grade_report_log_and_exports_name_the_override_who_gave_it_and_when(course, monkeypatch, score):
    monkeypatch.setenv(HUB_USER, "kim")
    mark(course, score=score)
    by_ada, *others = grade(course, "ps1")
    told = BY_KIM.search(" ".join(by_ada.remarks))
    assert told and float(told[1]) > 2 and not any("by hand" in " ".join(line.remarks) for line in others)
    assert by_ada.final == by_ada.points - float(told[1]) + 2
    assert BY_KIM.search(" ".join(called(course, "grade", "ps1").split()))
    assert BY_KIM.search(" ".join(class_report(course, "ps1").looks["ada"]))
    event = read_log(course)[0][-1].event
    assert event["student"] == "ada" and BY_KIM.search(" ".join(event["why"]))
    assert BY_KIM.search(called(course, "log", "ps1"))
    assert BY_KIM.search(called(course, "export", "ps1"))
    with (course.root / "ps1.csv").open(encoding="utf-8", newline="") as file:
        rows = {row["student"]: row["overridden"] for row in csv.DictReader(file)}
    assert BY_KIM.fullmatch(rows.pop("ada")) and set(rows.values()) == {""}
    notes = called(course, "export", "ps1", "--format", "canvas", "--ungraded")
    assert BY_KIM.search(notes) and notes.count(" by kim") == 1


def test_an_override_that_is_taken_back_is_gone_and_the_log_keeps_both(course, monkeypatch):
    monkeypatch.setenv(HUB_USER, "kim")
    mark(course)
    grade(course, "ps1")
    mark(course, score=None)
    grade(course, "ps1")
    assert {score.overrides for score in scores(course, "ps1")} == {()}
    told = [line.event for line in read_log(course)[0] if CELL in line.event["by_hand"]]
    assert [event["by_hand"][CELL] for event in told] == [[None, 2.0], [2.0, None]]
    assert marks_given(course.root, "ps1")["ada", CELL].mark is None


def test_extra_credit_on_code_is_an_override_too(course, monkeypatch):
    monkeypatch.setenv(HUB_USER, "kim")
    mark(course, score=None, extra=1.5)
    (override,) = next(score for score in scores(course, "ps1") if score.student == "ada").overrides
    assert override.mark == override.points + 1.5 and override.user == "kim"


def test_a_mark_on_a_written_question_is_no_override(course):
    mark(course, score=3.0, cell="ps1-second-head")
    assert ("ada", "ps1-second-head") in marks_given(course.root, "ps1")
    assert not any(score.overrides for score in scores(course, "ps1"))


def test_a_mark_that_came_past_the_course_s_settings_is_shown_without_a_name(course, monkeypatch):
    monkeypatch.setenv(HUB_USER, "kim")
    mark(course, score=1.0)
    with closing(sqlite3.connect(course.root / "gradebook.db")) as db, db:
        db.execute("UPDATE grade SET manual_score = 2.0 WHERE manual_score = 1.0")
    (line, *_) = grade(course, "ps1")
    assert f"{EXERCISE} 13 → 2, by whom is not recorded" in " ".join(line.remarks)


def test_grading_writes_no_mark_down_and_a_damaged_list_is_read_as_far_as_it_goes(course, monkeypatch):
    grade(course, "ps1", regrade=False)
    assert not (course.root / FILE).exists()
    (course.root / FILE).write_text('[]\n{"problem_set": "ps1"}\n\xff nonsense\n', encoding="latin-1")
    mark(course)
    assert len(marks_given(course.root, "ps1")) == 1
