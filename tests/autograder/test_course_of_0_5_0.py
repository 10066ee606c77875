"""A course folder that version 0.5.0 made goes on: released, graded, marked, logged and exported as before.

In tests/data/course_0_5_0.tar.xz ps1 is released with a deadline and nbgrader's late policy "zero", two have handed in
late and are graded twice, ada with an extension and a mark given by hand in between.
"""

import csv
import json
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from autograder import pipeline
from autograder.__main__ import main
from autograder.course.folder import Course
from autograder.gradebook.audit_log import read_log
from autograder.gradebook.nbgrader import api
from autograder.gradebook.scores import scores
from autograder.judge.cache import read_result
from autograder.version import grader_version

from .judged_class import copy_of, dump, tree

ARCHIVE = Path(__file__).parents[1] / "data" / "course_0_5_0.tar.xz"
NBGRADER = Path(sys.executable).with_name("nbgrader")
POINTS = {"ada": 42.0, "ben": 26.0}


@pytest.fixture(scope="module")
def former(tmp_path_factory):
    """The folder as 0.5.0 left it."""
    folder = tmp_path_factory.mktemp("former")
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(folder, filter="data")
    return Course(folder / "course")


@pytest.fixture(scope="module")
def graded(former, tmp_path_factory):
    """The course after one run of this version's grader, and its lines."""
    course = copy_of(former, tmp_path_factory.mktemp("graded") / "course")
    return course, pipeline.grade(course, "ps1")


def run(course, *command):
    done = CliRunner().invoke(main, [command[0], "ps1", "--course", str(course.root), *command[1:]])
    return done.exit_code, " ".join(done.output.split())


def marks(course):
    """Of each student, every automatic and manual mark, extra credit and penalty."""
    with api(course).gradebook as book:
        found = {}
        for submission in book.assignment_submissions("ps1"):
            (notebook,) = submission.notebooks
            grades = [(one.name, one.auto_score, one.manual_score, one.extra_credit) for one in notebook.grades]
            found[submission.student_id] = sorted(map(str, grades)), notebook.late_submission_penalty
    return found


def test_what_is_on_file_is_read_and_written_as_it_was(former):
    for student, points in POINTS.items():
        path = former.result_file(student, "ps1")
        result = read_result(path)
        assert result.points == points and result.student == student
        assert result.as_json() == json.loads(path.read_text(encoding="utf-8"))
    lines, chain = read_log(former)
    assert len(lines) == 4 and not any(line.trouble for line in lines)
    assert chain.standings["ada", "ps1"].by_hand == {"ps1-second-head": 1.5, "ps1-second-head, extra credit": 0.5}
    assert run(former, "log", "--check")[0] == 0


def test_all_are_judged_again_by_this_grader_and_come_to_the_same_marks(former, graded):
    course, lines = graded
    assert {line.student: line.points for line in lines} == POINTS and all(line.again for line in lines)
    assert marks(course) == marks(former) and "1.5, 0.5" in str(marks(course)["ada"])
    assert marks(course)["ada"][1] in (0, None) and marks(course)["ben"][1] == 26
    rows = dump(course)
    assert rows == dump(former), "ada's mark asks for no new look: she wrote what she had written"


def test_the_log_goes_on_where_it_was(former, graded):
    course, _ = graded
    before, after = ((one.root / "log.jsonl").read_bytes() for one in (former, course))
    assert after.startswith(before)
    events = [line.event for line in read_log(course)[0]]
    assert sorted(event["student"] for event in events[4:]) == ["ada", "ben"]
    for event in events[4:]:
        assert event["why"] == [f"the grader changed: {events[0]['grader']} → {grader_version()}"]
        assert event["exercises"] == event["by_hand"] == event["late"] == {}
    assert run(course, "log", "--check")[0] == 0


def test_only_what_changed_is_judged_after_that(graded, tmp_path):
    course = copy_of(graded[0], tmp_path / "course")
    written = tree(course)
    assert [line.again for line in pipeline.grade(course, "ps1")] == [False, False]
    assert tree(course) == written
    module = course.submitted("ada", "ps1") / "attention" / "worked_example.py"
    module.write_text(module.read_text(encoding="utf-8") + "\n\ndef project(*arguments):\n    return 1\n")
    lines = {line.student: line for line in pipeline.grade(course, "ps1")}
    assert [lines[name].again for name in ("ada", "ben")] == [True, False] and lines["ada"].points == 26
    assert "1.5, 0.5" in str(marks(course)["ada"]), "a mark given by hand stays"
    assert run(course, "log", "--check")[0] == 0


def test_it_is_released_again_and_nobody_has_to_hand_in_again(graded, tmp_path):
    course = copy_of(graded[0], tmp_path / "course")
    code, said = run(course, "release")
    assert code == 0, said
    assert {line.student: line.points for line in pipeline.grade(course, "ps1")} == POINTS
    assert marks(course) == marks(graded[0])
    shutil.rmtree(course.root / "release")
    code, said = run(course, "release")
    assert code == 0 and (course.release("ps1") / "ps1.ipynb").exists(), said


def test_feedback_report_and_export_are_written(graded, tmp_path):
    course = copy_of(graded[0], tmp_path / "course")
    for command in ("feedback", "report", "export"):
        code, said = run(course, command)
        assert code == 0, said
    page = (course.feedback("ben", "ps1") / "ps1.html").read_text(encoding="utf-8")
    assert "Isolation: bubblewrap" in page and "Your code: attention/worked_example.py" in page
    assert "<strong>0</strong> of" in page and "26" in page, "all is taken off for being late"
    with (course.root / "ps1.csv").open(encoding="utf-8") as file:
        rows = {row["student"]: row for row in csv.DictReader(file)}
    assert [rows["ada"][name] for name in ("points", "late_penalty")] == ["44.0", "0.0"]
    assert [rows["ben"][name] for name in ("points", "late_penalty")] == ["26.0", "26.0"]
    assert [one.final for one in scores(course, "ps1")] == [44.0, 0.0]


def test_nbgraders_own_commands_find_the_grader_by_the_name_in_the_folder(graded, tmp_path):
    course = copy_of(graded[0], tmp_path / "course")
    assert "from autograder.nbgrader_plugin import configure" in (course.root / "nbgrader_config.py").read_text()
    before, written = marks(course), tree(course)
    for command in (["autograde", "ps1", "--force"], ["export", "--to=grades.csv"]):
        done = subprocess.run(
            [NBGRADER, *command], cwd=course.root, capture_output=True, text=True, timeout=300, env=os.environ
        )
        assert done.returncode == 0, done.stderr[-3000:]
    assert marks(course) == before
    assert tree(course) == written
    text = (course.root / "grades.csv").read_text(encoding="utf-8")
    assert '"ps1"' in text and '"ada"' in text and "44.0" in text
