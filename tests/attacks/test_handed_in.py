"""Every attack by files, archives, notebooks and names, for real: handed in, graded in one course, its lines read."""

import hashlib
import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from click.testing import CliRunner

from autograder import pipeline
from autograder.__main__ import main
from autograder.course.paths import REFERENCE
from autograder.course.student_ids import student_id
from autograder.gradebook.scores import scores
from autograder.intake import store
from autograder.judge import cache, task
from autograder.judge import judge as judging

from ..autograder.shared_courses import copy_of, released
from . import archives, files, names, notebooks
from .handing_in import FULL, HONEST, PROBLEM_SET, as_released, released_notebook, written

ATTACKS = {
    f"{kind.__name__.rpartition('.')[2]}-{one.name}": one
    for kind in (files, archives, notebooks)
    for one in kind.ATTACKS
}
TYPED = [name for name in names.REFUSED if "\0" not in name and "\udcff" not in name and name not in names.COMPOSED]
AS_FOLDERS = [name for name in names.REFUSED if not set(name) & set("/\0") and name not in ("", ".", "..")]
AS_FOLDERS = [name for name in AS_FOLDERS if len(name) <= 60]  # what a file system takes


def submit(course, student, path):
    """What the command says, its line breaks undone, and whether it took the submission."""
    command = ["submit", PROBLEM_SET, "--course", str(course.root), "--student", student, "--", str(path)]
    done = CliRunner().invoke(main, command, catch_exceptions=False)
    return " ".join(done.output.split()), done.exit_code == 0


def outside(base):
    """What must stay as it is: all that lies beside the course, and the reference."""
    places = [place for place in sorted(base.iterdir()) if not place.name.startswith("course")]
    places += [REFERENCE]
    found = {}
    for path in (path for place in places for path in sorted(place.rglob("*"))):
        if path.suffix == ".py" or path.is_relative_to(base):
            found[str(path)] = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "no file"
    return found


def judged(course, students):
    """The instructor's lines on these, as `grade` makes them before it enters the points into the gradebook."""
    with ThreadPoolExecutor(2) as pool:
        submissions = pool.map(lambda student: store.take_in(course, student, PROBLEM_SET), students)
        found = list(pool.map(lambda submission: cache.result_of(course, submission), submissions))
    return {one.student: pipeline.Line(one.student, one.points, FULL, one.remarks, True) for one in found}


def once_for_each_text(monkeypatch):
    """Have every text judged once, though many hand it in: what differs here is the way it came."""
    known = {}

    def judge(package, *more):
        key = tuple(sorted(package.items()))
        if key not in known:
            known[key] = judging.judge_problem_set(package, *more)
        return known[key]

    monkeypatch.setattr(task, "judge_problem_set", judge)


@pytest.fixture(scope="module")
def handed_in(tmp_path_factory):
    """The course after all of it: what submit said of each, the instructor's lines, and what had been outside.

    Files and archives are judged in a course of their own, whose gradebook stays empty: it takes most of the time.
    """
    base = tmp_path_factory.mktemp("handed-in")
    said = {}
    with released(tmp_path_factory, PROBLEM_SET) as bare:
        course = copy_of(bare, base / "course")
    notebook = released_notebook(course)
    second = copy_of(course, base / "course-without-gradebook")
    written(base / "of-another" / "submitted" / "zoe" / PROBLEM_SET, {"torch.py": b"1"})
    before = outside(base)
    honest = written(tmp_path_factory.mktemp("honest"), {}, HONEST, as_released(notebook))
    said["zoe"] = submit(course, "zoe", honest)
    for student, one in ATTACKS.items():
        place = course if is_entered(student) else second
        if one.by == "exchange":
            place.submitted(student, PROBLEM_SET).mkdir(parents=True)
            one.make(place.submitted(student, PROBLEM_SET), notebook)
        else:
            said[student] = submit(place, student, one.make(tmp_path_factory.mktemp("hostile"), notebook))
    for student in (*TYPED, *names.TWINS, *names.TAKEN):
        said[student] = submit(course, student, honest)
    for student in ("Zoe", "z\u043e\u0435", *AS_FOLDERS):
        shutil.copytree(honest, course.submitted(student, PROBLEM_SET))
    with pytest.MonkeyPatch.context() as patch:
        once_for_each_text(patch)
        lines = judged(second, second.students(PROBLEM_SET))
        lines |= {line.student: line for line in pipeline.grade(course, PROBLEM_SET)}
    yield course, said, lines, before
    for place in tmp_path_factory.getbasetemp().glob("hostile*"):  # pytest itself stops at folders as deep as some here
        subprocess.run(["rm", "-rf", place], check=True)
    subprocess.run(["rm", "-rf", base], check=True)


def is_entered(student):
    """Whether an attack is graded to the end: all that could reach nbgrader."""
    return student.startswith("notebooks") or ATTACKS[student].by == "exchange"


def test_there_are_enough_of_them():
    assert len(ATTACKS) >= 90 and all(one.about for one in ATTACKS.values())


@pytest.mark.parametrize("student", ATTACKS)
def test_what_is_handed_in_earns_what_its_honest_part_deserves(handed_in, student):
    course, said, lines, _ = handed_in
    one = ATTACKS[student]
    if one.refused:
        text, taken = said[student]
        assert not taken and re.search(one.refused, text) and student not in lines
        assert not list(course.root.parent.glob(f"*/submitted/{student}"))
        return
    told = "\n".join(lines[student].remarks)
    assert lines[student].points == one.deserves, told
    assert re.search(one.log, told, re.DOTALL) if one.log else told == ""


def test_an_honest_student_among_them_has_full_marks_and_no_remark_but_on_her_twins(handed_in):
    line = handed_in[2]["zoe"]
    assert line.points == FULL
    assert {f"the id looks like {one}'s, who has handed in too" for one in ("Zoe", "z\u043e\u0435")} <= set(
        line.remarks
    )
    assert all(remark.startswith("the id looks like") for remark in line.remarks)


@pytest.mark.parametrize("student", TYPED, ids=ascii)
def test_an_odd_id_is_refused(handed_in, student):
    text, taken = handed_in[1][student]
    assert not taken and ("a student id is letters" in text or "No such option" in text)


def test_an_id_typed_another_way_is_the_same_persons():
    assert {typed: student_id(typed) for typed in names.COMPOSED} == names.COMPOSED


@pytest.mark.parametrize("student", names.TWINS, ids=ascii)
def test_an_id_that_looks_like_anothers_is_refused_with_the_others_name(handed_in, student):
    text, taken = handed_in[1][student]
    assert not taken and "looks like zoe, who has handed in already" in text


@pytest.mark.parametrize("student", names.TAKEN, ids=ascii)
def test_ids_of_any_script_are_taken_and_graded(handed_in, student):
    _, said, lines, _ = handed_in
    assert said[student][1] and lines[student].points == FULL


@pytest.mark.parametrize("student", AS_FOLDERS, ids=ascii)
def test_a_folder_with_an_odd_id_is_not_graded_and_named(handed_in, student):
    line = handed_in[2][student]
    assert line.points is None and "a student id is letters" in line.remarks[0]


@pytest.mark.parametrize("student", ["Zoe", "z\u043e\u0435"], ids=ascii)
def test_a_twin_that_came_as_a_folder_is_graded_for_itself_and_remarked(handed_in, student):
    line = handed_in[2][student]
    assert line.points == FULL and "the id looks like zoe's, who has handed in too" in line.remarks


def test_the_gradebook_holds_what_the_lines_say(handed_in):
    course, _, lines, _ = handed_in
    book = {score.student: score.points for score in scores(course, PROBLEM_SET)}
    entered = [lines[student] for student in course.students(PROBLEM_SET)]
    assert book == {line.student: line.points for line in entered if line.points is not None}


def test_nothing_outside_the_course_has_changed(handed_in):
    course, _, _, before = handed_in
    assert outside(course.root.parent) == before
    assert not Path("/tmp/pickled").exists()


def test_what_was_taken_in_is_clean(handed_in):
    course, _, lines, _ = handed_in
    allowed = {"attention", f"{PROBLEM_SET}.ipynb", "timestamp.txt", "submission_secret.txt"}
    for student in (one for one in course.students(PROBLEM_SET) if lines[one].points is not None):
        folder = course.submitted(student, PROBLEM_SET)
        assert {path.name for path in folder.iterdir()} == allowed
        assert all(path.is_file() and not path.is_symlink() for path in (folder / "attention").iterdir())
