"""An error that nobody foresaw, in whatever is done with one submission, is told and stops nobody else's."""

import json
import os
import shutil
import sqlite3
from contextlib import closing

import pytest
from click.testing import CliRunner

from autograder import pipeline
from autograder.__main__ import main
from autograder.cli import log as log_command
from autograder.course.paths import REFERENCE
from autograder.gradebook import scores
from autograder.gradebook.audit_log import Log
from autograder.gradebook.sync import GradebookSync
from autograder.intake import collecting
from autograder.judge import cluster
from autograder.report import similar, summary

from .judged_class import CLASS, judged_course
from .shared_courses import copy_of

TWO = ("ada", "ben")
TOLD = "Unforeseen: of ada"


class Unforeseen(Exception):
    """Of no kind that anything of the grader's expects."""


def only_of(student, name_in, function):
    """The function, which fails where what it is given is this student's."""

    def call(*given, **named):
        if name_in(*given, **named) == student:
            raise Unforeseen(f"of {student}\x1b[2J")
        return function(*given, **named)

    return call


def run(*words):
    done = CliRunner().invoke(main, [*map(str, words)])
    assert done.exception is None or isinstance(done.exception, SystemExit), repr(done.exception)
    return done.exit_code, " ".join(done.output.split())


def course_of_two(tmp_path_factory, place):
    with judged_course(tmp_path_factory) as judged:
        course = copy_of(judged, place)
    for student in CLASS.keys() - set(TWO):
        shutil.rmtree(course.root / "submitted" / student)
        course.result_file(student, "ps1").unlink()
    return course


@pytest.fixture
def two(tmp_path, tmp_path_factory):
    """A course of two whose verdicts are on file."""
    return course_of_two(tmp_path_factory, tmp_path / "course")


@pytest.fixture(scope="module")
def graded_once(tmp_path_factory):
    course = course_of_two(tmp_path_factory, tmp_path_factory.mktemp("graded") / "course")
    assert run("grade", "ps1", "--isolation", "none", "--course", course.root)[0] == 0
    return course


@pytest.fixture
def entered(graded_once, tmp_path):
    """A course of two whose verdicts are in the gradebook."""
    return copy_of(graded_once, tmp_path / "course")


@pytest.mark.parametrize(
    ("owner", "name", "name_in"),
    [
        (pipeline, "take_in", lambda course, student, *_: student),
        (pipeline, "result_on_file", lambda course, submission, *_: submission.student),
        (GradebookSync, "holds", lambda sync, submission, *_: submission.student),
        (GradebookSync, "entry", lambda sync, result: result.student),
        (Log, "entered", lambda log, result, *_: result.student),
    ],
    ids=["taking in", "its record", "what the gradebook holds", "its entry", "the log"],
)
def test_grade_goes_on_with_the_others(two, monkeypatch, owner, name, name_in):
    monkeypatch.setattr(owner, name, only_of("ada", name_in, getattr(owner, name)))
    status, said = run("grade", "ps1", "--isolation", "none", "--course", two.root)
    assert status == 1 and TOLD in said and "\x1b" not in said
    assert "ada: not graded" in said and "ben: not graded" not in said and "2/2" in said


def test_collect_goes_on_with_the_others(two, tmp_path, monkeypatch):
    download = tmp_path / "download"
    for student in TWO:
        (download / student / "attention").mkdir(parents=True)
        shutil.copy(REFERENCE / "worked_example.py", download / student / "attention")
    fails = only_of("ada", lambda course, student, *_: student, collecting.hand_in)
    monkeypatch.setattr(collecting, "hand_in", fails)
    status, said = run("collect", "ps1", download, "--replace", "--course", two.root)
    assert status == 1 and f"ada → ada: refused: the grader failed: {TOLD}" in said and "1 taken in" in said


def test_the_report_counts_the_others(entered, monkeypatch):
    monkeypatch.setattr(summary, "attempts_of", only_of("ada", lambda record: record["student"], summary.attempts_of))
    report = summary.class_report(entered, "ps1")
    assert [*report.totals] == ["ben"] and [*report.attempts] == ["ben"]
    counted = ((*exercise.points, *exercise.blank, *exercise.missing) for exercise in report.exercises)
    assert set().union(*counted) == {"ben"}
    assert f"not counted: {TOLD}" in report.looks["ada"][0] and "\x1b" not in report.looks["ada"][0]


@pytest.mark.parametrize(
    ("fields", "is_damaged"),
    [
        ({"student": "\ud800"}, True),
        ({"remarks": ["\ud800"]}, True),
        ({"exercises": [{"id": "a.b", "text": "", "points": 10**400, "max_points": 1, "checks": []}]}, True),
        ({"seconds": 10**400, "used": {"processor_seconds": float("nan"), "peak_mib": 10**400}}, False),
    ],
    ids=["half a character in the name", "in a remark", "points beyond all tables", "times beyond all tables"],
)
def test_the_report_shows_the_others_where_a_record_cannot_be_shown(entered, fields, is_damaged):
    path = entered.result_file("ada", "ps1")
    path.write_text(json.dumps(json.loads(path.read_text()) | fields))
    status, said = run("report", "ps1", "--course", entered.root)
    assert status == 0 and (summary.DAMAGED in said) is is_damaged, said


def test_a_name_that_is_no_text_is_left_out(entered):
    with closing(sqlite3.connect(entered.root / "gradebook.db")) as gradebook, gradebook:
        gradebook.execute("UPDATE student SET last_name = x'ff', first_name = 'Ada' WHERE id = 'ada'")
    for command in ("report", "export", "feedback"):
        status, said = run(command, "ps1", "--course", entered.root)
        assert status == 0 and "cannot be read" not in said, said


@pytest.mark.parametrize("points", ["9e999", "'x'"], ids=["without end", "no number"])
def test_points_that_no_grader_wrote_are_told_of_whose_they_are(entered, points):
    with closing(sqlite3.connect(entered.root / "gradebook.db")) as gradebook, gradebook:
        (row,) = gradebook.execute(
            "SELECT submitted_notebook.id FROM submitted_notebook JOIN submitted_assignment "
            "ON submitted_assignment.id = submitted_notebook.assignment_id WHERE student_id = 'ada'"
        ).fetchone()
        gradebook.execute(f"UPDATE grade SET extra_credit = {points} WHERE notebook_id = ?", (row,))
    for command in ("report", "export"):
        status, said = run(command, "ps1", "--course", entered.root)
        assert status == 0 and "ada: " in said and "the gradebook's row cannot be read: " in said, said
    assert '"ben","ps1",' in (entered.root / "ps1.csv").read_text()


@pytest.mark.parametrize("command", ["report", "export", "feedback", "grade"])
def test_a_damaged_gradebook_is_told_in_a_sentence_by_every_command(two, command):
    (two.root / "autograded" / "ada" / "ps1").mkdir(parents=True, exist_ok=True)
    (two.root / "gradebook.db").write_bytes(b"no database " * 999)
    status, said = run(command, "ps1", "--course", two.root)
    assert status == 1 and "db is damaged (" in said and "file is not a database): put a copy of it in" in said, said


def test_export_writes_the_others_and_says_whose_row_is_missing(entered, monkeypatch):
    whole = scores.autograded
    monkeypatch.setattr(scores, "autograded", only_of("ada", lambda course, student, _: student, whole))
    for form, *more in (("csv",), ("canvas", "--ungraded"), ("moodle", "--ungraded")):
        target = entered.root / form
        status, said = run("export", "ps1", "--format", form, *more, "--to", target, "--course", entered.root)
        assert status == 0 and f"ada: the gradebook's row cannot be read: {TOLD}" in said, said
        assert '"ben"' in target.read_text() and ('"ada","ps1","",' in target.read_text()) == (form == "csv")
    assert TOLD in " ".join(summary.class_report(entered, "ps1").looks["ada"])


def test_log_shows_the_other_events(entered, monkeypatch):
    monkeypatch.setattr(log_command, "_points", only_of("ada", lambda event: event["student"], log_command._points))
    status, said = run("log", "ps1", "--check", "--course", entered.root)
    assert status == 0 and f"ada this event cannot be shown: {TOLD}" in said and "ben 0 of 42" in said, said


def test_a_module_that_cannot_be_compared_is_unread_and_the_others_are_compared(monkeypatch):
    monkeypatch.setattr(similar, "normal_form", only_of("odd", lambda text: text, similar.normal_form))
    assert [*similar._read([b"a = 1", b"odd", b"b = 1"])] == [
        similar.normal_form("a = 1"),
        None,
        similar.normal_form("b = 1"),
    ]


def test_judge_goes_on_with_the_others_whose_folders_names_need_not_be_text(tmp_path, monkeypatch):
    folders = {"ada": tmp_path / "ada", "ben": tmp_path / os.fsdecode(b"ben\xff")}
    for student, folder in folders.items():
        (folder / "attention").mkdir(parents=True)
        text = (REFERENCE / "worked_example.py").read_text() + f"\n# {student}\n"
        (folder / "attention" / "worked_example.py").write_text(text)

    def whose(task, answer_key):
        return task.files["worked_example.py"].split()[-1].decode()

    monkeypatch.setattr(cluster, "judge_task", only_of("ada", whose, cluster.judge_task))
    told = tmp_path / "told.json"
    words = ["judge", "--isolation", "none", "--exercise", "worked_example.softmax", "--json", told]
    status, said = run(*words, *folders.values())
    assert status == 1 and "ada is not judged: the grader failed" in said, said
    assert [*json.loads(told.read_text())] == [str(folders["ben"])]
