"""The chain of lines that the log of a course is.

A line of JSON for each event, each with the digest of the line before, so that an edit in the middle is noticed. Who
rewrites all lines that follow is not: keep the digest of the last line elsewhere to notice that too.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import Any

from ..judge.result import Result
from . import penalty_facts

FIRST = ""  # what the first line has in place of a digest
TEXTS = ("time", "student", "problem_set", "key", "graded", "grader", "secret", "terms", "isolation", "run", "user")
CHANGES = ("exercises", "by_hand", "files", "late")  # {name: [before, after]}, null where there is none

Event = dict[str, Any]


@dataclass(frozen=True)
class Line:
    """A line of the log: its number from 1, the event or None where it holds none, and what is wrong with it.

    breaks: whether something before it was changed or lost; a line that a crash cut off breaks nothing
    """

    number: int
    event: Event | None
    trouble: str = ""
    breaks: bool = False


@dataclass
class Standing:
    """What the log says of one student and problem set so far, and the values it was decided by."""

    last: Event
    exercises: dict[str, float] = field(default_factory=dict)
    by_hand: dict[str, float] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    late: penalty_facts.Facts = field(default_factory=dict)

    def follow(self, event: Event) -> None:
        """Take in what an event changed."""
        self.last = event
        for name in CHANGES:
            known = getattr(self, name)
            known |= {key: after for key, (_, after) in event[name].items()}
            for key in [key for key, value in known.items() if value is None]:
                del known[key]

    def holds(self, result: Result) -> bool:
        """Whether a result is the one that was logged last."""
        same = (self.last["key"], self.last["graded"]) == (result.key, result.graded)
        return same and self.exercises == points_of(result)


class Chain:
    """The lines of a log as they are read, and the digest that the next one has to hold."""

    def __init__(self) -> None:
        self.digest, self.count = FIRST, 0
        self.standings: dict[tuple[str, str], Standing] = {}

    def take(self, raw: bytes) -> Line:
        """Read the next line; raw: without its end."""
        self.count += 1
        event, trouble = _event(raw), ""
        follows = event is None or event["previous"] == self.digest
        if event is None:
            trouble = f"line {self.count} holds no event: a crash cut it off, or somebody edited it"
        elif not follows:
            what = "that was changed, or lines are gone" if self.count > 1 else "the beginning is gone"
            trouble = f"line {self.count} does not follow from what stands before it: {what}"
        if event:
            key = event["student"], event["problem_set"]
            self.standings.setdefault(key, Standing(event)).follow(event)
        self.digest = hashlib.sha256(raw).hexdigest()
        return Line(self.count, event, trouble, not follows)


def points_of(result: Result) -> dict[str, float]:
    """The points of each exercise, by its id."""
    return {exercise.id: exercise.points for exercise in result.exercises}


def _event(raw: bytes) -> Event | None:
    """A line's event; None where it is none."""
    try:
        event = json.loads(raw)
        event.setdefault("late", {})  # older lines know nothing of it
        event.setdefault("final", None)
        event.setdefault("mistakes", {})
        texts = [event[name] for name in (*TEXTS, "previous")] + event["why"]
        texts += [text for mistakes in event["mistakes"].values() for text in mistakes]
        pairs = [pair for name in CHANGES for pair in event[name].values()]
        before, after = event["points"]
        numbers = [event["of"], after, 0 if before is None else before, event["final"] or 0]
        numbers += [value for pair in event["exercises"].values() for value in pair if value is not None]
        sound = penalty_facts.is_sound(event["late"])
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        return None
    sound &= all(isinstance(text, str) for text in texts) and all(isinstance(value, int | float) for value in numbers)
    return event if sound and all(isinstance(pair, list) and len(pair) == 2 for pair in pairs) else None
