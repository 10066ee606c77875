"""Explains errors of nbgrader's database, a file or a server, to an instructor."""

from __future__ import annotations

import sqlite3
from contextlib import closing

from ..course.faults import causes, machine_fault
from ..course.folder import Course
from ..course.settings import SettingsError

SHORT_LOCK_TIMEOUT = 0.2  # seconds to wait for another program that was not done within a longer time
BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
#: What PostgreSQL calls these (SQLSTATE): whole codes, or the classes that they begin with.
BUSY_STATES = ("55P03", "40001", "40P01")  # a lock that was not to be had, two that wait for each other
DAMAGED_STATES = ("XX001", "XX002")
FULL_STATES = ("53100",)
AWAY_STATES = ("08", "57P0", "53300")  # no connection, a server that stops or starts, too many at once


class NotEntered(Exception):
    """A result that is not in the gradebook; its text says why, and what to do."""


class GradebookDamaged(RuntimeError):
    """The gradebook cannot be read as a database."""


def check_gradebook(course: Course) -> None:
    """GradebookDamaged where the course's own gradebook is there and in use, and no sound database."""
    path = course.root / "gradebook.db"
    if not path.exists():
        return
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=rw", uri=True, timeout=SHORT_LOCK_TIMEOUT)) as db:
            (verdict,) = db.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.OperationalError:
        return  # another program writes to it: GradebookSync waits for it, or reports it
    except sqlite3.DatabaseError as error:
        verdict = error
    if verdict != "ok" and not _elsewhere(course):
        raise _damaged(course, str(path), verdict)


def _elsewhere(course: Course) -> bool:
    """Whether the course's settings name another gradebook."""
    from .nbgrader import configuration

    return "db_url" in configuration(course).CourseDirectory


def is_busy(error: BaseException) -> bool:
    """Whether another program holds the database."""
    return bool(_codes(error) & BUSY) or _has_state(error, BUSY_STATES)


def is_away(error: BaseException) -> bool:
    """Whether the database's server cannot be reached, or is not there any more."""
    return _unanswered(error) is not None


def _unanswered(error: BaseException) -> BaseException | None:
    """What a database's driver said when its server did not take a question."""
    for cause in causes(error):
        kind, state = type(cause).__name__, _state(cause)
        unasked = kind in ("OperationalError", "InterfaceError", "DatabaseError") and state == ""
        if unasked or (state or "-").startswith(AWAY_STATES):
            return cause
    return None


def is_overtaken(error: BaseException) -> bool:
    """Whether another program was first: who looks again sees what it wrote."""
    return _has_state(error, BUSY_STATES[1:]) or any(
        type(cause).__name__ == "IntegrityError" for cause in causes(error)
    )


def explained(course: Course, error: Exception, place: str = "") -> NotEntered | GradebookDamaged:
    """What went wrong while a result was entered, as an error whose text says what to do.

    place: the gradebook's file, or its address; "" for the course's own file
    """
    place = place or str(course.root / "gradebook.db")
    if isinstance(error, NotEntered | GradebookDamaged):
        return error
    if isinstance(error, SettingsError):  # whatever it came from, its own text says it
        return NotEntered(str(error))
    if _codes(error) & DAMAGED or _has_state(error, DAMAGED_STATES):
        return _damaged(course, place, error)
    return NotEntered(_reason(course, error, place))


def _damaged(course: Course, place: str, why: object) -> GradebookDamaged:
    return GradebookDamaged(
        f"the gradebook {place} is damaged ({_first_line(why)}): put a copy of it in its place and run "
        f"grade again, which enters what the copy lacks; the verdicts in {course.root / 'results'} are kept"
    )


def _reason(course: Course, error: Exception, place: str) -> str:
    if is_busy(error):
        return f"another program holds the gradebook {place}: run grade again when it is done"
    away = _unanswered(error)
    if away:
        return f"the gradebook {place} cannot be reached ({_first_line(away)}): mend that, and run grade again"
    fault = "the disk is full: make room" if _has_state(error, FULL_STATES) else machine_fault(error)
    if fault:
        return f"{fault}, and run grade again"
    text = _first_line(error.args[0] if error.args else error)
    return text if isinstance(error, RuntimeError | ValueError) else f"{type(error).__name__}: {text}"


def _first_line(text: object) -> str:
    return (str(text).strip().splitlines() or ["no reason given"])[0]


def _codes(error: BaseException) -> set[int]:
    """SQLite's primary codes among what an error came from."""
    return {getattr(cause, "sqlite_errorcode", 0) & 0xFF for cause in causes(error)}


def _state(error: BaseException) -> str | None:
    """The code of a PostgreSQL error, "" for one that no server reported; None for another error."""
    for name in ("pgcode", "sqlstate"):  # psycopg2, psycopg
        if hasattr(error, name):
            return getattr(error, name) or ""
    return None


def _has_state(error: BaseException, states: tuple[str, ...]) -> bool:
    return any((_state(cause) or "-").startswith(states) for cause in causes(error))
