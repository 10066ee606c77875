"""Courses that tests share: each is made once in a run, by whichever worker needs it first, and is only read."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock
from pytest import TempPathFactory

from autograder.course.folder import Course
from autograder.release import bundle

#: What may come and go in a course that is only read: locks, and what SQLite keeps beside a file that is open.
PASSING = (".turn", ".releasing", "gradebook.db-journal", "gradebook.db-wal", "gradebook.db-shm")


@contextmanager
def shared(factory: TempPathFactory, name: str, make: Callable[[Path], object]) -> Iterator[Course]:
    """A course of this run, filled by `make` where nobody has done so yet: to be read; a test that writes copies it.

    AssertionError at the end where a test has written into it.
    """
    base = factory.getbasetemp()
    base = base.parent if base.name.startswith("popen") else base  # the workers of one run share one folder
    place, draft = base / "shared-courses" / name, base / "shared-courses" / f"{name}.draft"
    place.parent.mkdir(exist_ok=True)
    with FileLock(f"{place}.lock"):
        if not place.exists():
            shutil.rmtree(draft, ignore_errors=True)  # of a worker that died
            make(draft / "course")
            draft.rename(place)
    course = Course(place / "course")
    before = _state(course.root)
    yield course
    changed = before ^ _state(course.root)
    assert not changed, f"a test has written into the shared course {name}: {sorted(changed)[:5]}"


@contextmanager
def released(factory: TempPathFactory, *problem_sets: str) -> Iterator[Course]:
    """A shared course with these problem sets released, and nobody in it."""

    def make(place: Path) -> None:
        course = Course.open(place)
        for problem_set in problem_sets:
            bundle.release(course, problem_set)

    with shared(factory, "-".join(["released", *problem_sets]), make) as course:
        yield course


def copy_of(course: Course, place: Path, without: Iterable[str] = ()) -> Course:
    """A course of a test's own, to write into.

    without: problem sets whose folders are left out
    """
    shutil.copytree(course.root, place, ignore=shutil.ignore_patterns(*without))
    return Course.open(place)


def _state(folder: Path) -> set[tuple[str, int, int]]:
    """Every file below a folder with its size and its time."""
    found = set()
    for root, _, names in os.walk(folder):
        for path in (Path(root, name) for name in names if name not in PASSING):
            status = path.stat()
            found.add((path.relative_to(folder).as_posix(), status.st_size, status.st_mtime_ns))
    return found
