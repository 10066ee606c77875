"""The log of a course, to which every result that is entered adds a line."""

from __future__ import annotations

import getpass
import json
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..course.faults import machine_fault
from ..course.folder import Course
from ..course.locks import course_lock
from ..judge.cache import read_result
from ..judge.result import Result
from .entry import GradebookEntry
from .log_chain import Chain, Event, Line, points_of
from .log_events import new_event

FILE = "log.jsonl"
BATCH = 50  # lines, after which they are brought to the disk


class NotLogged(RuntimeError):
    """What was entered is not in the log; the next run of grade logs it."""


class Log:
    """The log of a course, to be added to; in a with statement.

    Several graders may write to one log at once. What it holds already is not written again, so that a result may be
    logged by every run: an interrupted one may have entered it and come no further.
    """

    def __init__(self, course: Course, regraded: bool = False) -> None:
        self.path, self._course = course.root / FILE, course
        self._common = {"run": uuid.uuid4().hex[:8], "user": _user()}
        self._regraded = regraded
        self._chain, self._read, self._torn = Chain(), 0, b""
        self._descriptor, self._waiting = -1, 0  # of the open file; lines that are not brought to the disk

    def __enter__(self) -> Log:
        with _as_not_logged(self.path):
            self._descriptor = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o660)
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._sync()
        finally:
            os.close(self._descriptor)

    def entered(self, result: Result, entry: GradebookEntry) -> bool:
        """Log a result that is in the gradebook, with what the gradebook holds of it; whether that was new.

        Raises NotLogged where it cannot be written.
        """
        with _as_not_logged(self.path), course_lock(self._course):
            self._catch_up()
            before = self._chain.standings.get((result.student, result.problem_set))
            event = new_event(before, result, entry, self._regraded)
            if event is None or self._is_outdated(result):
                return False
            self._append(event | self._common | {"previous": self._chain.digest})
        return True

    def _is_outdated(self, result: Result) -> bool:
        """Whether another grader has put a later result on file: that one logs it, and what stands last is on file."""
        known = read_result(self._course.result_file(result.student, result.problem_set))
        return known is not None and (known.graded, points_of(known)) != (result.graded, points_of(result))

    def _fresh(self) -> None:
        self._chain, self._read, self._torn = Chain(), 0, b""

    def _catch_up(self) -> None:
        """Read what others have appended; with the lock held, a line without an end is nobody's unfinished one."""
        size = os.fstat(self._descriptor).st_size
        if size < self._read:  # somebody has put another file's text in its place
            self._fresh()
        while self._read < size:
            data = os.pread(self._descriptor, min(size - self._read, 1 << 20), self._read)
            self._read += len(data)
            *lines, self._torn = (self._torn + data).split(b"\n")
            for raw in lines:
                self._chain.take(raw)

    def _append(self, event: Event) -> None:
        if self._torn:
            self._chain.take(self._torn)
            event["previous"] = self._chain.digest
        data = json.dumps(event).encode()
        rest = b"\n" * bool(self._torn) + data + b"\n"
        self._torn = b""
        start = self._read + len(rest)
        try:
            while rest:
                rest = rest[os.write(self._descriptor, rest) :]
        except OSError:
            self._fresh()  # how much of it is there now is read again
            raise
        self._read = start
        self._chain.take(data)
        self._waiting += 1
        if self._waiting == BATCH:
            self._sync()

    def _sync(self) -> None:
        if self._waiting:
            with _as_not_logged(self.path):
                os.fsync(self._descriptor)
            self._waiting = 0


def read_log(course: Course) -> tuple[list[Line], Chain]:
    """Every line of a course's log, and the chain that they make; FileNotFoundError where there is none."""
    path, chain = course.root / FILE, Chain()
    if not path.exists():
        raise FileNotFoundError(f"nothing is logged in {course.root} yet: run grade first")
    with path.open("rb") as file:
        return [chain.take(raw.removesuffix(b"\n")) for raw in file], chain


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # this user has no name here
        return str(os.getuid())


@contextmanager
def _as_not_logged(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise NotLogged(f"{machine_fault(error) or path}, and run grade again") from error
