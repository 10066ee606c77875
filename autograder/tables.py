"""Tables for the instructor's terminal."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from selfcheck.verdict import PASSED, ExerciseResult

console = Console(highlight=False)


def verdict_table(name: str, results: list[ExerciseResult]) -> Table:
    """One row per exercise: points, and what failed with the misconception that explains it."""
    points = sum(result.points for result in results)
    table = Table(title=plain(f"{name}: {points} of {sum(result.max_points for result in results)} points"))
    table.add_column("exercise", no_wrap=True)
    table.add_column("points", justify="right")
    table.add_column("what did not pass")
    for result in results:
        broken = [one for one in result.checks if one.verdict != PASSED]
        seen = list(
            dict.fromkeys(f"{one.misconception}: {one.message}" if one.misconception else one.message for one in broken)
        )
        table.add_row(
            plain(f"{result.exercise.number} {result.exercise.id}"),
            f"{result.points}/{result.max_points}",
            plain("\n".join(seen)),
        )
    return table


def plain(text: str) -> Text:
    """Text as it is: no markup, and control or direction characters as escapes, so that no log line can be forged."""
    return Text(
        "".join(
            character if character == "\n" or character.isprintable() else ascii(character)[1:-1] for character in text
        )
    )
