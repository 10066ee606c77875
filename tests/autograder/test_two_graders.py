"""Two graders at once who judge the same class again: everybody is entered and logged once, whoever is first."""

import json
import subprocess
import sys
from dataclasses import replace

import pytest

from autograder import pipeline
from autograder.course.paths import ROOT
from autograder.gradebook.audit_log import Log, read_log
from autograder.gradebook.nbgrader import api
from autograder.gradebook.sync import GradebookSync

from .judged_class import CLASS, assert_the_same, copy_of, dump, judged_course

LATER = "2031-01-01T12:00:00+00:00"


@pytest.fixture(scope="module")
def entered(tmp_path_factory):
    """A class that is judged and entered; one answer has a mark given by hand."""
    course = judged_course(tmp_path_factory.mktemp("two") / "course")
    pipeline.grade(course, "ps1")
    with api(course).gradebook as book:
        grades = book.find_submission_notebook("ps1", "ps1", "carla").grades
        mine = next(one for one in grades if one.needs_manual_grade)
        mine.manual_score, mine.extra_credit, mine.needs_manual_grade = 1.5, 0.5, False
        book.db.commit()
    pipeline.grade(course, "ps1")  # the mark is logged
    return course


@pytest.fixture
def course(entered, tmp_path):
    return copy_of(entered, tmp_path / "course")


def command(course, *arguments):
    line = [sys.executable, "-m", "autograder", *arguments, "--course", course.root]
    return subprocess.Popen(line, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def assert_logged(course):
    """The log's chain is sound, and what stands last in it is on file."""
    check = command(course, "log", "ps1", "--check")
    said = check.communicate(timeout=60)[0]
    assert check.returncode == 0, said


def test_two_who_regrade_at_once_come_to_what_one_comes_to(course, entered):
    graders = [command(course, "grade", "ps1", "--regrade") for _ in range(2)]
    for grader in graders:
        said = grader.communicate(timeout=120)[0]
        assert grader.returncode == 0 and f"{len(CLASS)}/{len(CLASS)} " in said, said
    assert_the_same(entered, course)
    assert "('manual_score', 1.5), ('extra_credit', 0.5)" in " ".join(dump(course)["grade"])
    assert not list(course.root.glob("autograded/*/.*")) and not list(course.root.glob("results/ps1/*.part"))
    assert_logged(course)
    events = [line.event for line in read_log(course)[0]]
    again = [event for event in events if event["points"][0] is not None and not event["by_hand"]]
    assert {event["student"] for event in again} == CLASS.keys() and len(again) <= 2 * len(CLASS)
    assert all(event["why"] == ["--regrade"] and event["exercises"] == {} for event in again)


def test_whose_record_another_takes_away_to_judge_again_is_entered_all_the_same(course, entered, monkeypatch):
    def robbed(book, submission, result, enter=GradebookSync.enter):
        course.result_file(result.student, "ps1").unlink()
        return enter(book, submission, result)

    with monkeypatch.context() as patch:
        patch.setattr(GradebookSync, "enter", robbed)
        lines = pipeline.grade(course, "ps1", regrade=True)
    assert [line.points for line in lines if line.points is None] == []
    assert_the_same(entered, course)


def test_what_another_put_on_file_last_is_what_the_log_says_last(course, monkeypatch):
    """The other files its verdict before this grader has logged its own, and logs it before this one or after it."""
    afterwards = []

    def overtaken(log, result, entry, entered=Log.entered):
        student, later = result.student, replace(result, graded=LATER)
        course.result_file(student, "ps1").write_text(json.dumps(later.as_json()))
        if student < "c":
            with Log(course) as first:
                entered(first, later, entry)
        else:
            afterwards.append((later, entry))
        return entered(log, result, entry)

    with monkeypatch.context() as patch:
        patch.setattr(Log, "entered", overtaken)
        pipeline.grade(course, "ps1", regrade=True)
    with Log(course) as second:
        for result, entry in afterwards:
            second.entered(result, entry)
    assert 0 < len(afterwards) < len(CLASS)
    assert_logged(course)
    last = {line.event["student"]: line.event["graded"] for line in read_log(course)[0]}
    assert last == dict.fromkeys(CLASS, LATER)
