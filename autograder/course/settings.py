"""Reads a course's settings from its course.toml, strictly."""

from __future__ import annotations

import functools
import os
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from selfcheck.catalogue import exercises, in_problem_set, parts_of, problem_sets

from .late_policy import LatePolicy, late_policy
from .roster import ROSTER_FILE, Roster, roster_of_table
from .toml_values import MAX_QUOTED, quoted, table
from .toml_values import SettingsError as SettingsError

SETTINGS_FILE = "course.toml"
METADATA_KEY = "course"  # of a released notebook: the deadline that it was released with
SECRET = "secret"  # file name
MAX_WEIGHT = 10
YEARS = range(2000, 2200)
MAX_MESSAGE = 1500  # characters
STUDENT_FOLDERS = ("source", "release", "autograded", "feedback")  # nbgrader copies their files to learners
TEMPLATE = f"""\
# The settings of this course. A line counts once the # before it is gone; each shows what holds without it.
# After a change, run `release` again for the problem sets that are out, and then `grade`.

# secret_file = "{SECRET}"  # what the hidden inputs follow from; a path is seen from this folder
# hidden_checks = "../my-checks"  # further hidden checks, in files named as the modules: masks.py (without it: none)
# solutions = true  # false: `release` hands out no solution, and refuses --with-answers
# late_policy = "none"  # "zero", or a part for each day begun: {{ percent_per_day = 10, grace = "15min", cap = 50 }}

# [weights]  # whole numbers from 0 to {MAX_WEIGHT}: an exercise's points count so many times, with 0 it is left out
# "masks.causal_mask" = 1

# [deadlines]  # with the distance from UTC
# ps1 = 2030-12-01T23:59:00+01:00  # without it: none, or what formgrader says

# [students]  # who takes the course; without it: who is in {ROSTER_FILE}, if there is such a file
# ada = {{ last_name = "Lovelace", first_name = "Ada", section = "A", extensions = {{ ps1 = "3d" }} }}
"""


@dataclass(frozen=True)
class Settings:
    """The settings of a course.

    weights: exercise id and whole number, where it is not 1; deadlines: problem set and time, with a zone
    late_policy: None leaves it to nbgrader_config.py; solutions: whether they may be released
    students: the roster that stands in course.toml itself
    """

    secret_file: Path
    weights: tuple[tuple[str, int], ...] = ()
    deadlines: tuple[tuple[str, datetime], ...] = ()
    late_policy: LatePolicy | None = None
    hidden_checks: Path | None = None
    solutions: bool = True
    students: Roster | None = None

    def deadline(self, problem_set: str) -> datetime | None:
        """When a problem set is due; None without a deadline."""
        return dict(self.deadlines).get(problem_set)


def read_settings(root: Path) -> Settings:
    """The settings of the course in a folder, the defaults where it has no course.toml; SettingsError where invalid."""
    path = root / SETTINGS_FILE
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        text = ""
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} cannot be read: expected a text in UTF-8, got {error}") from None
    settings = _settings(text, root)
    if settings.secret_file != root / SECRET and not os.path.isfile(settings.secret_file):
        raise SettingsError(
            f"{path}: secret_file names {settings.secret_file}, where no file is: put it back, or mend the path"
        )
    if settings.hidden_checks and not os.path.isdir(settings.hidden_checks):
        raise SettingsError(
            f"{path}: hidden_checks names {settings.hidden_checks}, where no folder is: make it, or mend the path"
        )
    return settings


@functools.lru_cache(maxsize=16)
def _settings(text: str, root: Path) -> Settings:
    path = root / SETTINGS_FILE
    try:
        table = tomllib.loads(text)
    except (ValueError, RecursionError, OverflowError) as error:
        raise SettingsError(f"{path} is no TOML: {_one_line(error)}") from None
    try:
        values = {name: _reader(name)(value) for name, value in table.items()}
    except SettingsError as error:
        raise SettingsError(f"{path}: {error}"[:MAX_MESSAGE]) from None
    for name in ("secret_file", "hidden_checks"):
        if name in values:
            values[name] = _place(path, name, values[name])
    return Settings(**{"secret_file": root / SECRET} | values)


def read_checks(settings: Settings) -> tuple[tuple[str, str], ...]:
    """Module and source text of each file of further hidden checks; SettingsError for one that is named otherwise."""
    if not settings.hidden_checks:
        return ()
    modules = {exercise.module for exercise in exercises()}
    checks = []
    for path in sorted(settings.hidden_checks.glob("*.py")):
        if path.stem not in modules:
            raise SettingsError(
                f"{path}: a file of hidden checks is named as the module whose checks it adds to, one of "
                f"{', '.join(sorted(modules))}: rename it, or move it elsewhere"
            )
        try:
            checks.append((path.stem, path.read_text(encoding="utf-8")))
        except (OSError, UnicodeDecodeError) as error:
            raise SettingsError(f"{path} cannot be read: expected a text in UTF-8, got {error}") from None
    return tuple(checks)


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())[:MAX_MESSAGE] or type(error).__name__


def _place(path: Path, name: str, given: str) -> Path:
    root = path.parent
    try:
        place = (root / Path(given).expanduser()).resolve()
    except (OSError, ValueError, RuntimeError) as error:
        raise SettingsError(f"{path}: {name} is no path: {_one_line(error)}") from None
    if any(place.is_relative_to(root / folder) for folder in STUDENT_FOLDERS):
        raise SettingsError(f"{path}: {name} lies in {place}, which nbgrader hands out: move it elsewhere")
    return place


def _reader(name: str) -> Callable[[Any], Any]:
    if name not in READERS:
        raise SettingsError(f"there is no setting {quoted(name)}; there are {', '.join(READERS)}")
    return READERS[name]


def _text(name: str) -> Callable[[Any], str]:
    def read(value: Any) -> str:
        if not isinstance(value, str) or not value.strip() or "\0" in value:
            raise SettingsError(f'{name} must be a path in quotes, as {name} = "…", got {quoted(value)}')
        return value

    return read


def _solutions(value: Any) -> bool:
    if not isinstance(value, bool):
        raise SettingsError(f"solutions must be true or false, without quotes, got {quoted(value)}")
    return value


def _weights(value: Any) -> tuple[tuple[str, int], ...]:
    weights = {}
    for name, weight in table("weights", value).items():
        if isinstance(weight, dict):
            entry = f"{name}.{next(iter(weight), '…')}"[:MAX_QUOTED]
            raise SettingsError(f'[weights] {entry}: write the id in quotes, as "{entry}" = 2')
        _require_not_a_setting("weights", name)
        try:
            parts_of(name)
        except KeyError as error:
            raise SettingsError(f"[weights]: {error.args[0]}") from None
        if type(weight) is not int or not 0 <= weight <= MAX_WEIGHT:
            raise SettingsError(
                f'[weights] "{name}" must be a whole number from 0 to {MAX_WEIGHT}, got {quoted(weight)}'
            )
        weights[name] = weight
    for problem_set in problem_sets():
        if not any(weights.get(exercise.id, 1) for exercise in in_problem_set(problem_set)):
            raise SettingsError(
                f"[weights] leaves out every exercise of {problem_set}: do not release it instead, or leave one in"
            )
    return tuple(sorted((name, weight) for name, weight in weights.items() if weight != 1))


def _deadlines(value: Any) -> tuple[tuple[str, datetime], ...]:
    deadlines = {}
    for name, when in table("deadlines", value).items():
        _require_not_a_setting("deadlines", name)
        if name not in problem_sets():
            raise SettingsError(
                f"[deadlines]: there is no problem set {quoted(name)}; there are {', '.join(problem_sets())}"
            )
        if not isinstance(when, datetime) or when.tzinfo is None:
            raise SettingsError(
                f"[deadlines] {name} must be a date and time with its distance from UTC, without quotes, as "
                f"2030-12-01T23:59:00+01:00, got {quoted(when)}"
            )
        if when.year not in YEARS:
            raise SettingsError(f"[deadlines] {name} must lie between {YEARS[0]} and {YEARS[-1]}, got {quoted(when)}")
        deadlines[name] = when
    return tuple(sorted(deadlines.items()))


def _require_not_a_setting(table: str, name: str) -> None:
    if name in READERS and name not in TABLES:
        raise SettingsError(
            f"{name} stands below [{table}], and so is one of its entries: move it above the first [table]"
        )


TABLES = {"weights": _weights, "deadlines": _deadlines, "students": roster_of_table}
READERS: dict[str, Callable[[Any], Any]] = {
    "secret_file": _text("secret_file"),
    "hidden_checks": _text("hidden_checks"),
    "solutions": _solutions,
    "late_policy": late_policy,
    **TABLES,
}
