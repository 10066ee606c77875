"""When a submission arrived, by the time stamp that nbgrader writes beside it."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import UTC, datetime, tzinfo
from zoneinfo import ZoneInfo

#: As nbgrader writes it: 2026-01-31 12:00:00.123456 UTC.
STAMP_FORM = re.compile(
    r"(?P<time>2\d{3}-\d\d-\d\d[ T]\d\d:\d\d:\d\d)(?:\.\d{1,9})? ?"
    r"(?P<zone>Z|[A-Z][A-Za-z]{1,15}(?:/[A-Z][A-Za-z_]{1,30})?)?(?P<shift>[+-]\d\d:?\d\d)?",
    re.ASCII,
)
MOST_STAMP_BYTES = 100


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


def _zone(name: str | None, shift: str | None) -> tzinfo:
    if shift:
        return datetime.strptime(shift, "%z").tzinfo or UTC
    with suppress(KeyError, ValueError, OSError):
        return ZoneInfo(name) if name and name != "Z" else UTC
    return UTC
