"""Times as an instructor types them, and the clock that a command goes by."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from ..intake.arrivals import Clock


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
