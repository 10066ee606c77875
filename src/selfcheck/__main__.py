"""The terminal form: progress over all exercises, one module's verdicts, a watch, or keeping one's work."""

from __future__ import annotations

import sys
import textwrap
import time
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from .catalogue import Exercise, exercises, exercises_named
from .learner import Learner, available, package_folder, stoppable
from .saving import restore, save
from .show import MARKS, headline, report_text
from .verdict import FAILED, PASSED, SKIPPED, ExerciseResult

KEEPING = {"save": save, "restore": restore}
PAUSE = 0.3  # seconds between two looks at the files
WIDEST = 100  # characters a line may have: longer ones are hard to read
COLOURS_OF_MARKS = {MARKS[PASSED]: "bold green", MARKS[FAILED]: "bold red", MARKS[SKIPPED]: "yellow"}


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("what", required=False)
def main(what: str | None) -> None:
    """Check your answers.

    Without an argument: progress over all exercises, and the next one. WHAT is a module (masks), an exercise
    (masks.causal_mask, or its number 4.2), or "watch", which checks again on every save until Ctrl-C.
    "save" copies your modules to a safe place, "restore" brings them back.
    """
    if hasattr(sys.stdout, "reconfigure"):  # a Windows file or pipe may not know the marks
        sys.stdout.reconfigure(errors="replace")
    console = Console(highlight=False)
    try:
        if what == "watch":
            watch(console)
            return
        if what in KEEPING:
            KEEPING[what]()
            return
        chosen = available(exercises_named(what) if what else exercises())
        results = examine(chosen)
    except KeyboardInterrupt as stopped:
        console.print(Text(str(stopped) or "stopped"))
        sys.exit(130)
    except (KeyError, OSError) as error:
        console.print(Text(str(error.args[0] if isinstance(error, KeyError) else error)), style="red", soft_wrap=True)
        sys.exit(2)
    if what:
        tell(console, results)
        sys.exit(0 if all(result.passed for result in results) else 1)
    progress(console, results)


def examine(chosen: list[Exercise]) -> list[ExerciseResult]:
    """The verdicts of some exercises on the package as it is on disk now."""
    with stoppable(), Learner().imported() as learner:
        return [learner.result(exercise) for exercise in chosen]


def tell(console: Console, results: list[ExerciseResult]) -> None:
    """The verdicts in colour; on a screen, wrapped lines hang under the text that they belong to."""
    for line in report_text(results).splitlines():
        lead = len(line) - len(line.lstrip(" "))
        indent = " " * (lead if lead > 2 else lead + 2)
        width = min(console.width, WIDEST) if console.is_terminal else 10**6
        kept = textwrap.wrap(line, width, subsequent_indent=indent, break_on_hyphens=False, break_long_words=False)
        for number, part in enumerate(kept or [""]):
            text = Text(part, style="" if line.startswith(" ") else "bold")
            if not number and (mark := part.lstrip(" ")[:1]) in COLOURS_OF_MARKS:
                text.stylize(COLOURS_OF_MARKS[mark], part.index(mark), part.index(mark) + 1)
            console.print(text, soft_wrap=True)


def progress(console: Console, results: list[ExerciseResult]) -> None:
    """A table of every exercise, and the next one to work on."""
    table = Table(box=None, pad_edge=False)
    wide = not console.is_terminal or console.width >= WIDEST
    for name in ("", "exercise", *(("title",) if wide else ()), "checks", "minutes"):
        table.add_column(name, justify="right" if name in ("checks", "minutes") else "left")
    for result in results:
        exercise = result.exercise
        passed = sum(one.verdict == "passed" for one in result.checks)
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


def watch(console: Console, looks: int | None = None) -> None:
    """Check a module again whenever its file is saved; `looks` bounds how often it looks, for tests."""
    folder = package_folder()
    console.print(Text(f"watching {folder}; Ctrl-C ends"))
    times = _times(folder)
    try:
        while looks is None or looks > 0:
            looks = None if looks is None else looks - 1
            time.sleep(PAUSE)
            now = _times(folder)
            saved = [path.stem for path, stamp in now.items() if times.get(path) != stamp]
            times = now
            for module in saved:
                chosen = [one for one in available(exercises()) if one.module == module]
                if chosen:
                    console.rule(Text(f"{module}.py saved {time.strftime('%H:%M:%S')}"), style="dim")
                    results = examine(chosen)
                    tell(console, [result for result in results if result.started])
                    passing = sum(result.passed for result in results)
                    console.print(f"{passing} of {len(results)} exercises of {module} pass every visible check.")
    except KeyboardInterrupt as stopped:
        console.print(Text(str(stopped) or "ended"))


def _times(folder: Path) -> dict[Path, int]:
    return {path: path.stat().st_mtime_ns for path in sorted(folder.glob("*.py"))}


if __name__ == "__main__":
    main(prog_name="python -m selfcheck")
