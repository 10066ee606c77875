"""Reads the released notebook of a problem set and those of its earlier releases."""

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

from selfcheck.atomic_files import write_atomically

from .folder import Course
from .locks import replacing_releases


def release_file(course: Course, problem_set: str) -> Path:
    """The released notebook."""
    return course.release(problem_set) / f"{problem_set}.ipynb"


def earlier_notebooks(course: Course, problem_set: str) -> list[dict[str, Any]]:
    """The notebooks of earlier releases that differ from the present one."""
    return [_read(path, path.stat().st_mtime_ns) for path in sorted(_earlier_folder(course, problem_set).glob("*.ipynb"))]


def graded_cells(course: Course, problem_set: str) -> list[str] | None:
    """The ids of the grade cells of the released notebook, sorted; None where nothing is released."""
    path = release_file(course, problem_set)
    return sorted(by_grade_id(_read(path, path.stat().st_mtime_ns))) if path.exists() else None


def by_grade_id(notebook: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The grade cells of a released notebook, by id."""
    cells = {}
    for cell in notebook["cells"]:
        settings = cell["metadata"].get("nbgrader", {})
        if settings.get("grade"):
            cells[settings["grade_id"]] = cell
    return cells


def written_questions(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    """The cells of a released notebook that learners answer in words and a person grades."""
    return [cell for cell in by_grade_id(notebook).values() if cell["metadata"]["nbgrader"].get("solution")]


@contextmanager
def replacing_release(course: Course, problem_set: str) -> Iterator[None]:
    """Within it the source and the release of a problem set are moved aside, to be written anew.

    Where that fails they are restored. Else the notebook that was released is kept among the earlier ones; a notebook
    that comes out the same keeps its modification time.
    """
    places = {place: _former(place) for place in (course.source(problem_set), course.release(problem_set))}
    for place, former in places.items():
        if former.exists():  # left by a release that was interrupted
            _restore(place, former)
        if place.exists():
            place.rename(former)
        else:
            former.mkdir(parents=True)  # so that whoever comes after an interruption knows of it
    try:
        yield
        former = places[course.release(problem_set)] / f"{problem_set}.ipynb"
        if former.exists():
            _keep_earlier(course, problem_set, former)
    except BaseException:
        for place, former in places.items():
            _restore(place, former)
        raise
    for former in places.values():
        _discard(former)


def restore_interrupted(course: Course, problem_set: str) -> None:
    """Bring back the release that a command moved aside and, being ended, left there; none where one is at work."""
    places = (course.source(problem_set), course.release(problem_set))
    if any(_former(place).exists() for place in places):
        with replacing_releases(course):
            for place in places:
                if _former(place).exists():
                    _restore(place, _former(place))


def _former(place: Path) -> Path:
    return place.with_name(f".{place.name}-former")


def _discard(former: Path) -> None:
    """Remove a former release; first it loses the name by which it would be brought back."""
    if former.exists():
        left = former.with_name(f"{former.name}-left")
        shutil.rmtree(left, ignore_errors=True)
        former.rename(left)
        shutil.rmtree(left, ignore_errors=True)


def _restore(place: Path, former: Path) -> None:
    if place.exists():
        shutil.rmtree(place)
    if former.is_dir() and not any(former.iterdir()):
        former.rmdir()
    elif former.exists():
        former.rename(place)


def _keep_earlier(course: Course, problem_set: str, former: Path) -> None:
    now, text = release_file(course, problem_set), former.read_bytes()
    if now.read_bytes() == text:
        os.utime(now, ns=(former.stat().st_atime_ns, former.stat().st_mtime_ns))
        return
    folder = _earlier_folder(course, problem_set)
    write_atomically(folder / f"{hashlib.sha256(text).hexdigest()[:12]}.ipynb", text)


def _earlier_folder(course: Course, problem_set: str) -> Path:
    return course.root / "earlier" / problem_set


@lru_cache(maxsize=64)
def _read(path: Path, modified: int) -> dict[str, Any]:
    """A notebook. modified: its time in nanoseconds, a key of the cache, for a release may be written again."""
    return json.loads(path.read_text(encoding="utf-8"))
