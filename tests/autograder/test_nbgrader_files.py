"""nbgrader's own commands never run what was handed in, whatever has become of the course's settings or the grader."""

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner
from nbgrader.dbutil import _temp_alembic_ini

from autograder.__main__ import main
from autograder.course import nbgrader_files
from autograder.course.folder import Course
from autograder.course.paths import ROOT
from autograder.gradebook.nbgrader import configuration, gradebook

from .shared_courses import copy_of, released

NBGRADER = Path(sys.executable).with_name("nbgrader")
MOVED = "raise ImportError('the repository has moved')\n"
OWN_LINES = '\nc.Exchange.root = "/srv/exchange"  # é\n'


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    with released(tmp_path_factory, "ps1") as course:
        yield course


@pytest.fixture
def course(bare, tmp_path):
    """A course in which ada has handed in a notebook that leaves a mark where it is run."""
    course = copy_of(bare, tmp_path / "course")
    notebook = json.loads((course.release("ps1") / "ps1.ipynb").read_text(encoding="utf-8"))
    code = f"open({str(tmp_path / 'mark')!r}, 'w').close()"
    cell = {"cell_type": "code", "id": "mark", "metadata": {}, "source": code, "outputs": [], "execution_count": None}
    notebook["cells"].insert(0, cell)
    course.submitted("ada", "ps1").mkdir(parents=True)
    (course.submitted("ada", "ps1") / "ps1.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    return course


def autograde(course, tmp_path, grader_text=None, *options, folder=None):
    """Exit code and words of `nbgrader autograde`, and whether ada's notebook was run; grader_text: in its stead."""
    elsewhere = tmp_path / "elsewhere"
    if grader_text is not None:
        (elsewhere / "autograder").mkdir(parents=True)
        (elsewhere / "autograder" / "__init__.py").write_text(grader_text)
    path = (elsewhere, ROOT, ROOT / "src")  # or it is the grader that is installed
    done = subprocess.run(
        [NBGRADER, "autograde", "ps1", *options],
        cwd=folder or course.root,
        env={"PATH": str(NBGRADER.parent), "HOME": str(tmp_path), "PYTHONPATH": os.pathsep.join(map(str, path))},
        capture_output=True,
        text=True,
        timeout=250,
    )
    return done.returncode, " ".join((done.stdout + done.stderr).split()), (tmp_path / "mark").exists()


def test_where_the_grader_cannot_be_imported_the_command_ends_and_says_so(course, tmp_path):
    code, said, was_run = autograde(course, tmp_path, MOVED)
    assert code == 1 and not was_run
    assert "the course's grader cannot be used by" in said and "ImportError: the repository has moved" in said
    assert "Nothing is run or graded" in said and not (course.root / "autograded").exists()


@pytest.mark.full
@pytest.mark.parametrize(
    ("settings", "grader_text"),
    [(nbgrader_files.FORMER[0], MOVED), (nbgrader_files.TEXT + "c.Exchange.root = (\n", None), (None, None)],
    ids=["of 0.5.0, without the grader", "that cannot be parsed", "that are gone"],
)
def test_with_settings_that_cannot_be_read_nothing_is_run_and_nothing_graded(course, tmp_path, settings, grader_text):
    path = course.root / nbgrader_files.SETTINGS
    path.unlink() if settings is None else path.write_text(settings, encoding="utf-8")
    code, said, was_run = autograde(course, tmp_path, grader_text)
    assert code != 0 and not was_run
    assert f"No such kernel named {nbgrader_files.KERNEL}" in said


@pytest.mark.full
def test_settings_in_a_home_that_execute_nothing_have_no_cell_count_as_passed(course, tmp_path):
    (tmp_path / ".jupyter").mkdir()
    (tmp_path / ".jupyter" / nbgrader_files.SETTINGS).write_text("c = get_config()\nc.Execute.enabled = False\n")
    (course.root / nbgrader_files.SETTINGS).write_text("c.Exchange.root = (\n", encoding="utf-8")
    code, said, was_run = autograde(course, tmp_path)
    assert code != 0 and not was_run and "Traceback" in said
    assert f"No such kernel named {nbgrader_files.KERNEL}" in said


@pytest.mark.full
def test_a_course_that_is_named_from_another_folder_must_be_named_whole(course, tmp_path):
    code, said, was_run = autograde(
        course, tmp_path, None, "--CourseDirectory.root=..", folder=course.root / "submitted"
    )
    assert code != 0 and not was_run and "name the course's folder by its whole path" in said
    assert not (tmp_path / "secret").exists(), "a relative path would be another folder, where nbgrader works"


def test_both_files_name_the_same_kernel_so_that_nbgrader_sees_no_collision(tmp_path):
    course = Course.open(tmp_path / "course")
    static = json.loads((course.root / nbgrader_files.STATIC_SETTINGS).read_text(encoding="utf-8"))
    assert static == {"Execute": {"kernel_name": nbgrader_files.KERNEL, "enabled": True}}
    assert configuration(course).Execute == static["Execute"]


def test_settings_of_an_earlier_version_are_renewed_and_the_instructors_lines_stay(tmp_path):
    root = tmp_path / "course"
    path = Course.open(root).root / nbgrader_files.SETTINGS
    (root / nbgrader_files.STATIC_SETTINGS).unlink()
    path.write_text(nbgrader_files.FORMER[0] + OWN_LINES, encoding="utf-8")
    path.chmod(0o600)  # it may hold a password
    done = CliRunner().invoke(main, ["report", "ps1", "--course", str(root)])
    assert "was written by an earlier version and is renewed" in " ".join(done.output.split())
    assert path.read_text(encoding="utf-8") == nbgrader_files.TEXT + OWN_LINES
    assert path.stat().st_mode & 0o777 == 0o600 and (root / nbgrader_files.STATIC_SETTINGS).exists()
    assert configuration(Course(root)).Exchange.root == "/srv/exchange"
    done = CliRunner().invoke(main, ["report", "ps1", "--course", str(root)])
    assert "renewed" not in done.output


def test_settings_that_an_instructor_has_changed_are_left_alone(tmp_path):
    path = Course.open(tmp_path / "course").root / nbgrader_files.SETTINGS
    text = "# mine\n" + nbgrader_files.FORMER[0]
    path.write_text(text, encoding="utf-8")
    assert nbgrader_files.renew(tmp_path / "course") == "" and path.read_text(encoding="utf-8") == text
    path.unlink()
    assert nbgrader_files.renew(tmp_path / "course") == "" and not path.exists()


def test_settings_that_end_the_program_are_an_error_of_the_course(tmp_path):
    course = Course.open(tmp_path / "course")
    (course.root / nbgrader_files.SETTINGS).write_text("raise SystemExit(1)\n", encoding="utf-8")
    with pytest.raises(RuntimeError, match="nbgrader_config.py stops: SystemExit"):
        configuration(course)


def test_a_new_gradebook_has_the_version_that_alembic_names_and_starts_no_program(tmp_path, monkeypatch):
    with _temp_alembic_ini("sqlite://") as settings:
        heads = [sys.executable, "-m", "alembic", "-c", settings, "heads"]
        newest = subprocess.run(heads, capture_output=True, text=True, check=True).stdout.split()[0]
    course = Course.open(tmp_path / "course")
    monkeypatch.setenv("PATH", "")
    with gradebook(course), closing(sqlite3.connect(course.root / "gradebook.db")) as tables:
        assert tables.execute("SELECT version_num FROM alembic_version").fetchall() == [(newest,)]
