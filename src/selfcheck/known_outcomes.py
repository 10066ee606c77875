"""Tells what an overview need not run: what is as it was when it passed, and what is as it was handed out."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from .catalogue import Exercise
from .verdict import FAILED, PASSED, CheckResult, ExerciseResult
from .version import version

__all__ = ["States", "as_not_started", "as_passed"]


class States:
    """What the outcomes of the exercises in a package's modules depend on, each in a word."""

    def __init__(self, package: Path) -> None:
        self._files = {path.stem: path for path in sorted(package.glob("*.py"))}
        self._folders = [path for path in sorted(package.glob("*/**/*.py"))]
        self._version = ""
        self._texts: dict[str, bytes] = {}

    def of(self, module: str) -> str:
        """That of a module: a digest of its text, of every module whose name stands in one of these, of the checks.

        What lies in folders of the package counts always.
        """
        self._version = self._version or version()
        digest = hashlib.sha256(self._version.encode())
        for name in sorted(self._reached(module)):
            digest.update(b"%s %d " % (name.encode(), len(self._text(name))) + self._text(name))
        for path in self._folders:
            digest.update(hashlib.sha256(_read(path)).digest())
        return digest.hexdigest()[:20]

    def _reached(self, module: str) -> set[str]:
        reached, waiting = set(), [module, "__init__"]
        while waiting:
            name = waiting.pop()
            if name in self._files and name not in reached:
                reached.add(name)
                waiting += re.findall(r"\w+", self._text(name).decode("utf-8", "replace"))
        return reached

    def _text(self, name: str) -> bytes:
        if name not in self._texts:
            self._texts[name] = _read(self._files[name])
        return self._texts[name]


def as_passed(exercise: Exercise) -> ExerciseResult:
    """The verdicts of an exercise that passes every visible check."""
    return ExerciseResult(
        exercise, tuple(CheckResult(name, "", PASSED, points, points) for name, points in exercise.points.items())
    )


def as_not_started(exercise: Exercise) -> ExerciseResult:
    """The verdicts of an exercise whose stub nobody has worked on."""
    message = f"not started yet: exercise {exercise.number}: {exercise.title}"
    return ExerciseResult(
        exercise,
        tuple(
            CheckResult(name, "", FAILED, 0, points, message, section=exercise.section, kind="not started")
            for name, points in exercise.points.items()
        ),
    )


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:  # its import says what is wrong with it
        return b""
