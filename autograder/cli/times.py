"""Times as an instructor types them, and the clock that a command goes by."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

import click

from ..course.durations import span
from ..course.printable import printable_line

if TYPE_CHECKING:
    from ..intake.arrivals import Clock
    from ..pipeline import Line


def the_clock() -> Clock:
    """The clock that the command was called with (`main(obj=…)`), by default the system's."""
    from ..intake.arrivals import system_clock

    clock: Clock | None = click.get_current_context().find_root().obj
    return clock or system_clock


def given_time(text: str) -> datetime:
    """A date and time in ISO 8601, with its zone, else in this machine's; ValueError for anything else."""
    try:
        when = datetime.fromisoformat(
            text.strip().removesuffix(" UTC") + ("Z" if text.strip().endswith(" UTC") else "")
        )
        return when.astimezone()
    except (ValueError, OverflowError):
        raise ValueError(
            f"a time is a date and an hour, with the distance from UTC, as 2030-12-01T23:59+01:00; got {text[:60]!a}"
        ) from None


def lateness_lines(late: Sequence[Line], everybody: int) -> Iterator[str]:
    """How many are late, and of each how much and what it costs; late: lines of these alone."""
    if not late:
        return
    cost = sum(line.penalty for line in late)
    taken = f"{cost:g} points taken off" if cost else "nothing taken off, by the late policy"
    yield f"{len(late)} of {everybody} late, {taken}:"
    for line in late:
        final = "" if line.final is None else f", {line.final:g} count"
        yield f"  {printable_line(line.student, 100)} {span(line.seconds_late)} late: {line.taken_off}{final}"


def archives_word_lines(lines: Sequence[Line], everybody: int) -> Iterator[str]:
    """Who is in time by the times in an archive alone; lines: of these alone."""
    if not lines:
        return
    yield (
        f"{len(lines)} of {everybody} in time by the newest file in the archive alone, which whoever packs it can "
        "choose, and taken in after the deadline; `submit --time` says when it came:"
    )
    yield f"  {', '.join(printable_line(line.student, 100) for line in lines)}"
