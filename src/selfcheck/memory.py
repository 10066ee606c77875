"""Remembers, beside a learner's package, which hints were given and what the last check of an exercise named."""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from .atomic_files import write_atomically
from .verdict import ExerciseResult

NAME = ".selfcheck.json"
NAMED = "named"  # the entry that is no number of hints: by exercise, the misconception whose remedy is due


class Memory:
    """What stands in the file beside a package; a file that is damaged, or of another version, is an empty one."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / NAME
        self.hints: dict[str, int] = {}  # by exercise number, how many hints were given
        self.named: dict[str, str] = {}
        with suppress(OSError, ValueError, AttributeError, TypeError, OverflowError, RecursionError):
            self._take(json.loads(self.path.read_text(encoding="utf-8")))

    def _take(self, table: dict[str, Any]) -> None:
        named = table.pop(NAMED, {})
        self.hints = {str(number): int(count) for number, count in table.items()}
        self.named = {str(number): str(name) for number, name in named.items()}

    def write(self) -> None:
        """Raises OSError where the folder cannot be written."""
        table = {**self.hints, **({NAMED: self.named} if self.named else {})}
        write_atomically(self.path, json.dumps(table), sync=False)


def remember(folder: Path, results: Iterable[ExerciseResult]) -> None:
    """Keep what was named first in each of these results; where nothing was, or no remedy is known, forget it.

    folder: the one that holds the package; where it cannot be written, nothing is remembered
    """
    memory = Memory(folder)
    now = dict(memory.named)
    for result in results:
        first = next((str(check.misconception) for check in result.checks if check.remedy), None)
        if first:
            now[result.exercise.number] = first
        else:
            now.pop(result.exercise.number, None)
    if now != memory.named:
        memory.named = now
        with suppress(OSError):
            memory.write()
