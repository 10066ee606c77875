"""Makes a stock nbgrader course, whose tests run in the notebook's kernel.

It has the same checks, input draws and comparison; each grade cell ends in its points.
"""

from __future__ import annotations

import compileall
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from selfcheck.catalogue import in_problem_set, modules_of

from ..answer_key.checks import hidden_checks
from ..answer_key.keys import keys_of
from ..build.exercise_text import slug
from ..course.paths import ROOT
from ..course.policy import GradingPolicy
from ..release.bundle import bundle

CONFIG = """c = get_config()  # noqa: F821
c.CourseDirectory.course_id = "stock"
"""
SET_UP = "from checks import points"
RELEASE_TIMEOUT = 300  # seconds
PROGRAM = Path(sys.executable).with_name("nbgrader")
#: The line of output with which nbgrader begins a submission.
BEGIN_LINE = r"Converting notebook .*/submitted/"


def make_course(root: Path, problem_set: str, secret: bytes) -> Path:
    """A course folder with nbgrader's own settings, and the problem set released; returns the released notebook.

    secret: of the course whose hidden draws are used
    """
    source = root / "source" / problem_set
    source.mkdir(parents=True)
    (root / "nbgrader_config.py").write_text(CONFIG, encoding="utf-8")
    _write(library(root), installed(problem_set))
    compileall.compile_dir(library(root), quiet=1)  # as when a package is installed
    _write(source, keys(problem_set, secret) | {f"{problem_set}.ipynb": notebook(problem_set)})
    command = [str(PROGRAM), "generate_assignment", problem_set, "--create", "--force"]
    done = subprocess.run(
        command, cwd=root, env=environment(root), capture_output=True, text=True, timeout=RELEASE_TIMEOUT, check=False
    )
    if done.returncode:
        raise RuntimeError(f"nbgrader could not release {problem_set}:\n{done.stderr}")
    return root / "release" / problem_set / f"{problem_set}.ipynb"


def library(root: Path) -> Path:
    """The folder of compiled packages that the kernel imports, as if they were installed."""
    return root / "library"


def installed(problem_set: str) -> dict[str, str]:
    """The text of every file that grade cells import: selfcheck, the hidden checks, and what runs them."""
    files = {path: text for path, text in bundle(problem_set).items() if path.startswith("selfcheck/")}
    here = Path(__file__).parent
    files["checks.py"] = (here / "in_kernel.py").read_text(encoding="utf-8")
    files["hidden_checks/__init__.py"] = ""
    for module in modules_of(problem_set):
        files[f"hidden_checks/{module}.py"] = (
            ROOT / "autograder" / "answer_key" / "hidden" / f"{module}.py"
        ).read_text(encoding="utf-8")
    return files


def keys(problem_set: str, secret: bytes) -> dict[str, str]:
    """The input draws and right answers of each exercise, as files beside the notebook."""
    files = {}
    for exercise in in_problem_set(problem_set):
        hidden = {check.name for check in hidden_checks(exercise)}
        entries = [
            {
                "module": f"{'hidden_checks' if key.check.name in hidden else 'selfcheck.checks'}.{exercise.module}",
                "check": key.check.name,
                "calls": key.calls,
                "expected": key.expected,
                "reveal": key.reveal,
            }
            for key in keys_of(exercise, GradingPolicy(secret))
        ]
        files[f"keys/{exercise.number}.json"] = json.dumps(entries)
    return files


def _write(folder: Path, texts: dict[str, str]) -> None:
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def notebook(problem_set: str) -> str:
    """The problem set's source notebook, with the same prompts, questions and grade cells, whose tests run in it."""
    import nbformat

    from ..build.notebooks import IMPORTS, source_notebook

    numbers = {slug(exercise): exercise.number for exercise in in_problem_set(problem_set)}
    made = source_notebook(problem_set)
    kept = []
    for cell in made.cells:
        settings = cell.metadata.get("nbgrader", {})
        if cell.cell_type == "code" and settings.get("grade"):
            cell.source = f'points("{numbers[settings["grade_id"]]}")'
        elif cell.source == IMPORTS:
            cell.source = SET_UP
        elif re.match(r"(#.*\n)?(edit|pack)\(", cell.source):  # only of use to a learner
            continue
        kept.append(cell)
    made.cells = kept
    return nbformat.writes(made, version=4)


def copy_course(root: Path, target: Path) -> None:
    """Another course folder with the same problem set released, and a gradebook of its own."""
    shutil.copytree(root, target, ignore=shutil.ignore_patterns("submitted", "autograded"))


def command(problem_set: str) -> list[str]:
    """The command that grades every submission, to be run in the course folder."""
    return [str(PROGRAM), "autograde", problem_set]


def environment(root: Path) -> dict[str, str]:
    """The environment of nbgrader in a stock course: `plain_environment`, and the course's library."""
    return plain_environment(root) | {"PYTHONPATH": str(library(root))}


def plain_environment(root: Path) -> dict[str, str]:
    """An environment without anybody's settings for Jupyter, nbgrader or Python, in which `alembic` is on the path."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("JUPYTER", "NBGRADER", "PYTHON"))}
    own = {name: str(root / ".jupyter") for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "IPYTHONDIR")}
    programs = os.pathsep.join([str(PROGRAM.parent), os.environ.get("PATH", os.defpath)])
    return kept | own | {"PATH": programs, "PYTHONUNBUFFERED": "1"}
