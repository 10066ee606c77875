"""Values of course.toml: the error for one that is invalid, and how a message quotes it."""

from __future__ import annotations

from datetime import date, datetime, time
from typing import Any

MAX_QUOTED = 100  # characters quoted from the file
MAX_PRINTED_BITS = 64  # of a whole number; longer ones are described


class SettingsError(ValueError):
    """course.toml, or a file that it names, is invalid: the message says what was found and what to do."""


def quoted(value: Any) -> str:
    """A value for a message: on one line, of bounded length."""
    if isinstance(value, dict | list):
        return "a table" if isinstance(value, dict) else "a list"
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int) and value.bit_length() > MAX_PRINTED_BITS:  # Python refuses to print very long ones
        return f"a number of {value.bit_length()} bits"
    return ascii(value)[:MAX_QUOTED]


def table(name: str, value: Any) -> dict[str, Any]:
    """A table of the file; SettingsError for anything else. name: of the setting"""
    if not isinstance(value, dict):
        raise SettingsError(f"{name} must be a table, a line [{name}] with its entries below, got {quoted(value)}")
    return value
