"""How attacks by files, archives, notebooks and names are handed in, and what each of them deserves."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from autograder.build import stubs
from autograder.course.folder import Course
from autograder.course.paths import REFERENCE

from .bank import write

PROBLEM_SET = "ps1"
MODULE = "worked_example"
HONEST = (REFERENCE / f"{MODULE}.py").read_bytes()
STUB = stubs.all_stubs()[f"{MODULE}.py"].encode()
FULL = 42  # points of the problem set without what is graded by hand


@dataclass(frozen=True)
class HandIn:
    """One hostile submission.

    make: writes it below an empty folder and returns what is handed in: a folder, or one file
    deserves: points; log: a pattern that the instructor's lines match, "" where there must be none
    refused: a pattern of the sentence with which `submit` refuses it; then nobody is graded
    by: "submit", the command, or "exchange", a folder that appears among nbgrader's submitted ones
    """

    name: str
    about: str
    make: Callable[[Path, dict], Path]
    deserves: int = 0
    log: str = ""
    refused: str = ""
    by: str = "submit"


def written(place: Path, files: dict[str, bytes], module: bytes | None = HONEST, notebook: bytes | None = None) -> Path:
    """A folder with these files, the module of the problem set and, if given, its notebook."""
    more = {f"attention/{MODULE}.py": module} if module is not None else {}
    more |= {f"{PROBLEM_SET}.ipynb": notebook} if notebook is not None else {}
    return write(place, more | files)


def as_released(released: dict) -> bytes:
    """The released notebook, untouched."""
    return json.dumps(released).encode()


def released_notebook(course: Course) -> dict:
    """The notebook that everybody got."""
    return json.loads((course.release(PROBLEM_SET) / f"{PROBLEM_SET}.ipynb").read_text(encoding="utf-8"))
