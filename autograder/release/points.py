"""Puts the points of a course into a catalogue file: learners see those that the gradebook has."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator

from selfcheck.catalogue import Exercise, exercises

from ..course.policy import GradingPolicy

HEADING = re.compile(r"\[+ *([\w.]+) *\]+")
POINTS = re.compile(r"(?P<name>\w+)(?P<sign> *= *)\d+(?P<rest>.*\n?)")


def catalogue_with_points(text: str, policy: GradingPolicy) -> str:
    """The text of a catalogue file with its points by the policy; all else stays as it is.

    An exercise that is left out stays, with no points: learners may practise it, and others may build on it.
    Raises ValueError for a text whose points stand in no lines of their own.
    """
    table = tomllib.loads(text)
    known = {exercise.number: exercise for exercise in exercises()}
    here = [known[entry["number"]] for entry in table["exercise"]]
    wanted = [policy.with_points(exercise) for exercise in here]
    if wanted == here:
        return text
    made = "".join(_lines(text, wanted))
    for entry, exercise in zip(table["exercise"], wanted, strict=True):
        entry |= {"points": exercise.points, "hidden_points": exercise.hidden_points}
    if tomllib.loads(made) != table:
        raise ValueError(f"the points of {table['module']}.toml stand in no lines of their own: write name = number")
    return made


def _lines(text: str, wanted: list[Exercise]) -> Iterator[str]:
    place, heading, quoted = -1, "", False
    for line in text.splitlines(keepends=True):
        opened, title = quoted, HEADING.fullmatch(line.strip())
        quoted ^= line.count('"""') % 2 == 1
        if title and not opened:
            heading = title[1]
            place += heading == "exercise"
        points: dict[str, int] = {}
        if not opened and heading == "exercise" and place >= 0:
            points = {"hidden_points": wanted[place].hidden_points}
        elif not opened and heading == "exercise.points":
            points = wanted[place].points
        number = POINTS.fullmatch(line)
        if number and number["name"] in points:
            line = f"{number['name']}{number['sign']}{points[number['name']]}{number['rest']}"
        yield line
