"""Lets one grader at a time change what lies in a course's folder."""

from __future__ import annotations

import errno
import fcntl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from .folder import Course

RELEASING = ".releasing"


@contextmanager
def course_lock(course: Course) -> Iterator[None]:
    """Wait until nobody else who grades this course holds it, in this program or in another; not to be nested.

    The kernel wakes whoever waits; `filelock` would look again every so many milliseconds, in no fewer lines.
    """
    with _locked(course.root / ".turn", fcntl.LOCK_EX):  # as graders of earlier versions do
        yield


@contextmanager
def reading_release(course: Course, waiting: Callable[[], object] = lambda: None) -> Iterator[None]:
    """Within it nobody replaces what is released; waiting: called where somebody does, who is waited for."""
    with _locked(course.root / RELEASING, fcntl.LOCK_SH, waiting):
        yield


@contextmanager
def replacing_releases(course: Course, waiting: Callable[[], object] = lambda: None) -> Iterator[None]:
    """Within it nobody else reads or replaces what is released; waiting: called where somebody does."""
    with _locked(course.root / RELEASING, fcntl.LOCK_EX, waiting):
        yield


@contextmanager
def _locked(path: Path, how: int, waiting: Callable[[], object] | None = None) -> Iterator[None]:
    with path.open("a") as file:
        try:
            try:
                fcntl.flock(file, how | (fcntl.LOCK_NB if waiting else 0))
            except BlockingIOError:
                if waiting:
                    waiting()
                fcntl.flock(file, how)
        except OSError as error:
            if error.errno not in (errno.ENOLCK, errno.ENOTSUP):  # a disk on which nothing can be locked
                raise
            yield
            return
        try:
            yield
        finally:
            fcntl.flock(file, fcntl.LOCK_UN)
