"""The notebook that is released of a problem set, and those of before: somebody may hand in one of an earlier day."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

from .folder import Course


def release_file(course: Course, problem_set: str) -> Path:
    """The released notebook."""
    return course.release(problem_set) / f"{problem_set}.ipynb"


def earlier(course: Course, problem_set: str) -> list[dict[str, Any]]:
    """The notebooks of earlier releases that differ from the present one."""
    return [_read(path, path.stat().st_mtime_ns) for path in sorted(_kept(course, problem_set).glob("*.ipynb"))]


def graded_cells(course: Course, problem_set: str) -> list[str] | None:
    """The names of the cells that are graded, as released now; None where nothing is released."""
    path = release_file(course, problem_set)
    return sorted(by_grade_id(_read(path, path.stat().st_mtime_ns))) if path.exists() else None


def by_grade_id(notebook: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The graded cells of a released notebook, by their name."""
    found = {}
    for cell in notebook["cells"]:
        settings = cell["metadata"].get("nbgrader", {})
        if settings.get("grade"):
            found[settings["grade_id"]] = cell
    return found


def written_questions(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    """The cells of a notebook, as released, that learners answer in words and a person grades."""
    return [cell for cell in by_grade_id(notebook).values() if cell["metadata"]["nbgrader"].get("solution")]


@contextmanager
def replaced(course: Course, problem_set: str) -> Iterator[None]:
    """Within it the source and the release of a problem set are out of the way, to be written anew.

    Where that fails they come back as they were; else the notebook that was released is kept among the earlier ones. A
    notebook that comes out the same keeps its time, so that nothing seems new.
    """
    places = {
        place: place.with_name(f".{place.name}-former")
        for place in (course.source(problem_set), course.release(problem_set))
    }
    for place, former in places.items():
        if former.exists():  # of a release that was interrupted
            _put_back(place, former)
        if place.exists():
            place.rename(former)
    try:
        yield
    except BaseException:
        for place, former in places.items():
            _put_back(place, former)
        raise
    former = places[course.release(problem_set)] / f"{problem_set}.ipynb"
    if former.exists():
        _keep(course, problem_set, former)
    for former in places.values():
        shutil.rmtree(former, ignore_errors=True)


def _put_back(place: Path, former: Path) -> None:
    if place.exists():
        shutil.rmtree(place)
    if former.exists():
        former.rename(place)


def _keep(course: Course, problem_set: str, former: Path) -> None:
    now, text = release_file(course, problem_set), former.read_bytes()
    if now.read_bytes() == text:
        os.utime(now, ns=(former.stat().st_atime_ns, former.stat().st_mtime_ns))
        return
    kept = _kept(course, problem_set)
    kept.mkdir(parents=True, exist_ok=True)
    (kept / f"{hashlib.sha256(text).hexdigest()[:12]}.ipynb").write_bytes(text)


def _kept(course: Course, problem_set: str) -> Path:
    return course.root / "earlier" / problem_set


@lru_cache(maxsize=64)
def _read(path: Path, written: int) -> dict[str, Any]:
    """written: when, for a release may be written again while a grader waits"""
    return json.loads(path.read_text(encoding="utf-8"))
