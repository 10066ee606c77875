"""Prints verdicts and progress in a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from .learner import package_folder
from .show import MARKS, headline, report_text
from .verdict import FAILED, PASSED, SKIPPED, ExerciseResult

WIDEST = 100  # characters a line may have: longer ones are hard to read
COLOURS_OF_MARKS = {MARKS[PASSED]: "bold green", MARKS[FAILED]: "bold red", MARKS[SKIPPED]: "yellow"}


def tell(console: Console, results: Sequence[ExerciseResult]) -> None:
    """The verdicts in colour; on a screen, wrapped lines hang under the text that they belong to."""
    for line in report_text(results, in_terminal=True).splitlines():
        lead = len(line) - len(line.lstrip(" "))
        indent = " " * (lead if lead > 2 else lead + 2)
        width = min(console.width, WIDEST) if console.is_terminal else 10**6
        kept = textwrap.wrap(line, width, subsequent_indent=indent, break_on_hyphens=False, break_long_words=False)
        kept = [line] if line.lstrip().startswith("https://") else kept  # whole, so that a click opens it
        for number, part in enumerate(kept or [""]):
            text = Text(part, style="" if line.startswith(" ") else "bold")
            if not number and (mark := part.lstrip(" ")[:1]) in COLOURS_OF_MARKS:
                text.stylize(COLOURS_OF_MARKS[mark], part.index(mark), part.index(mark) + 1)
            console.print(text, soft_wrap=True)


def progress(console: Console, results: Sequence[ExerciseResult]) -> None:
    """A table of every exercise, and the next one to work on."""
    table = Table(box=None, pad_edge=False)
    wide = not console.is_terminal or console.width >= WIDEST
    for name in ("", "exercise", *(("title",) if wide else ()), "checks", "minutes"):
        table.add_column(name, justify="right" if name in ("checks", "minutes") else "left")
    for result in results:
        exercise = result.exercise
        passed = sum(check.verdict == PASSED for check in result.checks)
        mark = "[green]✓[/]" if result.passed else "[dim]·[/]" if not result.started else "[red]✗[/]"
        name = Text(f"{exercise.number} {exercise.id}")
        table.add_row(
            mark, name, *((exercise.title,) if wide else ()), f"{passed}/{len(result.checks)}", str(exercise.minutes)
        )
    console.print(table)
    left = [result for result in results if not result.passed]
    console.print(f"\n{len(results) - len(left)} of {len(results)} exercises pass every visible check.")
    if left:
        exercise = left[0].exercise
        console.print(Text(f"Next: {headline(left[0])}"))
        console.print(Text(f"  edit {package_folder() / (exercise.module + '.py')}"))
        console.print(Text(f"  then python -m selfcheck {exercise.number}"))
