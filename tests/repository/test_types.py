"""What is shipped passes the type checker, strict as pyproject.toml sets it."""

import subprocess
import sys

import pytest

from autograder.course.paths import ROOT

CHECKED = ("autograder", "src/selfcheck", "solutions/attention")


@pytest.mark.proof(depends=[*CHECKED, "pyproject.toml", "requirements.txt", "tests/requirements.txt"])
def test_the_type_checker_finds_nothing(tmp_path):
    command = [sys.executable, "-m", "mypy", "--cache-dir", tmp_path, "--no-error-summary"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
