"""Tells what is wrong with nbgrader's gradebook, and what helps."""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import closing

from .course import Course

IMPATIENCE = 0.2  # seconds to wait for another program that was not done within a longer time
BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


class NotEntered(Exception):
    """A verdict that is not in the gradebook; its text says why, and what helps."""


class GradebookDamaged(RuntimeError):
    """The gradebook cannot be read as a database."""


def check_gradebook(course: Course) -> None:
    """GradebookDamaged where the course's own gradebook is there, and no sound database."""
    path = course.root / "gradebook.db"
    if not path.exists():
        return
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=rw", uri=True, timeout=IMPATIENCE)) as db:
            (said,) = db.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.OperationalError:
        return  # another program writes to it: told where it matters
    except sqlite3.DatabaseError as error:
        raise _damaged(course, error) from error
    if said != "ok":
        raise _damaged(course, said)


def is_busy(error: BaseException) -> bool:
    """Whether another program holds the database."""
    return bool(_codes(error) & BUSY)


def told(course: Course, error: Exception) -> NotEntered | GradebookDamaged:
    """What went wrong while a verdict was entered, in words that help."""
    if isinstance(error, NotEntered | GradebookDamaged):
        return error
    return _damaged(course, error) if _codes(error) & DAMAGED else NotEntered(_reason(course, error))


def _damaged(course: Course, why: object) -> GradebookDamaged:
    said = str(why).splitlines()[0]
    return GradebookDamaged(
        f"the gradebook {course.root / 'gradebook.db'} is damaged ({said}): put a copy of it in its place and run "
        f"grade again, which enters what the copy lacks; the verdicts in {course.root / 'results'} are kept"
    )


def _reason(course: Course, error: Exception) -> str:
    codes = _codes(error)
    system = next((one for one in _causes(error) if isinstance(one, OSError)), None)
    if codes & BUSY:
        return f"another program holds the gradebook {course.root / 'gradebook.db'}: run grade again when it is done"
    if sqlite3.SQLITE_FULL in codes or (system and system.errno in FULL):
        return "the disk is full: make room, and run grade again"
    if system:
        return f"{system.filename or course.root}: {system.strerror or system}; mend that, and run grade again"
    said = (str(error.args[0] if error.args else error).strip().splitlines() or ["no reason given"])[0]
    return said if isinstance(error, RuntimeError | ValueError) else f"{type(error).__name__}: {said}"


def _codes(error: BaseException) -> set[int]:
    """SQLite's primary codes among what an error came from."""
    return {getattr(one, "sqlite_errorcode", 0) & 0xFF for one in _causes(error)}


def _causes(error: BaseException) -> Iterator[BaseException]:
    """An error, and those it came from: nbgrader and SQLAlchemy wrap what the database says."""
    seen: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        one = waiting.pop()
        if one is not None and id(one) not in seen:
            seen.add(id(one))
            waiting += [one.__cause__, one.__context__]
            yield one
