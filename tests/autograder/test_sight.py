"""What a sandbox shows of this machine's files, and that nothing private is among them, wherever a course lies."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from click.testing import CliRunner
from nbformat.v4 import new_notebook

from autograder.__main__ import main
from autograder.course.folder import Course
from autograder.course.paths import ROOT
from autograder.gradebook.nbgrader import configuration
from autograder.intake.submission import Submission
from autograder.judge import cache
from autograder.nbgrader_plugin import TrustedResults
from autograder.sandbox import bubblewrap, sight

#: Reads what is private in the course that its own prefix holds, and the parts of the environment there.
ASKS = """
import sys
import tempfile
from pathlib import Path
from autograder.judge import protocol
from autograder.sandbox.bubblewrap import open_sandbox
from tests.autograder.test_sandbox import GIVEN, PLANS

course = Path(sys.argv[1])
assert course.is_relative_to(sys.prefix), sys.prefix
body = f'''
import os

def causal_mask(n):
    import numpy
    seen = [name for name in ("secret", "gradebook.db", "submitted") if os.path.exists({str(course)!r} + "/" + name)]
    return str((seen, os.path.exists({sys.prefix!r} + "/bin"), int(numpy.ones(n).sum())))
'''
request = protocol.Request("masks.causal_mask", PLANS)
sandbox = open_sandbox(private=[course / "secret", course / "submitted"])
(answers,) = protocol.ask(GIVEN | {"masks.py": body.encode()}, [request], False, sandbox)
print(answers["0"][0])
"""


def environment(folder, *, packages):
    """A virtual environment in a folder: its Python is this one, its packages are this one's or none."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "bin").mkdir()
    (folder / "bin" / "python").symlink_to(os.path.realpath(sys.executable))
    (folder / "pyvenv.cfg").write_text(f"home = {os.path.realpath(sys.base_prefix)}/bin\n")
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    (folder / "lib" / version).mkdir(parents=True)
    if packages:
        (folder / "lib" / version / "site-packages").symlink_to(site_packages())
    return folder / "bin" / "python"


def site_packages():
    import numpy

    return Path(numpy.__file__).parents[1]


def readable_course(root):
    """A course that every user could read."""
    Course.open(root)
    (root / "gradebook.db").touch()
    (root / "submitted" / "ben").mkdir(parents=True)
    (root / "secret").chmod(0o644)
    root.chmod(0o755)


def python(program, code, *arguments, path=""):
    return subprocess.run(
        [program, "-c", code, *arguments],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], "HOME": "/nonexistent", "PYTHONPATH": path},
        capture_output=True,
        text=True,
    )


@pytest.fixture
def open_folder():
    """A folder that every user could read; pytest's own are for one user."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        yield Path(folder)


def test_a_course_beside_the_virtual_environments_own_folders_is_not_seen(open_folder):
    program = environment(open_folder / "course", packages=True)
    readable_course(open_folder / "course")
    done = python(program, ASKS, str(open_folder / "course"), path=str(ROOT / "src"))
    assert "'([], True, 3)'" in done.stdout, done.stderr


OPENS = """
from autograder.sandbox.bubblewrap import SandboxUnavailable, open_sandbox
try:
    print(open_sandbox().level)
except SandboxUnavailable as refused:
    print(refused)
"""


def test_packages_that_the_sandbox_does_not_show_are_refused_with_the_remedy(tmp_path):
    program = environment(tmp_path / "environment", packages=False)
    done = python(program, OPENS, path=f"{site_packages()}:{ROOT / 'src'}")
    said = " ".join(done.stdout.split())
    assert "sandbox self-test failed: numpy and torch" in said, done.stderr
    assert "pip installed with --user" in said and "make setup" in said


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A machine whose /usr lies in a temporary folder, with this user's home and virtual environment below it."""
    home = tmp_path / "usr" / "people" / "ann"
    for place in ("venv/bin", "venv/lib/python/site-packages", "venv/course", "notes"):
        (home / place).mkdir(parents=True)
    (home / "venv" / "pyvenv.cfg").touch()
    monkeypatch.setattr(sight, "SYSTEM", str(tmp_path / "usr"))
    monkeypatch.setattr(sight, "EXCHANGE", str(tmp_path / "usr" / "exchange"))
    (tmp_path / "usr" / "exchange").mkdir()
    monkeypatch.setattr(sys, "prefix", str(home / "venv"))
    monkeypatch.setenv("HOME", str(home))
    return tmp_path / "usr"


def test_a_home_and_an_exchange_below_what_is_shown_are_hidden_and_the_interpreter_is_not(machine):
    home = machine / "people" / "ann"
    order = [place for place, _ in sight.arrangement()]
    hidden = [place for place, source in sight.arrangement() if source is None]
    assert hidden == [str(machine / "exchange"), str(home)]
    assert order.index(str(home)) < order.index(str(home / "venv" / "bin"))
    shown = {
        "bin/env": True,
        "exchange/course": False,
        "people/ann/notes": False,
        "people/ann/venv/course": False,
        "people/ann/venv/lib/python/site-packages/numpy": True,
        "people/ben": True,
    }
    assert {name: sight.shown_by(machine / name) is not None for name in shown} == shown
    assert sight.shown_by("/etc/passwd") is None


def test_a_link_to_what_is_shown_is_in_sight_too(machine, tmp_path):
    (tmp_path / "link").symlink_to(machine / "people" / "ben")
    assert sight.shown_by(tmp_path / "link" / "secret") == str(machine)


def test_temporary_files_in_sight_are_refused_for_submissions_that_run_lie_there(machine, monkeypatch):
    (machine / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(machine / "tmp"))
    with pytest.raises(sight.InSight, match="which every submission sees: nothing is run. Set TMPDIR"):
        bubblewrap.open_sandbox()


def test_a_course_in_sight_is_refused_before_anything_runs(machine):
    course = Course.open(machine / "course")
    with pytest.raises(sight.InSight, match="which every submission sees: nothing is run. Move the course"):
        bubblewrap.open_sandbox(private=course.private_places)
    done = CliRunner().invoke(main, ["grade", "ps1", "--course", str(course.root)])
    assert done.exit_code == 1 and "every submission sees" in " ".join(done.output.split())


@pytest.mark.parametrize("place", ["course", "people/ben/course", "people/ann/venv/lib/python/site-packages/course"])
@pytest.mark.parametrize("linked", ["", "secret", "submitted", "gradebook.db", "."])
def test_a_course_below_anything_shown_is_refused_and_so_is_one_that_links_there(machine, tmp_path, place, linked):
    """linked: what of a course that lies elsewhere is a link to what is shown, itself or a folder above it."""
    shown = Course.open(machine / place)
    (shown.root / "submitted").mkdir()
    (shown.root / "gradebook.db").touch()
    if linked == ".":
        (tmp_path / "course").symlink_to(shown.root)
    elif linked:
        (tmp_path / "course").mkdir()
        (tmp_path / "course" / linked).symlink_to(shown.root / linked)
    course = Course(tmp_path / "course") if linked else shown
    with pytest.raises(sight.InSight, match="which every submission sees: nothing is run"):
        bubblewrap.open_sandbox(private=course.private_places)


def test_a_secret_given_elsewhere_in_sight_is_refused(machine, tmp_path):
    (machine / "key").write_text("x" * 20)
    (tmp_path / "course").mkdir()
    (tmp_path / "course" / "course.toml").write_text(f'secret_file = "{machine / "key"}"\n')
    with pytest.raises(sight.InSight, match="key lies below"):
        bubblewrap.open_sandbox(private=Course.open(tmp_path / "course").private_places)


def test_a_folder_of_packages_that_links_into_a_home_shows_the_packages_alone(machine, tmp_path, monkeypatch):
    """A prefix whose packages are a link: their real place is shown, and what lies beside it is not."""
    (machine.parent / "srv" / "packages").mkdir(parents=True)
    (machine.parent / "srv" / "course").mkdir()
    prefix = machine.parent / "opt"
    (prefix / "bin").mkdir(parents=True)
    (prefix / "lib").symlink_to(machine.parent / "srv" / "packages")
    monkeypatch.setattr(sys, "prefix", str(prefix))
    assert sight.shown_by(machine.parent / "srv" / "packages") and not sight.shown_by(machine.parent / "srv" / "course")


@pytest.mark.parametrize(
    "setting", ['c.Exchange.root = "{}/exchange-of-all"', 'c.CourseDirectory.db_url = "sqlite:///{}/book.db"']
)
def test_an_exchange_or_a_gradebook_in_sight_is_refused(machine, tmp_path, setting):
    course = Course.open(tmp_path / "course")
    configuration(course)
    with (course.root / "nbgrader_config.py").open("a") as file:
        file.write("\n" + setting.format(machine) + "\n")
    with pytest.raises(sight.InSight, match="every submission sees"):
        configuration(course)


def test_nbgraders_own_command_judges_nobody_who_would_see_the_course(machine, tmp_path, monkeypatch):
    """Neither its settings nor the course's may put in sight what is private."""
    judged = []
    monkeypatch.setattr("autograder.judge.cache.judge_task", lambda *given: judged.append(given))
    course = Course.open(machine / "course")
    submission = Submission(student="ada", problem_set="ps1", files={"worked_example.py": b""}, notebook="")
    with pytest.raises(sight.InSight, match="every submission sees"):
        cache.result_of(course, submission)
    step = TrustedResults()
    step.config.CourseDirectory.root = str(tmp_path / "elsewhere")
    step.config.Exchange.root = str(machine / "exchange-of-all")
    with pytest.raises(sight.InSight, match="exchange-of-all lies below"):
        step.preprocess(new_notebook(), {"nbgrader": {"student": "ada", "assignment": "ps1"}})
    assert not judged


def test_a_secret_and_checks_of_ones_own_are_private(tmp_path):
    (tmp_path / "checks").mkdir()
    (tmp_path / "key").write_text("x" * 20)
    (tmp_path / "course").mkdir()
    (tmp_path / "course" / "course.toml").write_text('secret_file = "../key"\nhidden_checks = "../checks"\n')
    places = Course.open(tmp_path / "course").private_places
    assert {tmp_path / "key", tmp_path / "checks", tmp_path / "course" / "submitted"} <= set(places)
