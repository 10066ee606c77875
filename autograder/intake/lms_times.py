"""Reads when each submission of a download was handed in, where the learning platform says so."""

from __future__ import annotations

import csv
import re
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from pathlib import Path

#: Columns with the time: of Moodle's grading worksheet, of Canvas's and Gradescope's tables, and of one made by hand.
TIME_COLUMNS = ("last modified (submission)", "submitted_at", "submission time", "submitted at", "submitted", "time")
#: Columns that say whose row it is: all that is in one of them may stand in the name of a folder or a file.
PERSON_COLUMNS = (
    *("identifier", "full name", "name", "student", "id", "user_id", "email address", "email", "username", "idnumber"),
    *("id number", "sis id", "sid", "login", "sis login id", "sis user id"),
)
NONE_YET = ("", "-")
#: Moodle's, in its English forms: Friday, 20 November 2026, 8:14 PM.
FORMS = ("%d %B %Y, %I:%M %p", "%d %B %Y, %H:%M", "%Y-%m-%d %H:%M:%S UTC", "%Y-%m-%d-%H-%M-%S")
WEEKDAY = re.compile(r"^[A-Za-z]+, ")
PARTICIPANT = re.compile(r"(?i)participant\s+(\d+)")
#: Blackboard: ps1_ada_attempt_2026-11-20-20-14-00_ps1.zip; without a file of a name, the text typed beside it.
BLACKBOARD = re.compile(r".+?_(?P<id>[^_]+)_attempt_(?P<time>\d{4}(?:-\d\d){5})(?:_(?P<file>.+)|\.txt)")


@dataclass
class LmsTimes:
    """When submissions were handed in, by what a platform's table has of each person; None where two rows disagree."""

    known: dict[str, datetime | None] = field(default_factory=dict)

    def of(self, texts: Iterable[str]) -> datetime | None:
        """The time of whoever has one of these names, numbers or ids, the first that is known; None for none."""
        known_times = (self.known.get(folded(text)) for text in texts)
        return next(filter(None, known_times), None)


def read_times(path: Path, zone: tzinfo | None = None) -> LmsTimes | None:
    """The times in a table (CSV); None where no column of it has times.

    zone: of times that have none, by default this machine's
    Raises ValueError, with the row, for a time that cannot be read, and for what is no table in UTF-8.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = [row for row in csv.reader(file, strict=True) if any(cell.strip() for cell in row)]
    except (csv.Error, UnicodeDecodeError) as error:
        raise ValueError(f"{path.name} is no table in UTF-8 (CSV): {error}") from None
    head = [cell.strip().casefold() for cell in rows[0]] if rows else []
    time = next((name for name in TIME_COLUMNS if name in head), None)
    if time is None or not set(PERSON_COLUMNS) & set(head):
        return None
    times = LmsTimes()
    for number, row in enumerate(rows[1:], 2):
        cells = dict(zip(head, (cell.strip() for cell in row), strict=False))
        if cells.get(time, "") in NONE_YET:
            continue
        try:
            when = moment_of(cells[time], zone)
        except ValueError as error:
            raise ValueError(f"{path.name}, row {number}: {error}") from None
        for key in set(_keys(cells)):
            same = times.known.get(key, when) == when
            times.known[key] = when if same else None
    return times


def _keys(cells: dict[str, str]) -> Iterator[str]:
    for column in PERSON_COLUMNS:
        text = cells.get(column, "")
        participant = PARTICIPANT.fullmatch(text)
        for name in (participant[1] if participant else text, text.partition("@")[0]):
            if folded(name):
                yield folded(name)


def moment_of(text: str, zone: tzinfo | None = None) -> datetime:
    """A time as a platform writes it, in UTC; zone: of one that has none. ValueError for another form."""
    plain = WEEKDAY.sub("", " ".join(text.split()))
    with suppress(ValueError):
        return _in_utc(datetime.fromisoformat(plain), zone)
    for form in FORMS:
        with suppress(ValueError):
            when = datetime.strptime(plain, form)
            return _in_utc(when, UTC if form.endswith("UTC") else zone)
    raise ValueError(f"expected a time as 2030-12-01 23:59 or 1 December 2030, 11:59 PM, got {text[:60]!r}")


def _in_utc(when: datetime, zone: tzinfo | None) -> datetime:
    """With a zone of its own, or this one; None is this machine's."""
    return (when if when.tzinfo else when.replace(tzinfo=zone)).astimezone(UTC)


def folded(text: str) -> str:
    """A text by its letters and digits alone: platforms leave out spaces, accents' forms and case."""
    return "".join(char for char in unicodedata.normalize("NFKC", text).casefold() if char.isalnum())
