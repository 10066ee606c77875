"""Lengths of time and moments, as people write and read them: 3d, 1d 12h, 90min."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

UNITS = {"d": 86400, "h": 3600, "min": 60, "s": 1}
DURATION = re.compile(r"(?:(\d{1,4}) ?d)? ?(?:(\d{1,5}) ?h)? ?(?:(\d{1,6}) ?min)?", re.ASCII)


def duration(text: str) -> timedelta:
    """The length that a text such as "3d" or "1d 12h" gives; ValueError for anything else, and for none."""
    parts = DURATION.fullmatch(text.strip())
    if not parts or not any(parts.groups()):
        raise ValueError(f'a length of time is as 3d, 12h, 90min or "1d 12h", got {text[:60]!a}')
    days, hours, minutes = (int(part or 0) for part in parts.groups())
    return timedelta(days=days, hours=hours, minutes=minutes)


def span(seconds: float) -> str:
    """A length of time in whole seconds: 1 d 2 h 5 min."""
    parts, rest = [], round(abs(seconds))
    for unit, size in UNITS.items():
        count, rest = divmod(rest, size)
        parts += [f"{count} {unit}"] if count else []
    return ("-" if seconds < 0 else "") + (" ".join(parts) or "0 s")


def moment(when: datetime) -> str:
    """A date and time with its zone, as learners read it: 1 December 2030, 23:59 (UTC+01:00)."""
    return f"{when.day} {when:%B %Y, %H:%M} ({when:%Z})"


def day(when: datetime) -> str:
    """The day of a moment, as learners read it: 1 December 2030."""
    return f"{when.day} {when:%B %Y}"
