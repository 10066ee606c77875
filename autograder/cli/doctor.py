"""`doctor`: says what isolation there is on this machine, and what to do for more."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from ..console import show


@click.command()
@click.option("--course", "folder", type=click.Path(exists=True, file_okay=False, path_type=Path), help="Your course.")
def doctor(folder: Path | None) -> None:
    """Say which isolation grading has here.

    Exits with 1 where there is none. With --course, whether submissions would see what is private in it.
    """
    from ..course.folder import Course
    from ..deploy.doctor import FAILS, GOOD, LACKS, examine

    private = Course(folder.resolve()).private_places if folder else ()
    findings = examine(private)
    styles = {GOOD: "", LACKS: "yellow", FAILS: "red"}
    for finding in findings:
        show(f"{finding.state:<6} {finding.name}: {finding.text}", style=styles[finding.state])
        if finding.state != GOOD and finding.remedy:
            show("       " + finding.remedy.replace("\n", "\n       "))
    failed = [finding.name for finding in findings if finding.state == FAILS]
    if failed:
        show(f"grade stops here: {', '.join(failed)}", style="bold red")
        sys.exit(1)
    show("grade runs submitted code in bubblewrap here")
