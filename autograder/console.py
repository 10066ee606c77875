"""Tables for the instructor's terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from selfcheck.verdict import MOST_MESSAGE, PASSED, ExerciseResult

from .course.printable import printable, printable_line

MOST_REMARKS, MOST_REMARK = 5, 160  # remarks on one submission in a terminal, and characters of each
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
            Text("\n".join(printable_line(one, MOST_MESSAGE) for one in seen)),
        )
    return table


def remarks_line(remarks: Sequence[str], most: int = MOST_REMARKS, longest: int = MOST_REMARK) -> str:
    """Remarks on one submission in a row, the first of them where they are many."""
    more = [f"and {len(remarks) - most} more: see the report"] if len(remarks) > most else []
    return "; ".join([*(printable_line(one, longest) + "…" * (len(one) > longest) for one in remarks[:most]), *more])


def plain(text: str) -> Text:
    """Text in one line as it is: no markup, and control or direction characters as escapes."""
    return Text(printable(text, keep=""))


def show(text: str, style: str = "") -> None:
    """Print lines as they are; what does not fit goes on at its line's indentation, so that it is no new one."""
    for line in text.split("\n"):
        words = line.lstrip(" ")
        console.print(Padding.indent(plain(words), len(line) - len(words)), style=style)
