"""Handing in and grading by the commands an instructor types, in a course of one or two students."""

import json
import shutil

import pytest
from click.testing import CliRunner
from nbformat.v4 import new_code_cell

from autograder.__main__ import main
from autograder.build.notebooks import AGAIN
from autograder.course.folder import Course
from autograder.course.paths import REFERENCE
from autograder.course.releases import written_questions
from autograder.gradebook.cells import exercise_of, wrapped
from autograder.intake import archive

from .shared_courses import copy_of, released


def run(*arguments, course):
    return CliRunner().invoke(main, [*map(str, arguments), "--course", str(course.root)], catch_exceptions=False)


def told(result):
    """What a command said, its line breaks undone."""
    return " ".join(result.output.split())


@pytest.mark.parametrize("before", ["", f"{AGAIN}\n"])
def test_a_grade_cell_is_read_with_the_line_for_a_restart_and_as_it_was_released_before(before):
    cell = new_code_cell(f'{before}check("masks.causal_mask")')
    cell.metadata["nbgrader"] = {"grade": True, "solution": False, "grade_id": "masks-causal_mask"}
    assert exercise_of(cell) == "masks.causal_mask"
    cell.source = f"import os\n{cell.source}"
    with pytest.raises(ValueError, match="release again"):
        exercise_of(cell)


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A course with ps1 released and nobody in it."""
    with released(tmp_path_factory, "ps1") as bare:
        return copy_of(bare, tmp_path_factory.mktemp("hand-in") / "course")


def hand_in(course, place, student, answer, **files):
    """The reference's modules, some replaced or (with None) left out, beside a notebook with one written answer."""
    folder = place / "submission"
    shutil.copytree(course.release("ps1"), folder)
    shutil.copytree(REFERENCE, folder / "attention", dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    for name, text in files.items():
        path = folder / "attention" / f"{name}.py"
        path.unlink() if text is None else path.write_text(text)
    path = folder / "ps1.ipynb"
    notebook = json.loads(path.read_text())
    for cell in written_questions(notebook):
        cell["source"] = answer
    path.write_text(json.dumps(notebook))
    handed_in = run("submit", "ps1", "--student", student, "--replace", folder, course=course)
    assert handed_in.exit_code == 0, handed_in.output
    shutil.rmtree(folder)


def test_a_new_written_answer_beside_unchanged_modules_is_entered(course, tmp_path):
    hand_in(course, tmp_path, "ada", "my first answer")
    assert run("grade", "ps1", course=course).exit_code == 0
    hand_in(course, tmp_path, "ada", "my second answer")
    stamp = course.submitted("ada", "ps1") / archive.STAMP
    stamp.write_text("2030-01-01 12:00:00 UTC")  # the clock that counts has whole seconds
    assert run("grade", "ps1", course=course).exit_code == 0
    entered = (course.root / "autograded" / "ada" / "ps1" / "ps1.ipynb").read_text()
    assert "my second answer" in entered and "my first answer" not in entered


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (None, "ben: worked_example.py is missing from the submission"),
        ("def project(:\n", "ben: worked_example.py: the module cannot be imported: SyntaxError"),
    ],
    ids=["missing", "broken"],
)
def test_a_module_that_cannot_be_graded_is_a_line_for_the_instructor(course, tmp_path, text, line):
    hand_in(course, tmp_path, "ben", "an answer", worked_example=text)
    result = run("grade", "ps1", course=course)
    assert line in told(result) and result.exit_code == 0
    assert line in told(run("report", "ps1", course=course))
    assert line in told(run("grade", "ps1", course=course))  # from file, not judged again


@pytest.mark.parametrize("command", ["grade", "report", "feedback", "export"])
def test_a_mistyped_course_is_named_and_not_made(tmp_path, command):
    result = run(command, "ps1", course=Course(tmp_path / "typo"))
    assert result.exit_code == 1 and "there is no course in" in told(result)
    assert not (tmp_path / "typo").exists()


@pytest.mark.parametrize(("command", "next_step"), [("grade", "run submit ps2"), ("feedback", "run grade ps2")])
def test_a_problem_set_without_submissions_says_what_comes_first(course, command, next_step):
    result = run(command, "ps2", course=course)
    assert result.exit_code == 1 and next_step in told(result)


def test_a_long_message_stays_in_sight_on_the_page():
    text = "  ✗ the axis\n      " + "each row must sum to 1 " * 12
    lines = wrapped(text).splitlines()
    assert lines[0] == "  ✗ the axis" and max(map(len, lines)) <= 100
    assert all(line.startswith("      ") for line in lines[1:])
    assert " ".join(wrapped(text).split()) == " ".join(text.split())
