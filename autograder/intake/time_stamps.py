"""When a submission arrived, by the time stamp that nbgrader writes beside it, and whether that can be believed.

The stamp is written by the program of whoever hands in. What no learner can choose is when the kernel last saw a file
change: in the exchange, where a submission is left when it is handed in, and among the submitted ones.
"""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import UTC, datetime, timedelta, tzinfo
from itertools import chain, islice
from pathlib import Path
from zoneinfo import ZoneInfo

from .safe_files import NotTaken, reader, walk

#: As nbgrader writes it: 2026-01-31 12:00:00.123456 UTC.
STAMP_FORM = re.compile(
    r"(?P<time>2\d{3}-\d\d-\d\d[ T]\d\d:\d\d:\d\d)(?:\.\d{1,9})? ?"
    r"(?P<zone>Z|[A-Z][A-Za-z]{1,15}(?:/[A-Z][A-Za-z_]{1,30})?)?(?P<shift>[+-]\d\d:?\d\d)?",
    re.ASCII,
)
MOST_STAMP_BYTES = 100
SLACK = timedelta(minutes=10)  # between a stamp and the last change of what it stands beside: to copy takes a while
MOST_COPIES, MOST_COPIED = 200, 2000  # submissions of one student in the exchange, files of each that are looked at


def stamp_time(text: str) -> datetime | None:
    """The time in a time stamp, in UTC; None where it is none. A zone that is not known counts as UTC."""
    parts = STAMP_FORM.fullmatch(text.strip())
    if not parts:
        return None
    try:
        when = datetime.fromisoformat(parts["time"]).replace(tzinfo=_zone(parts["zone"], parts["shift"]))
        return when.astimezone(UTC)
    except (ValueError, OverflowError):  # the 31st of February
        return None


def stamp_text(when: datetime) -> str:
    """The time stamp of a time in UTC."""
    return when.strftime("%Y-%m-%d %H:%M:%S UTC")


def doubt(stamp: str, path: Path, copies: list[Path]) -> str:
    """Why the time in a stamp is not known but by the stamp itself, for the instructor; "" where it is, or is none.

    path: of the stamp where it lies now; copies: where nbgrader's exchange may hold the submission as it was left
    """
    when, here = stamp_time(stamp), _last_change(path)
    if when is None or here is None or here - when <= SLACK:
        return ""
    if any(_is_left_at(copy, path.name, stamp, when) for copy in islice(copies, MOST_COPIES)):
        return ""
    return (
        f"arrived {stamp_text(when)} by its own {path.name} alone, which whoever hands in can write; it was put among "
        f"the submitted ones at {stamp_text(here)}, and the exchange does not show when it was left there"
    )


def _is_left_at(folder: Path, name: str, stamp: str, when: datetime) -> bool:
    """Whether a folder holds this stamp, and nothing in it has changed since that time."""
    with suppress(OSError, ValueError, NotTaken, RecursionError):
        if reader(folder / name)(MOST_STAMP_BYTES).decode("ascii").strip() != stamp.strip():
            return False
        below = (path for _, path, _ in walk(folder, folders=True))  # one by one: it may hold any number of files
        changes = [_last_change(path) for path in islice(chain((folder,), below), MOST_COPIED)]
        return len(changes) < MOST_COPIED and all(change and abs(change - when) <= SLACK for change in changes)
    return False


def _last_change(path: Path) -> datetime | None:
    """When the kernel last saw a file change, itself or its name or rights; None where there is none."""
    with suppress(OSError):
        return datetime.fromtimestamp(path.lstat().st_ctime, UTC)
    return None


def _zone(name: str | None, shift: str | None) -> tzinfo:
    if shift:
        return datetime.strptime(shift, "%z").tzinfo or UTC
    with suppress(KeyError, ValueError, OSError):
        return ZoneInfo(name) if name and name != "Z" else UTC
    return UTC
