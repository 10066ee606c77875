"""`notebooks`: executes the generated notebooks as on Colab."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import click


@click.command()
@click.argument("names", nargs=-1, metavar="[NOTEBOOK]...")
def notebooks(names: tuple[str, ...]) -> None:
    """Execute notebooks as on Colab.

    Such as 04-masks or ps3; all of them by default, which takes minutes. The machine has to fetch the course.
    """
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from ..build.execute_notebooks import Machine, execute_all
    from ..build.notebooks import texts
    from ..console import console

    known = {path.stem: text for path, text in texts().items()}
    if unknown := set(names) - set(known):
        raise click.UsageError(f"no notebook {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    chosen = sorted(names or known, reverse=True)  # later chapters, which train longer, first
    problems = {}
    columns = (TextColumn("notebooks"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with tempfile.TemporaryDirectory() as folder, Progress(*columns, console=console, transient=True) as progress:
        bar = progress.add_task("", total=len(chosen))
        machine = Machine.made(Path(folder) / "machine")
        for name, seconds, problem in execute_all({name: known[name] for name in chosen}, machine):
            if problem is not None:
                problems[name] = problem
            progress.console.print(f"{name}: {'fails' if problem else f'{seconds:.0f} s'}")
            progress.advance(bar)
    for name, problem in problems.items():
        click.echo(f"\n{name} fails:\n{problem}", err=True)
    click.echo(f"{len(chosen) - len(problems)} of {len(chosen)} notebooks run from the first cell to the last")
    sys.exit(1 if problems else 0)
