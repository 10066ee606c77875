"""When a submission came in, and by whose word; every arrival stays on record as it was first taken in."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, tzinfo
from itertools import islice
from pathlib import Path
from typing import Any

from selfcheck.atomic_files import write_atomically

from ..course.digest import digest_of_parts
from ..course.durations import span
from ..course.folder import Course
from ..course.locks import course_lock
from ..sandbox.limited import LimitedFault, items_of
from .archive import MOST_ENTRIES, MOST_EXTRA_BYTES, MOST_ZIP_BYTES, UNREADABLE, Received, most_entries
from .safe_files import walk
from .submission import Submission
from .time_stamps import stamp_text, stamp_time

#: Whose word a time is, as messages say it.
SOURCES = {
    "given": "as --time says",
    "lms": "as the learning platform says",
    "archive": "by the newest file in the archive, which whoever packs it can choose",
    "file": "by the newest file, which whoever writes it can choose",
    "now": "when it was taken in",
}
MOST_FILES = 2000  # of a folder, whose times are looked at
MOST_RECORD_BYTES = 2**20
FIRST_YEAR = 1981  # a zip begins in 1980, and has that year where no time is known
AHEAD = timedelta(minutes=10)  # by which a clock may be ahead of ours
EXTENDED_TIME = b"UT"  # an extra field of a zip entry: seconds since 1970 in UTC, where the other time has no zone

Clock = Callable[[], datetime]


def system_clock() -> datetime:
    """The time now, with its zone."""
    return datetime.now(UTC)


@dataclass(frozen=True)
class SubmissionTime:
    """When something was handed in, in UTC and whole seconds, and by whose word: a key of SOURCES.

    Raises ValueError for a time without a zone or another source.
    """

    when: datetime
    source: str

    def __post_init__(self) -> None:
        if self.when.tzinfo is None:
            raise ValueError(f"expected a time with its distance from UTC, got {self.when}")
        if self.source not in SOURCES:
            raise ValueError(f"a time's source is one of {', '.join(SOURCES)}, got {self.source!r}")
        object.__setattr__(self, "when", self.when.astimezone(UTC).replace(microsecond=0))

    def __str__(self) -> str:
        return f"{stamp_text(self.when)}, {SOURCES[self.source]}"


@dataclass(frozen=True)
class Arrival:
    """One hand-in of a student for a problem set, as it stands on record.

    digest: of what was taken of it; taken_in: when it was, in UTC
    """

    digest: str
    time: SubmissionTime
    taken_in: datetime


@dataclass(frozen=True)
class Arrived:
    """The time that counts for a submission, and remarks on it for whoever takes it in."""

    time: SubmissionTime
    remarks: tuple[str, ...] = ()


def arrive(
    course: Course,
    student: str,
    problem_set: str,
    path: Path,
    received: Received,
    *,
    given: datetime | None = None,
    lms: datetime | None = None,
    clock: Clock = system_clock,
    dry_run: bool = False,
) -> Arrived:
    """Decide when a submission came in, and put that on record; store it with `when=arrived.time.when` afterwards.

    What `given` or `lms` says counts, in this order. Else the same work keeps the time at which it came before; an
    archive came when its newest file was written; anything else comes now, and the time of its newest file is told.
    path: the archive, folder or file that it was read from; dry_run: put nothing on record
    Raises ValueError for a time that is to come, or has no zone; OSError where the record cannot be written.
    """
    now, digest = clock(), _digest(received)
    with course_lock(course):
        known = arrivals(course, student, problem_set)
        arrived = _decided(course, problem_set, path, digest, known, given, lms, now)
        late = tuple(_lateness(course, student, problem_set, arrived.time, known))
        record = Arrival(digest, arrived.time, now.astimezone(UTC).replace(microsecond=0))
        if not dry_run and not any((arrival.digest, arrival.time) == (digest, arrived.time) for arrival in known):
            _write(course, student, problem_set, [*known, record])
    return replace(arrived, remarks=(*arrived.remarks, *late))


def arrivals(course: Course, student: str, problem_set: str) -> list[Arrival]:
    """Every arrival on record, in the order in which they were taken in; none where the record is damaged."""
    path = course.arrivals_file(student, problem_set)
    try:
        if path.stat().st_size > MOST_RECORD_BYTES:
            return []
        return [_arrival(tree) for tree in json.loads(path.read_text(encoding="utf-8"))]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return []


def arrival_at(course: Course, student: str, problem_set: str, when: datetime | None) -> Arrival | None:
    """The arrival on record that a submission's time stamp is of; None where there is none."""
    known = arrivals(course, student, problem_set)
    return next((arrival for arrival in reversed(known) if arrival.time.when == when), None)


def is_archives_word(course: Course, submission: Submission, until: datetime) -> bool:
    """Whether work is in time by the word of its own archive alone, and was taken in after the deadline."""
    when = submission.arrived
    if when is None or when > until:
        return False
    arrival = arrival_at(course, submission.student, submission.problem_set, when)
    return arrival is not None and arrival.time.source == "archive" and arrival.taken_in > until


def newest_in_zip(path: Path, zone: tzinfo | None = None) -> datetime | None:
    """When the newest file of a zip was written, in UTC; None where that is not known, or it is no zip.

    zone: of the times in it that have none, by default this machine's
    """
    try:
        seconds = items_of(_times_in_zip, path.absolute(), zone).items
    except (*UNREADABLE, LimitedFault):
        return None
    return datetime.fromtimestamp(max(seconds), UTC) if seconds else None


def _decided(
    course: Course,
    problem_set: str,
    path: Path,
    digest: str,
    known: list[Arrival],
    given: datetime | None,
    lms: datetime | None,
    now: datetime,
) -> Arrived:
    for said, source in ((given, "given"), (lms, "lms")):
        if said is not None:
            time = SubmissionTime(said, source)
            if time.when > now + AHEAD:
                raise ValueError(f"{stamp_text(time.when)} is still to come: say when it was handed in")
            return Arrived(time)
    before = next((arrival.time for arrival in reversed(known) if arrival.digest == digest), None)
    if before:
        return Arrived(before, (f"the same came before: its time stays {before}",))
    present = SubmissionTime(now, "now")
    if path.is_file() and path.suffix.lower() == ".zip":
        due = course.settings.deadline(problem_set)
        newest = newest_in_zip(path, due.tzinfo if due else None)
        if newest and newest <= now + AHEAD:
            return Arrived(SubmissionTime(min(newest, now), "archive"))
        return Arrived(present, ("its newest file is of a time to come: now counts",) if newest else ())
    newest = _newest_file(path)
    if newest is None or newest > now - AHEAD:
        return Arrived(present)
    return Arrived(present, (f"its newest file is of {stamp_text(newest)}: if it came then, say so with --time",))


def _lateness(
    course: Course, student: str, problem_set: str, time: SubmissionTime, known: list[Arrival]
) -> Iterator[str]:
    """A line on work that comes after the deadline in course.toml, and on what came in time before it."""
    due = course.settings.deadline(problem_set)
    until = due and due + (course.extensions.of(student, problem_set, due) or timedelta())
    if until and time.when > until:
        before = max((arrival.time.when for arrival in known if arrival.time.when <= until), default=None)
        instead = before and f"; it replaces what came in time, at {stamp_text(before)}: submit that again to go back"
        yield f"{span((time.when - until).total_seconds())} late{instead or ''}"


def _times_in_zip(path: Path, zone: tzinfo | None) -> Iterator[float]:
    """The newest time in a zip, in seconds since 1970; to be called within limits."""
    entries, with_extras = most_entries(path)
    if path.stat().st_size > MOST_ZIP_BYTES or entries > MOST_ENTRIES or with_extras:
        return
    times = []
    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            with suppress(ValueError, OverflowError, OSError):  # the 31st of February
                when = _time_of_entry(info, zone)
                times += [when] if when else []
    if times:
        yield max(times)


def _time_of_entry(info: zipfile.ZipInfo, zone: tzinfo | None) -> float | None:
    extra = info.extra[:MOST_EXTRA_BYTES]
    if extra[:2] == EXTENDED_TIME and len(extra) >= 9 and extra[4] & 1:
        return float(int.from_bytes(extra[5:9], "little"))
    if info.date_time[0] < FIRST_YEAR:
        return None
    return datetime(*info.date_time, tzinfo=zone).timestamp()


def _newest_file(path: Path) -> datetime | None:
    """When the newest file of a folder, or this file, was changed last."""
    try:
        files = (place for _, place, plain in islice(walk(path), MOST_FILES) if plain) if path.is_dir() else (path,)
        return datetime.fromtimestamp(max(file.lstat().st_mtime for file in files), UTC)
    except (OSError, ValueError, OverflowError):
        return None


def _digest(received: Received) -> str:
    parts = [part for name, data in sorted(received.files.items()) for part in (name.encode(), data)]
    return digest_of_parts([*parts, received.notebook or b""])


def _arrival(tree: dict[str, Any]) -> Arrival:
    when, taken_in = stamp_time(tree["when"]), stamp_time(tree["taken_in"])
    if when is None or taken_in is None:
        raise ValueError("expected times as 2030-01-01 12:00:00 UTC")
    return Arrival(str(tree["digest"]), SubmissionTime(when, tree["source"]), taken_in)


def _write(course: Course, student: str, problem_set: str, known: list[Arrival]) -> None:
    trees = [
        {
            "digest": arrival.digest,
            "when": stamp_text(arrival.time.when),
            "source": arrival.time.source,
            "taken_in": stamp_text(arrival.taken_in),
        }
        for arrival in known
    ]
    write_atomically(course.arrivals_file(student, problem_set), json.dumps(trees, indent=1) + "\n", mode=0o600)
