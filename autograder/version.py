"""The grader's version: a digest of every file that can change a verdict."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path

from .course.digest import digest_of_parts
from .course.paths import ROOT

#: What a verdict depends on, folders with all that lies below them.
PARTS = (
    "autograder/version.py",
    "autograder/answer_key",
    "autograder/cores.py",
    "autograder/course",
    "autograder/intake",
    "autograder/judge",
    "autograder/sandbox",
    "autograder/build/solution_marks.py",
    "autograder/build/stubs.py",
    "solutions/attention",
    "src/selfcheck",
)
#: What has nobody regraded: how grades are stored, shown, released or measured, and what authors and the site use.
APART = (
    "autograder/__init__.py",
    "autograder/__main__.py",
    "autograder/authoring",
    "autograder/bench",
    "autograder/build",
    "autograder/cli",
    "autograder/console.py",
    "autograder/deploy",
    "autograder/gradebook",
    "autograder/nbgrader_plugin.py",
    "autograder/pipeline.py",
    "autograder/prerequisites.py",
    "autograder/release",
    "autograder/report",
)
KINDS = {".py", ".toml", ".json"}


@functools.cache
def grader_version() -> str:
    """Twelve hexadecimal digits that change with whatever a verdict depends on, and with nothing else."""
    return digest_of(ROOT)


def digest_of(root: Path) -> str:
    """The version of the grader in a checkout at `root`."""
    parts = (part for path in _files(root) for part in (path.relative_to(root).as_posix().encode(), path.read_bytes()))
    return digest_of_parts(parts)[:12]


def _files(root: Path) -> Iterator[Path]:
    for part in PARTS:
        top = root / part
        if not top.exists():
            raise FileNotFoundError(f"{part} is named in autograder/version.py and does not exist: correct PARTS")
        for path in sorted(top.rglob("*")) if top.is_dir() else [top]:
            if path.suffix in KINDS and path.is_file():
                yield path
