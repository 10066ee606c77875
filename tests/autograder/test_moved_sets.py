"""A course whose problem sets were released with other exercises than these sets have now says so, and changes nothing.

tests/data/course_0_5_0_late_sets.tar.xz is a course folder of version 0.5.0, where ps8 is attention that scales and ps9
attention before Transformers, each handed in by ada, everything right, and graded (without bundles and answer keys).
"""

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
from autograder.course import nbgrader_files
from autograder.course.folder import Course
from autograder.gradebook.scores import scores
from autograder.release import bundle as releasing
from autograder.release.moved import SetMoved, moved_away
from selfcheck.catalogue import in_problem_set, problem_sets

from .judged_class import copy_of, tree

ARCHIVE = Path(__file__).parents[1] / "data" / "course_0_5_0_late_sets.tar.xz"
NBGRADER = Path(sys.executable).with_name("nbgrader")
POINTS = {"ps8": 68, "ps9": 82}
MOVED = {
    "ps8": ("to ps9: efficient.KeyValueCache (", "to ps10: efficient.online_softmax (Softmax in one pass)"),
    "ps9": ("sequence_to_sequence.attend (", "to ps8: "),
}
ADVICE = "Grade this set with the version of Attention by Hand that released it"


@pytest.fixture(scope="module")
def former(tmp_path_factory):
    """The folder as 0.5.0 left it, with nbgrader's settings renewed, as any command does first."""
    folder = tmp_path_factory.mktemp("former")
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(folder, filter="data")
    nbgrader_files.renew(folder / "course")
    return Course(folder / "course")


def run(course, command, problem_set, *options):
    done = CliRunner().invoke(main, [command, problem_set, "--course", str(course.root), *options])
    return done.exit_code, " ".join(done.output.split())


def assert_told(said, problem_set):
    for text in (*MOVED[problem_set], ADVICE, f"{problem_set} now has {in_problem_set(problem_set)[0].id}"):
        assert text in said, said


@pytest.mark.parametrize("problem_set", ["ps8", "ps9"])
@pytest.mark.parametrize("command", ["release", "grade", "report", "submit"])
def test_a_command_that_would_mix_the_sets_refuses_and_says_what_has_moved(former, tmp_path, command, problem_set):
    course = copy_of(former, tmp_path / "course")
    options = ["--student", "ben", str(course.submitted("ada", problem_set))] if command == "submit" else []
    code, said = run(course, command, problem_set, *options)
    assert code == 1 and said.startswith(f"{command} {problem_set}: "), said
    assert_told(said, problem_set)
    assert tree(course) == tree(former)


@pytest.mark.parametrize("command", ["feedback", "export"])
def test_what_was_graded_is_passed_on_and_what_has_moved_is_said(former, tmp_path, command):
    course = copy_of(former, tmp_path / "course")
    code, said = run(course, command, "ps8")
    assert code == 0, said
    assert_told(said, "ps8")
    if command == "export":
        assert [one.final for one in scores(course, "ps8")] == [POINTS["ps8"]]
        assert '"ada","ps8",68.0' in (course.root / "ps8.csv").read_text(encoding="utf-8")
    else:
        page = (course.feedback("ada", "ps8") / "ps8.html").read_text(encoding="utf-8")
        assert "efficient.online_softmax" in page or "Softmax in one pass" in page


def test_the_pipeline_refuses_too_whoever_calls_it(former, tmp_path):
    course = copy_of(former, tmp_path / "course")
    with pytest.raises(SetMoved, match="ps8 has other exercises now"):
        pipeline.grade(course, "ps8")
    with pytest.raises(SetMoved, match="ps8 has other exercises now"):
        releasing.release(course, "ps8")


def test_nbgraders_own_autograde_enters_nothing(former, tmp_path):
    course = copy_of(former, tmp_path / "course")
    done = subprocess.run(
        [NBGRADER, "autograde", "ps8", "--force"],
        cwd=course.root,
        capture_output=True,
        text=True,
        timeout=300,
        env=os.environ,
    )
    assert done.returncode != 0
    assert_told(" ".join(done.stderr.split()), "ps8")
    for path in (course.result_file("ada", "ps8"), course.root / "log.jsonl"):
        assert path.read_bytes() == (former.root / path.relative_to(course.root)).read_bytes()


def test_a_set_is_not_released_whose_exercises_the_course_has_under_another_name(former, tmp_path):
    course = copy_of(former, tmp_path / "course")
    code, said = run(course, "release", "ps10")
    assert code == 1 and "ps10 has exercises that this course has released as ps8, and would ask for them twice" in said
    assert_told(said, "ps8")
    assert tree(course) == tree(former)


def test_it_is_noticed_where_the_gradebook_alone_is_left(former, tmp_path):
    course = copy_of(former, tmp_path / "course")
    shutil.rmtree(course.root / "release")
    shutil.rmtree(course.root / "source")
    code, said = run(course, "release", "ps8")
    assert code == 1
    assert_told(said, "ps8")


def test_other_sets_of_such_a_course_go_on(former, tmp_path):
    course = copy_of(former, tmp_path / "course")
    code, said = run(course, "release", "ps1")
    assert code == 0 and "moved" not in said.lower(), said


def test_judge_does_not_judge_what_was_made_for_the_former_set(former):
    done = CliRunner().invoke(main, ["judge", str(former.submitted("ada", "ps9")), "--problem-set", "ps9"])
    said = " ".join(done.output.split())
    assert done.exit_code == 1 and "is left out: ps9 has other exercises now" in said, said
    assert "to ps8: sequence_to_sequence.attend (" in said and "points" not in said


@pytest.mark.full
def test_judge_leaves_a_folder_out_whose_notebook_is_of_the_former_set(former, tmp_path):
    old, new = tmp_path / "ada", tmp_path / "ben"
    for folder in (old, new):
        shutil.copytree(former.submitted("ada", "ps9"), folder)
    notebook = json.loads((new / "ps9.ipynb").read_text(encoding="utf-8"))
    notebook["cells"] = []
    (new / "ps9.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    command = ["judge", str(old), str(new), "--problem-set", "ps9", "--json", str(tmp_path / "verdicts.json")]
    done = CliRunner().invoke(main, command)
    said = " ".join(done.output.split())
    assert done.exit_code == 1 and f"{old} is left out: ps9 has other exercises now" in said, said
    verdicts = json.loads((tmp_path / "verdicts.json").read_text(encoding="utf-8"))
    assert list(verdicts) == [str(new)] and "efficient.KeyValueCache" in verdicts[str(new)]["exercises"]


def test_the_demonstration_says_what_to_do_with_its_folder(former, tmp_path):
    course = copy_of(former, tmp_path / "course")
    done = CliRunner().invoke(main, ["demo", "--course", str(course.root)])
    said = " ".join(done.output.split())
    assert done.exit_code == 1 and f"rm -r {course.root}" in said, said[-1500:]


@pytest.mark.parametrize("problem_set", problem_sets())
def test_todays_sets_have_moved_nowhere(problem_set):
    own = [exercise.id.replace(".", "-") for exercise in in_problem_set(problem_set)]
    assert not moved_away(problem_set, [*own, f"{problem_set}-a-question", "no-exercise"])
