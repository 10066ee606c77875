"""The sample class, through a real nbgrader course: verdicts, gradebook, feedback, report, tables."""

import functools
import html
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from autograder import pipeline
from autograder.__main__ import main
from autograder.authoring import samples
from autograder.gradebook.nbgrader import api
from autograder.gradebook.scores import scores
from autograder.report import page as report_page
from autograder.report.summary import class_report
from autograder.version import grader_version
from selfcheck.catalogue import exercises, in_problem_set

from ..records.whole import proof_of_the_whole
from .class_records import in_a_terminal
from .released_texts import files_of, hidden_words, solution_lines
from .sample_class_course import EVERY_TIME, QUICK, SETS, TABLE, graded_class, whole_class
from .shared_courses import copy_of, released


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """The class released, handed in, graded and given feedback, of some sets: the course, the instructor's lines."""
    with graded_class(tmp_path_factory, EVERY_TIME) as (course, lines):
        yield course, lines


@pytest.fixture(scope="module")
def graded_in_all(tmp_path_factory):
    """Likewise of all sets."""
    with graded_class(tmp_path_factory) as (course, lines):
        yield course, lines


@pytest.fixture
def class_of(request):
    """The class in which a problem set is graded, by its name."""
    return lambda name: request.getfixturevalue("graded" if name in EVERY_TIME else "graded_in_all")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Likewise, with those whom to grade takes minutes."""
    with whole_class(tmp_path_factory) as (course, lines):
        yield course, lines


@pytest.fixture
def own(graded, tmp_path):
    """A copy of the course, as far as the first problem set goes, for a test that writes into it; and the lines."""
    course, lines = graded
    return copy_of(course, tmp_path / "course", without=EVERY_TIME[1:]), lines


def record(course, one):
    return json.loads(course.result_file(one.student, one.problem_set).read_text(encoding="utf-8"))


def test_the_sample_class_is_a_class():
    assert len({(one.student, one.problem_set) for one in TABLE}) == len(TABLE) >= 15
    assert any(not one.student.isascii() for one in TABLE)


@pytest.mark.parametrize("problem_set", SETS)
def test_every_problem_set_has_right_answers_stubs_and_mistakes_that_have_a_name(problem_set):
    handed_in = [one for one in TABLE if one.problem_set == problem_set]
    assert sum(one.base == "reference" and not one.points for one in handed_in) >= 2
    assert any(one.base == "stubs" and not one.points for one in handed_in)
    assert any(one.misconceptions for one in handed_in)


def called(one):
    return f"{one.problem_set}-{one.student!a}"


def marked(problem_set, value):
    """A parameter, as a proof where its problem set is not graded in every run."""
    return pytest.param(value, marks=() if problem_set in EVERY_TIME else proof_of_the_whole(Path(__file__)))


of_each_set = pytest.mark.parametrize("problem_set", [marked(name, name) for name in SETS])


@pytest.mark.parametrize("one", [marked(one.problem_set, one) for one in QUICK], ids=called)
def test_each_submission_gets_the_verdict_it_deserves(class_of, one):
    assert_deserved(one, *class_of(one.problem_set))


@pytest.mark.full
@pytest.mark.parametrize("one", [one for one in TABLE if one not in QUICK], ids=called)
def test_each_submission_that_takes_minutes_gets_the_verdict_it_deserves(whole, one):
    assert_deserved(one, *whole)


def assert_deserved(one, course, lines):
    found = {exercise["id"]: exercise for exercise in record(course, one)["exercises"]}
    expected = samples.expected_points(one)
    points = {name: exercise["points"] for name, exercise in found.items()}
    others = [check for name in found if points[name] != expected.get(name) for check in found[name]["checks"]]
    assert points == expected, "\n".join(map(str, others))
    for name, misconception in one.misconceptions.items():
        if name in found:
            named = {check["misconception"] for check in found[name]["checks"]} - {None}
            assert named == {misconception}, name
    line = lines[one.problem_set][one.student]
    assert line.points == sum(samples.expected_points(one).values())
    assert one.remark in " ".join(line.remarks), "the instructor reads why"
    if one.base == "reference" and not one.points and not one.remark:
        assert line.remarks == ()


@of_each_set
def test_the_gradebook_holds_the_same_points(class_of, problem_set):
    course, lines = class_of(problem_set)
    book = {score.student: score.points for score in scores(course, problem_set)}
    assert book == {student: line.points for student, line in lines[problem_set].items()}


def test_nbgraders_own_autograde_gives_the_same_scores(graded, tmp_path, tmp_path_factory):
    _, lines = graded
    with released(tmp_path_factory, *EVERY_TIME) as bare:
        fresh = copy_of(bare, tmp_path / "course")  # with the same secret, and so the same hidden inputs
    chosen = ("dmitri", "lena", "omar")  # a mistake, a stray torch.py, a doubled grade cell
    for one in TABLE:
        if one.problem_set == "ps2" and one.student in chosen:  # a student's own files, with nobody to clean them
            folder = fresh.submitted(one.student, "ps2")
            folder.mkdir(parents=True)
            samples.write_submission(one, fresh, folder)
    command = [Path(sys.executable).with_name("nbgrader"), "autograde", "ps2"]
    done = subprocess.run(command, cwd=fresh.root, capture_output=True, text=True, timeout=400)
    assert done.returncode == 0, "\n".join(line for line in done.stderr.splitlines() if "] Copying" not in line)
    book = {score.student: score.points for score in scores(fresh, "ps2")}
    assert book == {student: lines["ps2"][student].points for student in chosen}


def test_grading_again_grades_nobody_again(own):
    course, lines = own
    again = pipeline.grade(course, "ps1")
    assert {line.student: line.points for line in again} == {name: line.points for name, line in lines["ps1"].items()}
    assert not any(line.again for line in again)


def test_a_hand_given_mark_outlives_a_regrade(own):
    course, lines = own
    student = next(one.student for one in TABLE if one.notebook == "questions answered" and one.problem_set == "ps1")
    with api(course).gradebook as book:
        notebook = book.find_submission_notebook("ps1", "ps1", student)
        grade = next(grade for grade in notebook.grades if grade.cell.cell_type == "markdown")
        assert grade.needs_manual_grade
        grade.manual_score = 2.0
        book.db.commit()
    again = {line.student: line for line in pipeline.grade(course, "ps1", regrade=True)}
    assert again[student].again
    assert [line for line in again.values() if line.points is None] == []
    total = next(score.points for score in scores(course, "ps1") if score.student == student)
    assert total == lines["ps1"][student].points + 2.0


@of_each_set
def test_every_grade_records_how_it_was_reached(class_of, problem_set):
    course, _ = class_of(problem_set)
    for one in QUICK:
        if one.problem_set != problem_set:
            continue
        found = record(course, one)
        assert found["isolation"] == "bubblewrap" and found["grader"] == grader_version()
        assert found["secret"] == course.fingerprint and found["graded"] and found["seconds"] >= 0


@functools.cache  # most files of a student's feedback are those of the release
def leaks(text):
    """The hidden words and the lines of a solution that a file of feedback shows, its style sheets left out."""
    text = re.sub(r"<style.*?</style>", "", text, flags=re.DOTALL)
    if "<html" in text:
        text += html.unescape(re.sub(r"<[^>]+>", "", text))  # code is shown in colours, word by word
    words, lines = hidden_words(tuple(exercises())), solution_lines()
    return {word for word in words if word in text}, {line for line in lines if line in text}


@of_each_set
def test_no_feedback_holds_a_solution_a_hidden_check_or_a_hidden_value(class_of, problem_set):
    course, _ = class_of(problem_set)
    for one in QUICK:
        if one.problem_set != problem_set:
            continue
        folder = course.feedback(one.student, one.problem_set)
        assert (folder / f"{one.problem_set}.html").exists()
        for path, text in files_of(folder).items():
            words, lines = leaks(text)
            assert not words, path
            solved = lines - {line for line in lines if line in samples.own_text(one)}
            if one.base == "stubs":  # of the others the solution is what they handed in
                assert not solved, path
            elif path.suffix == ".html" and not one.points:
                assert solved, "a line of the solution would be noticed"


MISTAKEN = [next(one for one in TABLE if one.misconceptions and one.problem_set == name) for name in SETS]


@pytest.mark.parametrize("one", [marked(one.problem_set, one) for one in MISTAKEN if one in QUICK], ids=called)
def test_feedback_shows_the_verdicts_and_the_submitted_source(class_of, one):
    assert_shown(one, class_of(one.problem_set)[0])


@pytest.mark.full
@pytest.mark.parametrize("one", [one for one in MISTAKEN if one not in QUICK], ids=called)
def test_feedback_that_takes_minutes_shows_the_verdicts_and_the_submitted_source(whole, one):
    assert_shown(one, whole[0])


def assert_shown(one, course):
    name, misconception = next(iter(one.misconceptions.items()))
    exercise = next(exercise for exercise in in_problem_set(one.problem_set) if exercise.id == name)
    page = (course.feedback(one.student, one.problem_set) / f"{one.problem_set}.html").read_text(encoding="utf-8")
    text = html.unescape(re.sub(r"<[^>]+>", "", page))
    assert exercise.message_of(misconception).message.replace("`", "").strip()[:30] in text
    assert f"Exercise {exercise.number} {exercise.symbol}" in text
    assert f"Your code: attention/{exercise.module}.py" in text


def test_the_class_report_counts_misconceptions_and_names_who_needs_a_look(graded):
    course, _ = graded
    found = class_report(course, "ps1")
    expected = next(one for one in TABLE if one.problem_set == "ps1" and one.misconceptions)
    name, misconception = next(iter(expected.misconceptions.items()))
    summary = next(one for one in found.exercises if one.id == name)
    assert expected.student in summary.misconceptions[misconception]
    assert any("no valid JSON" in " ".join(reasons) for reasons in found.looks.values())
    assert misconception in report_page.page(found) and misconception in in_a_terminal(found)


def command(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments], catch_exceptions=False)


def test_export_writes_quoted_csv(graded, tmp_path):
    course, lines = graded
    assert command("export", "ps1", "--course", course.root, "--to", tmp_path / "x.csv").exit_code == 0
    rows = (tmp_path / "x.csv").read_text(encoding="utf-8").splitlines()
    assert rows[0].startswith('"student"') and len(rows) == len(lines["ps1"]) + 1
