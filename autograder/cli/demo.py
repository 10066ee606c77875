"""`demo`: shows a course with the sample class."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from selfcheck.catalogue import problem_sets

from ..course.paths import ROOT


@click.command()
@click.option("--course", "folder", default=ROOT / "course", type=click.Path(path_type=Path), help="The course folder.")
def demo(folder: Path) -> None:
    """Show a course with the sample class.

    Every problem set is released, the class graded, feedback and class reports written.
    """
    from ..console import console, plain, show
    from ..course.folder import Course
    from ..release.moved import moved_in
    from ..sandbox.bubblewrap import open_sandbox
    from . import demonstration
    from .phases import Phases

    course = Course.open(folder)
    for told in filter(None, (moved_in(course, problem_set) for problem_set in problem_sets())):
        show(f"demo: {told}. Or delete the folder, if nothing in it is yours: rm -r {course.root}", style="red")
        sys.exit(1)
    if told := demonstration.somebodys_own(course):
        show(f"demo: {told}", style="red")
        sys.exit(1)
    sandbox = open_sandbox("auto")  # the sample class is our own code
    if sandbox.level == "none":
        console.print("[bold red]No bubblewrap or no user namespaces here: the sample class runs without isolation.[/]")
    with Phases(console, demonstration.STEPS * len(problem_sets())) as phases:
        lines = demonstration.demonstrate(course, sandbox.level, phases)
    console.print(demonstration.summary(lines))
    console.print("To look at:")
    for text in demonstration.to_look_at(lines):
        show(text)
    console.print(phases.table("What it took"))
    for problem_set in problem_sets():
        console.print(plain(f"report    {demonstration.report_file(course, problem_set)}"))
    console.print(plain(f"course    {course.root} (nbgrader's own; formgrader: cd there and run jupyter lab)"))
    console.print(plain(f"feedback  {course.root / 'feedback'}"))
