"""A sandbox's temporary folder lasts no longer than its grader, however that ends."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from autograder.course.paths import ROOT
from autograder.sandbox.stage_folder import remove_left_over, stage_folder

HOLDS = """
from autograder.sandbox.stage_folder import stage_folder

with stage_folder() as folder:
    (folder / "attention").mkdir()
    (folder / "attention" / "masks.py").touch()
    print(folder, flush=True)
    input()
"""


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_what_a_killed_grader_has_left_is_removed_by_the_next_and_nothing_else(place):
    program, environment = [sys.executable, "-c", HOLDS], os.environ | {"TMPDIR": str(place)}
    with subprocess.Popen(program, cwd=ROOT, env=environment, stdin=-1, stdout=-1, text=True) as grader:
        folder = Path(grader.stdout.readline().strip())
        with stage_folder() as ours:
            assert {folder, ours} == set(place.iterdir()), "its grader lives"
            grader.kill()
            grader.wait()
            remove_left_over()
            assert set(place.iterdir()) == {ours}
    assert not list(place.iterdir())


def test_a_folder_that_nobody_says_is_held_stays(place):
    (place / "attention-stage-of-another").mkdir()
    with stage_folder():
        assert (place / "attention-stage-of-another").is_dir()
