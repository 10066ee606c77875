"""The command line: every command is listed with a line of help, and the list comes fast."""

import subprocess
import sys

import pytest
from click.testing import CliRunner

from autograder.__main__ import MODULES, main

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
