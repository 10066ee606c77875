"""The command that judges packages without a course: the fork server imports torch while the rest is imported here."""

from __future__ import annotations

from pathlib import Path

import click

from ..sandbox.bubblewrap import CHOICES
from ..sandbox.worker_pool import start_fork_server


@click.command()
@click.argument("folders", nargs=-1, required=True, type=click.Path(exists=True, file_okay=False))
@click.option("--exercise", "ids", multiple=True, metavar="ID", help="Judge this exercise alone: masks.causal_mask.")
@click.option("--problem-set", "sets", multiple=True, metavar="PS", help="Judge this problem set alone: ps3.")
@click.option("--json", "target", type=click.Path(dir_okay=False, path_type=Path), help="Write the verdicts here.")
@click.option("--isolation", default="bubblewrap", type=click.Choice(CHOICES), show_default=True)
def judge(
    folders: tuple[str, ...], ids: tuple[str, ...], sets: tuple[str, ...], target: Path | None, isolation: str
) -> None:
    """Judge packages without a course.

    FOLDERS hold an `attention` package each, which is judged in the sandbox as `grade` would.

    Every exercise is judged, unless some are named by --exercise or --problem-set, which can be given several times.
    With --problem-set, a folder is left out whose notebook is of a release where that set had other exercises.
    """
    start_fork_server(isolation)
    from .judge import judge_packages

    judge_packages(folders, ids, sets, target, isolation)
