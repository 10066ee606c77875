"""The command line: every command is listed with a line of help, and the list comes fast."""

import os
import subprocess
import sys

import pytest
from click.testing import CliRunner

from autograder.__main__ import MODULES, main
from autograder.course.folder import MOST_PATH
from autograder.course.paths import ROOT

HEAVY = {"torch", "nbgrader", "nbformat", "distributed", "sqlalchemy"}


def test_each_command_is_listed_with_a_help_that_fits_its_line():
    done = CliRunner().invoke(main, ["--help"])
    assert done.exit_code == 0
    lines = {line.split()[0]: line for line in done.output.partition("Commands:")[2].splitlines() if line.strip()}
    assert set(lines) == set(MODULES)
    assert all(line.endswith(".") and not line.endswith("..") for line in lines.values()), done.output


@pytest.mark.parametrize("command", MODULES)
def test_each_command_explains_itself(command):
    done = CliRunner().invoke(main, [command, "--help"])
    assert done.exit_code == 0 and done.output.startswith(f"Usage: main {command}")


def test_the_list_of_commands_imports_neither_torch_nor_nbgrader():
    code = (
        "import sys\n"
        "from autograder.__main__ import main\n"
        "main(['--help'], standalone_mode=False)\n"
        f"print('imported:', *{HEAVY!r} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.splitlines()[-1] == "imported:"


def test_an_unknown_command_is_refused():
    done = CliRunner().invoke(main, ["grad"])
    assert done.exit_code == 2 and "grad" in done.output


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="Linux's device on which nothing can be written")
@pytest.mark.parametrize("words", [["--help"], ["doctor"]], ids=" ".join)
def test_a_disk_that_is_full_where_the_output_goes_is_told_in_a_sentence(words):
    with open("/dev/full", "w") as full:
        done = started(words, ROOT, stdout=full)
    assert done.returncode == 1 and done.stderr.startswith("autograder: nothing more can be printed, No space left")
    assert len(done.stderr.splitlines()) == 1


def test_a_current_folder_that_was_removed_is_told_in_a_sentence(tmp_path):
    gone = tmp_path / "gone"
    gone.mkdir()
    done = started(["log", "ps1"], gone, preexec_fn=gone.rmdir)
    assert done.returncode == 1 and len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("autograder: the current folder is not there any more: go to another one")


def test_a_course_whose_path_is_too_long_for_its_gradebook_is_refused_with_the_numbers(tmp_path):
    longest = MOST_PATH - len("/gradebook.db")
    while len(os.fsencode(tmp_path)) < longest - 100:
        tmp_path /= "ä" * 40
    for length, is_taken in ((longest, True), (longest + 1, False)):
        course = tmp_path / ("x" * (length - len(os.fsencode(tmp_path)) - 1))
        course.mkdir(parents=True)
        (course / "secret").write_text("x" * 64)
        done = CliRunner().invoke(main, ["log", "ps1", "--course", str(course)])
        said = " ".join(done.output.split())
        assert ("has more than 504 bytes, and this one's would have 505" in said) is not is_taken
        assert ("nothing is logged" in said) is is_taken
    (course / "nbgrader_config.py").write_text('c.CourseDirectory.db_url = "postgresql:///attention"\n')
    assert "nothing is logged" in " ".join(
        CliRunner().invoke(main, ["log", "ps1", "--course", str(course)]).output.split()
    )


def started(words, folder, **more):
    """The command, started in a folder as a program of its own."""
    env = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, (ROOT, ROOT / "src", ROOT / "solutions")))}
    more = {"stdout": subprocess.PIPE} | more
    command = [sys.executable, "-m", "autograder", *words]
    return subprocess.run(command, cwd=folder, env=env, stderr=subprocess.PIPE, text=True, timeout=120, **more)
