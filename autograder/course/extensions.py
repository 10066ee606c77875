"""Extensions of deadlines: as the roster or `extend` gives them, for one person and problem set."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from selfcheck.atomic_files import write_atomically

from .durations import duration
from .toml_values import SettingsError, quoted

if TYPE_CHECKING:
    from .roster import Roster

FILE = "extensions.csv"  # what `extend` has granted, which counts before the roster
COLUMNS = ("student", "problem_set", "extension")
NONE = "none"


@dataclass(frozen=True)
class Extension:
    """More time, or another deadline. given: as it was written, "3d", "none" or a date with its distance from UTC"""

    given: str
    more: timedelta | None = None
    until: datetime | None = None

    def __str__(self) -> str:
        return self.given

    def after(self, due: datetime | None) -> timedelta:
        """How much later than a deadline that is, never earlier; none where there is no deadline."""
        if self.until is None or due is None:
            return (due and self.more) or timedelta()
        return max(timedelta(), self.until - (due if due.tzinfo else due.replace(tzinfo=UTC)))


def read_extension(value: Any) -> Extension:
    """What a text or a time of TOML gives; SettingsError where that is no extension."""
    text = value.isoformat() if isinstance(value, datetime) else value
    if text == NONE:
        return Extension(NONE, timedelta())
    try:
        if text[:4].isdecimal() and "-" in text[:5]:
            until = datetime.fromisoformat(text.strip().replace(" UTC", "Z"))
            if until.tzinfo is None:
                raise ValueError
            return Extension(until.isoformat(), until=until)
        return Extension(text.strip(), duration(text))
    except (ValueError, TypeError, AttributeError):
        raise SettingsError(
            f'an extension is as 3d, 12h or "1d 12h", a date with its distance from UTC as 2030-12-04T23:59+01:00, or '
            f"{NONE}; got {quoted(value)}"
        ) from None


@dataclass(frozen=True)
class Extensions:
    """Every extension of a course. granted: by student and problem set, before what the roster says"""

    granted: Mapping[tuple[str, str], Extension]
    roster: Roster | None

    def of(self, student: str, problem_set: str, due: datetime | None) -> timedelta | None:
        """How much more time somebody has; None where neither source says. due: UTC where it has no zone"""
        given = self.granted.get((student, problem_set))
        if given is None and self.roster and student in self.roster.people:
            given = self.roster.people[student].extensions.get(problem_set)
        return None if given is None else given.after(due)


def read_granted(root: Path) -> dict[tuple[str, str], Extension]:
    """What `extend` has granted, by student and problem set; SettingsError where the file is damaged."""
    path = root / FILE
    try:
        text = path.read_text(encoding="utf-8")
        return {
            (row["student"], row["problem_set"]): read_extension(row["extension"])
            for row in csv.DictReader(io.StringIO(text, newline=""), strict=True)
        }
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError, csv.Error, KeyError, SettingsError) as error:
        raise SettingsError(f"{path} cannot be read ({error}): expected the columns {', '.join(COLUMNS)}") from None


def grant(root: Path, student: str, problem_set: str, given: Extension) -> None:
    """Write down an extension, in place of an earlier one of the same person and problem set."""
    granted = read_granted(root) | {(student, problem_set): given}
    file = io.StringIO(newline="")
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows((*key, str(extension)) for key, extension in sorted(granted.items()))
    write_atomically(root / FILE, file.getvalue(), mode=0o600)
