"""Remembers, beside a learner's package: hints that were given, what a check named last, what passed in which state."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from .atomic_files import write_atomically
from .verdict import ExerciseResult

NAME = ".selfcheck.json"
#: The entries that are no number of hints: by exercise, the misconception whose remedy is due, and the state (see
#: known_outcomes.py) in which it passed.
NAMED, PASSED = "named", "passed"


class Memory:
    """What stands in the file beside a package; a file that is damaged, or of another version, is an empty one."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / NAME
        self.hints: dict[str, int] = {}  # by exercise number, how many hints were given
        self.named: dict[str, str] = {}
        self.passed: dict[str, str] = {}
        with suppress(OSError, ValueError, AttributeError, TypeError, OverflowError, RecursionError):
            self._take(json.loads(self.path.read_text(encoding="utf-8")))

    def _take(self, table: dict[str, Any]) -> None:
        named, passed = table.pop(NAMED, {}), table.pop(PASSED, {})
        self.hints = {str(number): int(count) for number, count in table.items()}
        self.named = {str(number): str(name) for number, name in named.items()}
        self.passed = {str(number): str(state) for number, state in passed.items()}

    def write(self) -> None:
        """Raises OSError where the folder cannot be written."""
        others = {name: table for name, table in ((NAMED, self.named), (PASSED, self.passed)) if table}
        table = {**self.hints, **others}
        write_atomically(self.path, json.dumps(table), sync=False)


def remember(folder: Path, results: Iterable[ExerciseResult], states: Mapping[str, str]) -> None:
    """Keep what was named first in each of these results, and the state in which it passed; forget what is no more.

    folder: the one that holds the package; where it cannot be written, nothing is remembered
    states: by exercise number
    """
    memory = Memory(folder)
    named, passed = dict(memory.named), dict(memory.passed)
    for result in results:
        number = result.exercise.number
        first = next((str(check.misconception) for check in result.checks if check.remedy), None)
        for table, value in ((named, first), (passed, states.get(number) if result.passed else None)):
            if value:
                table[number] = value
            else:
                table.pop(number, None)
    if (named, passed) != (memory.named, memory.passed):
        memory.named, memory.passed = named, passed
        with suppress(OSError):
            memory.write()
