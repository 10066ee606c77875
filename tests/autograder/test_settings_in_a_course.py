"""A course by settings of its own, from the release to the table of points."""

import csv
import json
import os
import shutil
import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pytest
from click.testing import CliRunner

from autograder.__main__ import main
from autograder.course.folder import Course
from autograder.course.paths import REFERENCE
from autograder.gradebook.nbgrader import api
from autograder.gradebook.scores import scores
from autograder.intake import archive, store
from autograder.release import bundle
from autograder.report.summary import class_report
from selfcheck.catalogue import in_problem_set

DUE = datetime(2030, 12, 1, 22, 59, tzinfo=UTC)
PS1 = {exercise.id.partition(".")[2]: exercise for exercise in in_problem_set("ps1")}
SETTINGS = """\
secret_file = "../keys/secret"
hidden_checks = "../checks"
solutions = false
late_policy = "zero"

[weights]
"worked_example.softmax" = {softmax}
"worked_example.self_attention" = {own}

[deadlines]
ps1 = {deadline}
"""
CHECK = """from selfcheck.plan import call, check


@check("worked_example.weighted_sum", sees="one row of weights", points=2)
def one_row(rng):
    return call(rng.normal(1, 3), rng.normal(3, {width}))
"""
RIGHT = (REFERENCE / "worked_example.py").read_text()
WRONG = RIGHT + "\n\ndef self_attention(*arguments, **more):\n    return 1\n"
LEFT = RIGHT + "\n\ndef softmax(scores, axis=-1):\n    raise NotImplementedError\n"
#: Who hands in what, hours after the deadline.
CLASS = {"ada": (RIGHT, -1), "ben": (WRONG, -1), "cleo": (RIGHT, 1), "dan": (LEFT, -1)}
#: Of which the weight of self_attention is 2, one exercise is left out, and one has a check of two points more.
POINTS = {name: exercise.max_points for name, exercise in PS1.items() if name != "softmax"}
POINTS |= {"self_attention": 2 * POINTS["self_attention"], "weighted_sum": POINTS["weighted_sum"] + 2}
FULL = sum(POINTS.values())


def run(course, *arguments):
    """What a command comes to: its status, and what it says, in one line."""
    done = CliRunner().invoke(main, [*arguments, "--course", str(course.root)])
    return done.exit_code, " ".join(done.output.split())


def succeed(course, *arguments):
    status, said = run(course, *arguments)
    assert status == 0, said
    return said


def set_up(course, softmax=0, own=2, deadline="2030-12-01T23:59:00+01:00"):
    text = SETTINGS.format(softmax=softmax, own=own, deadline=deadline)
    (course.root / "course.toml").write_text(text, encoding="utf-8")


def notebook(course):
    return json.loads((course.release("ps1") / "ps1.ipynb").read_text())


def cells(course):
    """The points of each released cell that is graded by its checks."""
    found = [cell["metadata"].get("nbgrader", {}) for cell in notebook(course)["cells"]]
    return {
        one["grade_id"].partition("-")[2]: one["points"] for one in found if one.get("grade") and not one["solution"]
    }


def records(course):
    return {
        path.stem: {one["id"].partition(".")[2]: one for one in json.loads(path.read_text())["exercises"]}
        for path in sorted((course.root / "results" / "ps1").glob("*.json"))
    }


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """The course after its first grading, with feedback; ada's first written question has a mark of 3."""
    place = tmp_path_factory.mktemp("settings")
    for name, text in (("keys/secret", "s" * 40), ("checks/worked_example.py", CHECK.format(width=4))):
        (place / name).parent.mkdir(exist_ok=True)
        (place / name).write_text(text)
    (place / "course").mkdir()
    course = Course(place / "course")
    set_up(course)
    for arguments in (["release", "ps1"], ["grade", "ps1"], ["feedback", "ps1"]):
        if arguments[0] == "grade":
            for student, (text, late) in CLASS.items():
                answered = (course.release("ps1") / "ps1.ipynb").read_text().replace("Write your answer here", student)
                received = archive.Received({"worked_example.py": text.encode()}, answered.encode(), ())
                store.store(course, student, "ps1", received, DUE + timedelta(hours=late))
        succeed(course, *arguments)
        if arguments[0] == "grade":
            with api(course).gradebook as book:
                submission = book.find_submission_notebook("ps1", "ps1", "ada")
                next(one for one in submission.grades if one.cell.cell_type == "markdown").manual_score = 3
                book.db.commit()
    return course


@pytest.fixture
def copied(graded, tmp_path):
    shutil.copytree(graded.root.parent, tmp_path / "place")
    return Course(tmp_path / "place" / "course")


def test_the_release_has_the_points_of_the_settings_and_no_cell_of_what_is_left_out(graded):
    assert cells(graded) == POINTS
    text = "\n".join("".join(cell["source"]) for cell in notebook(graded)["cells"])
    assert f"*{POINTS['self_attention']} points ·" in text and "The softmax" not in text
    assert "builds on 2.1, 2.2, 2.3 (left out: no points), 2.4" in text
    assert "## From scores to weights" not in text and "## From weights to outputs" in text, "no empty section"
    assert "To be handed in by 1 December 2030, 23:59 (UTC+01:00)" in text
    with api(graded).gradebook as book:
        assert book.find_assignment("ps1").duedate == DUE.replace(tzinfo=None)


def test_what_is_released_holds_no_solution_and_answers_are_not_handed_out(graded):
    drops = [line.strip() for line in RIGHT.splitlines() if "exponentials" in line and "=" in line]
    assert drops, "lines of a solution"
    for path in graded.root.rglob("*"):
        if path.is_file() and path.is_relative_to(graded.release("ps1").parent):
            assert not any(line in path.read_text() for line in drops), path
    status, said = run(graded, "release", "ps2", "--with-answers", "ps1")
    assert status == 1 and "solutions = false: leave --with-answers away" in said
    assert not graded.release("ps2").exists()


def test_a_learner_sees_the_same_points_and_may_practise_what_is_left_out(graded, tmp_path):
    shutil.copytree(graded.release("ps1"), tmp_path / "ps1")
    (tmp_path / "ps1" / "attention" / "worked_example.py").write_text(RIGHT)
    program = (
        "from selfcheck import check; print([check(f'worked_example.{n}') for n in ('self_attention', 'softmax')])"
    )
    environment = {**os.environ, "NBGRADER_EXECUTION": "validate", "PYTHONPATH": ""}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path / "ps1", env=environment, capture_output=True, text=True
    )
    assert done.stdout.splitlines()[-1] == f"[{POINTS['self_attention']}.0, 0.0]", done.stderr
    assert done.stdout.count("passes every visible check") == 2


def test_everybody_has_the_points_they_deserve_everywhere(graded):
    found = records(graded)
    assert {name: one["max_points"] for name, one in found["ada"].items()} == POINTS
    assert {name: one["points"] for name, one in found["ada"].items()} == POINTS
    assert {name: one["points"] for name, one in found["ben"].items()} == POINTS | {"self_attention": 0}
    assert "softmax" not in found["dan"] and found["dan"]["self_attention"]["points"] == 0
    assert "Skipped" not in found["dan"]["self_attention"]["text"], "nothing is skipped for what nobody judges"
    totals = {student: sum(one["points"] for one in exercises.values()) for student, exercises in found.items()}
    assert totals["ada"] == totals["cleo"] == FULL and totals["ben"] == FULL - POINTS["self_attention"]
    book = {score.student: score for score in scores(graded, "ps1")}
    assert {name: score.points for name, score in book.items()} == totals | {"ada": FULL + 3}
    assert {name: score.final for name, score in book.items() if score.late_penalty} == {"cleo": 0}
    assert {score.max_points for score in book.values()} == {FULL + 8}
    assert class_report(graded, "ps1").max_points == FULL
    page = (graded.feedback("ada", "ps1") / "ps1.html").read_text()
    assert f"{POINTS['self_attention']} of {POINTS['self_attention']} points" in page and "3 of 4 points" in page
    succeed(graded, "export", "ps1")
    with (graded.root / "ps1.csv").open(newline="") as file:
        rows = {row["student"]: row for row in csv.DictReader(file)}
    assert {name: float(row["points"]) for name, row in rows.items()} == totals | {"ada": FULL + 3}


def test_settings_that_changed_are_released_before_anybody_is_graded_by_them(copied):
    before = copied.root / "results" / "ps1" / "ada.json"
    known = before.read_text()
    set_up(copied, softmax=1, own=3, deadline="2030-12-02T12:00:00Z")
    status, said = run(copied, "grade", "ps1")
    assert status == 1 and "worked_example-self_attention has 18 and should have 27 points" in said
    assert "worked_example-softmax has no cell" in said and "Run release ps1 again" in said
    assert "the deadline is 2030-12-01T23:59:00+01:00 and should be 2030-12-02T12:00:00+00:00" in said
    assert before.read_text() == known
    succeed(copied, "release", "ps1")
    succeed(copied, "grade", "ps1")
    more = FULL + PS1["self_attention"].max_points + PS1["softmax"].max_points
    book = {score.student: score for score in scores(copied, "ps1")}
    assert (book["ada"].points, book["cleo"].points) == (more + 3, more), "the mark that was given by hand stays"
    assert book["cleo"].late_penalty == 0, "there is more time now"
    assert records(copied)["dan"]["softmax"]["points"] == 0


def test_a_deadline_that_is_taken_away_holds_no_more_and_one_of_formgraders_is_left_alone(copied):
    own = datetime(2031, 5, 5, 12)
    text = (copied.root / "course.toml").read_text()
    for given in (None, own):
        (copied.root / "course.toml").write_text(text)
        succeed(copied, "release", "ps1")
        with api(copied).gradebook as book:
            assert book.find_assignment("ps1").duedate == DUE.replace(tzinfo=None)
            if given:
                book.update_or_create_assignment("ps1", duedate=given)
        (copied.root / "course.toml").write_text(text.partition("[deadlines]")[0])
        for _ in range(2):
            succeed(copied, "release", "ps1")
            with api(copied).gradebook as book:
                assert book.find_assignment("ps1").duedate == given


def test_a_further_check_that_the_reference_fails_judges_nobody(copied):
    (copied.root.parent / "checks" / "worked_example.py").write_text(CHECK.format(width="4), rng.normal(1"))
    for command in ("release", "grade"):
        status, said = run(copied, command, "ps1")
        assert status == 1 and "line 4: one_row: the reference fails this check" in said
    assert cells(copied) == POINTS, "what was released stays"


def test_settings_that_cannot_be_read_stop_every_command_and_nbgraders_own(copied):
    (copied.root / "course.toml").write_text("solution = false\n")
    for command in ("release", "grade", "feedback", "report", "export"):
        status, said = run(copied, command, "ps1")
        assert status == 1 and "there is no setting 'solution'" in said
    shutil.rmtree(copied.root / "autograded")
    command = [sys.executable, "-m", "nbgrader", "autograde", "ps1", "--student", "ada"]
    done = subprocess.run(command, cwd=copied.root, capture_output=True, text=True, timeout=600, check=False)
    assert "there is no setting 'solution'" in done.stderr, done.stderr[-2000:]
    assert not (copied.root / "autograded" / "ada" / "ps1" / "ps1.ipynb").exists()


def test_a_course_of_the_usual_settings_hands_out_the_catalogue_as_it_is():
    plain = bundle.bundle("ps1")
    assert plain["selfcheck/catalogue/worked_example.toml"] == (
        REFERENCE.parents[1] / "src" / "selfcheck" / "catalogue" / "worked_example.toml"
    ).read_text("utf-8")
