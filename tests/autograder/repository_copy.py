"""A copy of the repository whose exercises a test may change, and Python commands that run in it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from autograder.course.paths import ROOT

FOLDERS = ("solutions/attention", "src", "autograder", "tests/alternatives", "tests/exercises", "book")
FILES = ("pyproject.toml", "tests/__init__.py", "tests/conftest.py", "tests/reference/__init__.py")
IGNORED = shutil.ignore_patterns("__pycache__", "_build", "*.egg-info", ".ipynb_checkpoints")
#: `build`, but for the recorded answers of modules that nobody has changed: some of them take half a minute.
BUILD = """
from itertools import islice
from autograder.build import generate as build
from autograder.build import recorded_answers
chosen = tuple(one for one in recorded_answers.exercises() if one.module in {modules!r})
recorded_answers.exercises = lambda: chosen
build.strays = lambda files: []
products = build.products
build.products = lambda: islice(products(), {groups})  # stubs, recorded answers, notebooks
assert build.build() == []
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
    return subprocess.run(command, cwd=root, env=variables, capture_output=True, text=True, timeout=300)


def build(root: Path, *modules: str, notebooks: bool = True) -> None:
    """Build what follows from a change to these modules and, as far as notebooks go, to pages."""
    done = run(root, "-c", BUILD.format(modules=modules, groups=3 if notebooks else 2))
    assert done.returncode == 0, done.stdout + done.stderr
