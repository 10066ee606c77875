"""The late policy of a course: what is taken off for each day, or who decides it."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from .durations import duration, span
from .toml_values import SettingsError, quoted

METHODS = ("none", "zero")
ENTRIES = ("percent_per_day", "grace", "cap")
PLUGIN = re.compile(r"(?P<file>[\w.-]+\.py):(?P<name>\w+)")
DAY = 86400  # seconds
EXAMPLE = "percent_per_day = 10, grace = \"15min\", cap = 50"


@dataclass(frozen=True)
class LatePolicy:
    """What `late_policy` in course.toml says.

    method: "none", "zero", "percent" or "plugin"; percent: of the points, taken off for each day begun; grace: what
    comes within it counts as in time; cap: the most that is taken off, in percent
    plugin: file in the course folder, and the class in it
    """

    method: str
    percent: float = 0.0
    grace: timedelta = timedelta()
    cap: float = 100.0
    plugin: tuple[str, str] | None = None

    def __str__(self) -> str:
        if self.plugin:
            return ":".join(self.plugin)
        if self.method != "percent":
            return self.method
        grace = f", {span(self.grace.total_seconds())} of grace" if self.grace else ""
        return f"{self.percent:g} % a day{grace}" + (f", at most {self.cap:g} %" if self.cap < 100 else "")

    def share(self, seconds_late: float) -> float:
        """What part of the points is taken off for so many seconds after the deadline, from 0 to 1."""
        if seconds_late <= self.grace.total_seconds():
            return 0.0
        return min(self.percent * math.ceil(seconds_late / DAY), self.cap) / 100


def late_policy(value: Any) -> LatePolicy:
    """What a value of course.toml says; SettingsError where it says nothing."""
    if isinstance(value, dict):
        return _by_percent(value)
    if value in METHODS:
        return LatePolicy(value)
    plugin = PLUGIN.fullmatch(value) if isinstance(value, str) else None
    if not plugin:
        raise SettingsError(
            f'late_policy must be "none", "zero", a table such as {{ {EXAMPLE} }}, or a class in a file of the course '
            f'folder, as "late_policy.py:ByTheHour"; got {quoted(value)}'
        )
    return LatePolicy("plugin", plugin=(plugin["file"], plugin["name"]))


def _by_percent(entries: dict[str, Any]) -> LatePolicy:
    for name in entries:
        if name not in ENTRIES:
            raise SettingsError(f"late_policy has no entry {quoted(name)}; there are {', '.join(ENTRIES)}")
    if "percent_per_day" not in entries:
        raise SettingsError(f"late_policy needs percent_per_day, as {{ {EXAMPLE} }}")
    grace = entries.get("grace", "")
    try:
        length = duration(grace) if grace else timedelta()
    except (ValueError, TypeError, AttributeError):
        raise SettingsError(f'late_policy: grace must be as "15min", "2h" or "1d", got {quoted(grace)}') from None
    return LatePolicy("percent", _percent("percent_per_day", entries), length, _percent("cap", entries))


def _percent(name: str, entries: dict[str, Any]) -> float:
    value = entries.get(name, 100)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 100:
        raise SettingsError(f"late_policy: {name} must be a number from 0 to 100, in percent, got {quoted(value)}")
    return float(value)
