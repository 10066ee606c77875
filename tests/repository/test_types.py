"""What is shipped passes the type checker, strict as pyproject.toml sets it."""

import subprocess
import sys

from autograder.course.paths import ROOT


def test_the_type_checker_finds_nothing(tmp_path):
    command = [sys.executable, "-m", "mypy", "--cache-dir", tmp_path, "--no-error-summary"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
