"""Tells work that was started from what is blank or came without its module: these say nothing about an exercise."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..gradebook.feedback.verdicts import HEADLINE, NOT_STARTED

STARTED, BLANK, MISPACKED = "started", "blank", "mispackaged"


def attempts_of(record: dict[str, Any]) -> dict[str, str]:
    """Of each exercise of a record, by id, which of the three it is.

    Mispackaged is an exercise whose module is not among what was handed in, or whose code is in the notebook's cells.
    """
    files = record.get("files")
    return {exercise["id"]: _attempt(exercise, files) for exercise in record["exercises"]}


def _attempt(exercise: dict[str, Any], files: Any) -> str:
    module = exercise["id"].partition(".")[0]
    if isinstance(files, dict) and f"{module}.py" not in files:
        return MISPACKED
    head = HEADLINE.search(exercise["text"])
    if head and head["state"].startswith(NOT_STARTED):
        return MISPACKED if exercise["text"][: head.start()].strip() else BLANK
    return STARTED


def attempt_of(kinds: Iterable[str]) -> str:
    """What a whole submission is: started where any exercise is, else mispackaged where any of them is."""
    counted = set(kinds)
    return next((kind for kind in (STARTED, MISPACKED) if kind in counted), BLANK)
