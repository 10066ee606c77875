"""Finds the last submission among those kept as they came that intake recognises."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from ..course.folder import Course
from ..sandbox.limited import LimitedFault
from .archive import Received, read_path


def last_good(course: Course, student: str, problem_set: str) -> Received | None:
    """What was received last of those that are a submission to the problem set; None where nothing is."""
    for place in sorted(_places(course.received(student, problem_set)), reverse=True):
        with suppress(OSError, ValueError, LimitedFault):
            (source,) = place.iterdir()
            received = read_path(source, problem_set)
            if not received.refusal:
                return received
    return None


def _places(folder: Path) -> list[Path]:
    with suppress(OSError):
        return [place for place in folder.iterdir() if place.is_dir() and not place.name.startswith(".")]
    return []
