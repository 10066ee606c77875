"""An error that nobody foresaw, in whatever is done with one submission, is told and stops nobody else's."""

import json
import os
import shutil

import pytest
from click.testing import CliRunner

from autograder import pipeline
from autograder.__main__ import main
from autograder.course.paths import REFERENCE
from autograder.gradebook.audit_log import Log
from autograder.gradebook.sync import GradebookSync
from autograder.intake import collecting
from autograder.judge import cluster
from autograder.report import similar

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


@pytest.fixture
def two(tmp_path, tmp_path_factory):
    """A course of two whose verdicts are on file."""
    with judged_course(tmp_path_factory) as judged:
        course = copy_of(judged, tmp_path / "course")
    for student in CLASS.keys() - set(TWO):
        shutil.rmtree(course.root / "submitted" / student)
        course.result_file(student, "ps1").unlink()
    return course


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
