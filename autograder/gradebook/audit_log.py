"""The log of a course: who got what, when, and why it changed.

A line of JSON for each event, each with the digest of the line before, so that an edit in the middle is found. Who
rewrites all lines that follow is not: keep the digest of the last line elsewhere to find that too.
"""

from __future__ import annotations

import fcntl
import getpass
import hashlib
import json
import os
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ..course.folder import Course
from ..course.printable import printable_name
from ..judge.cache import read_record
from . import late_penalty

FILE = "log.jsonl"
BATCH = 50  # lines, after which they are brought to the disk
FIRST = ""  # what the first line has in place of a digest
TEXTS = ("time", "student", "problem_set", "key", "graded", "grader", "secret", "terms", "isolation", "run", "user")
CHANGES = ("exercises", "by_hand", "files", "late")  # {name: [before, after]}, null where there is none

Event = dict[str, Any]


class NotLogged(RuntimeError):
    """What was entered is not in the log; the next run of grade logs it."""


@dataclass(frozen=True)
class Line:
    """A line of the log: its number from 1, the event or None where it holds none, and what is wrong with it.

    breaks: whether something before it was changed or lost; a line that a crash cut off breaks nothing
    """

    number: int
    event: Event | None
    trouble: str = ""
    breaks: bool = False


@dataclass
class Standing:
    """What the log says of one student and problem set so far, and the values it was decided by."""

    last: Event
    exercises: dict[str, float] = field(default_factory=dict)
    by_hand: dict[str, float] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    late: late_penalty.Facts = field(default_factory=dict)

    def follow(self, event: Event) -> None:
        """Take in what an event changed."""
        self.last = event
        for name in CHANGES:
            known = getattr(self, name)
            known |= {key: after for key, (_, after) in event[name].items()}
            for key in [key for key, value in known.items() if value is None]:
                del known[key]

    def holds(self, record: Mapping[str, Any]) -> bool:
        """Whether a record is the one that was logged last."""
        same = all(self.last[name] == record.get(name, "") for name in ("key", "graded"))
        return same and self.exercises == _points(record)


class Chain:
    """The lines of a log as they are read, and the digest that the next one has to hold."""

    def __init__(self) -> None:
        self.digest, self.count = FIRST, 0
        self.standings: dict[tuple[str, str], Standing] = {}

    def take(self, raw: bytes) -> Line:
        """Read the next line; raw: without its end."""
        self.count += 1
        event, trouble = _event(raw), ""
        follows = event is None or event["previous"] == self.digest
        if event is None:
            trouble = f"line {self.count} holds no event: a crash cut it off, or somebody edited it"
        elif not follows:
            what = "that was changed, or lines are gone" if self.count > 1 else "the beginning is gone"
            trouble = f"line {self.count} does not follow from what stands before it: {what}"
        if event:
            key = event["student"], event["problem_set"]
            self.standings.setdefault(key, Standing(event)).follow(event)
        self.digest = hashlib.sha256(raw).hexdigest()
        return Line(self.count, event, trouble, not follows)


class Log:
    """The log of a course, to be added to; in a with statement.

    Several graders may write to one log at once. What it holds already is not written again, so that whoever enters a
    verdict may tell it whether or not an earlier run has: an interrupted one may not have come so far.
    """

    def __init__(self, course: Course, regraded: bool = False) -> None:
        self.path, self._course = course.root / FILE, course
        self._common = {"run": uuid.uuid4().hex[:8], "user": _user()}
        self._regraded = regraded
        self._fresh()
        self._waiting = 0

    def __enter__(self) -> Log:
        with _told(self.path):
            self._descriptor = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o660)
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._sync()
        finally:
            os.close(self._descriptor)

    def entered(
        self,
        record: Mapping[str, Any],
        by_hand: Mapping[str, float] | None = None,
        late: late_penalty.Facts | None = None,
    ) -> bool:
        """Log a verdict that is in the gradebook; whether that was new.

        by_hand: marks given by hand, by the name of their cell; late: what explains the late penalty
        Each is None where it cannot be seen.
        Raises NotLogged where it cannot be written.
        """
        with _told(self.path), self._locked():
            self._catch_up()
            before = self._chain.standings.get((record["student"], record["problem_set"]))
            event = _new_event(before, record, by_hand, late, self._regraded)
            if event is None or self._is_outdated(record):
                return False
            self._append(event | self._common | {"previous": self._chain.digest})
        return True

    def _is_outdated(self, record: Mapping[str, Any]) -> bool:
        """Whether another grader has put a later verdict on file: that one logs it, and what stands last is on file."""
        known = read_record(self._course.result_file(record["student"], record["problem_set"]))
        return known is not None and (known.get("graded"), _points(known)) != (record.get("graded"), _points(record))

    @contextmanager
    def _locked(self) -> Iterator[None]:
        fcntl.flock(self._descriptor, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(self._descriptor, fcntl.LOCK_UN)

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
            with _told(self.path):
                os.fsync(self._descriptor)
            self._waiting = 0


def read_log(course: Course) -> tuple[list[Line], Chain]:
    """Every line of a course's log, and the chain that they make; FileNotFoundError where there is none."""
    path, chain = course.root / FILE, Chain()
    if not path.exists():
        raise FileNotFoundError(f"nothing is logged in {course.root} yet: run grade first")
    with path.open("rb") as file:
        return [chain.take(raw.removesuffix(b"\n")) for raw in file], chain


def _new_event(
    before: Standing | None,
    record: Mapping[str, Any],
    by_hand: Mapping[str, float] | None,
    late: late_penalty.Facts | None,
    regraded: bool,
) -> Event | None:
    """What a record says that the log does not; None where that is nothing."""
    now = {"exercises": _points(record), "files": record.get("files", {})}
    was = {name: getattr(before, name) if before else {} for name in CHANGES}
    now["by_hand"] = was["by_hand"] if by_hand is None else dict(by_hand)
    now["late"] = was["late"] if late is None else late_penalty.explaining(was["late"], late)
    changes = {name: _changes(was[name], now[name]) for name in CHANGES}
    penalty = list(late_penalty.reasons(was["late"], now["late"], before is None))
    if before and before.holds(record) and not changes["by_hand"] and not penalty:
        return None
    return {
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "student": record["student"],
        "problem_set": record["problem_set"],
        "points": [sum(was["exercises"].values()) if before else None, sum(now["exercises"].values())],
        "of": sum(one["max_points"] for one in record["exercises"]),
        "why": [*penalty, *_reasons(before, record, changes, regraded)] if before else ["first grading", *penalty],
        **changes,
        **{name: record.get(name, "") for name in ("key", "graded", "grader", "secret", "terms", "isolation")},
    }


def _reasons(
    before: Standing, record: Mapping[str, Any], changes: dict[str, dict[str, list]], regraded: bool
) -> Iterator[str]:
    """Why a verdict was given again, or another one."""
    last, decided = before.last, False
    if changes["files"]:
        decided = True
        yield f"handed in again: {', '.join(map(printable_name, changes['files']))}"
    for name, what in (("grader", "the grader"), ("secret", "the course's secret"), ("isolation", "the isolation")):
        if last[name] != record.get(name, ""):
            decided = True
            yield f"{what} changed: {last[name] or 'unknown'} → {record.get(name) or 'unknown'}"
    if last["terms"] != record.get("terms", "") and last["secret"] == record.get("secret", ""):
        decided = True
        yield "the course's settings or its further hidden checks changed"
    if not decided and last["key"] != record["key"]:
        decided = True
        yield "what it is judged by changed"
    if changes["by_hand"]:
        yield f"marks given by hand changed: {', '.join(map(printable_name, changes['by_hand']))}"
    if last["graded"] != record.get("graded", ""):
        if regraded:
            yield "--regrade"
        elif not decided:
            yield "judged again: its record was gone"
    if changes["exercises"] and not decided:
        yield "another verdict on the same work by the same rules: ask why"


def _points(record: Mapping[str, Any]) -> dict[str, float]:
    return {one["id"]: one["points"] for one in record["exercises"]}


def _changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, list]:
    names = sorted(before.keys() | after.keys())
    return {name: [before.get(name), after.get(name)] for name in names if before.get(name) != after.get(name)}


def _event(raw: bytes) -> Event | None:
    """A line's event; None where it is none."""
    try:
        event = json.loads(raw)
        event.setdefault("late", {})  # older lines know nothing of it
        texts = [event[name] for name in (*TEXTS, "previous")] + event["why"]
        pairs = [pair for name in CHANGES for pair in event[name].values()]
        before, after = event["points"]
        numbers = [event["of"], after, 0 if before is None else before]
        numbers += [value for pair in event["exercises"].values() for value in pair if value is not None]
        sound = late_penalty.is_sound(event["late"])
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        return None
    sound &= all(isinstance(text, str) for text in texts) and all(isinstance(one, int | float) for one in numbers)
    return event if sound and all(isinstance(pair, list) and len(pair) == 2 for pair in pairs) else None


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # this user has no name here
        return str(os.getuid())


@contextmanager
def _told(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise NotLogged(f"{path}: {error.strerror or error}; mend that, and run grade again") from error
