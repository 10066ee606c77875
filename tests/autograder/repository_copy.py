"""A copy of the repository whose exercises a test may change, and Python commands that run in it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from autograder.course.paths import ROOT

FOLDERS = ("solutions/attention", "src", "autograder", "tests/alternatives", "tests/exercises", "tests/records", "book")
MODULES = ("__init__", "conftest", "scheduling", "reference/__init__")
FILES = ("pyproject.toml", "requirements.txt", *map("tests/{}.py".format, MODULES))
IGNORED = shutil.ignore_patterns("__pycache__", "_build", "proven", "*.egg-info", ".ipynb_checkpoints")
#: `build`, but for the recorded answers of modules that nobody has changed: some of them take half a minute.
BUILD = """
from itertools import takewhile
from autograder.build import choose_long_axes, generate, recorded_answers
chosen = tuple(exercise for exercise in recorded_answers.exercises() if exercise.module in {modules!r})
recorded_answers.exercises = choose_long_axes.exercises = lambda: chosen
generate.strays = lambda files: []
products = generate.products
generate.products = lambda: takewhile(lambda group: {notebooks!r} or group[0] != "notation", products())
assert generate.build() == []
"""


def copied(root: Path) -> Path:
    """What `build`, `new`, the proofs and a course need; the stubs are left to `build`: a learner may work here."""
    for folder in FOLDERS:
        shutil.copytree(ROOT / folder, root / folder, ignore=IGNORED)
    for name in FILES:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, root / name)
    shutil.rmtree(root / "src" / "attention")
    return root


def run(root: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """A Python command in the copy, with the copy's own packages."""
    paths = os.pathsep.join(map(str, (root, root / "src")))
    variables = {**os.environ, "PYTHONPATH": paths, "COLUMNS": "200", "PYTEST_ADDOPTS": ""}
    command = [sys.executable, *map(str, arguments)]
    return subprocess.run(command, cwd=root, env=variables, capture_output=True, text=True, timeout=600)


def build(root: Path, *modules: str, notebooks: bool = True) -> None:
    """Build what follows from a change to these modules and, as far as notebooks go, to pages."""
    done = run(root, "-c", BUILD.format(modules=modules, notebooks=notebooks))
    assert done.returncode == 0, done.stdout + done.stderr
