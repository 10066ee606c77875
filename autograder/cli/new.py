"""The command that scaffolds an exercise."""

from __future__ import annotations

import sys

import click

from ..authoring.names import Refused
from ..authoring.scaffold import Wish, write
from ..console import console, plain, show
from ..course.paths import COMMAND, ROOT


@click.command()
@click.argument("exercise", metavar="MODULE.SYMBOL")
@click.option("--problem-set", required=True, help="Where it is worked on: ps3.")
@click.option("--number", help="Chapter and number in it, 3.9. Default: the next one in the module's chapter.")
@click.option("--title", help="What learners read above it. Default: its name.")
def new(exercise: str, problem_set: str, number: str | None, title: str | None) -> None:
    """Scaffold an exercise.

    A small_letters symbol is a function, a Capitalised one a class. The exercise is tiny but complete: it passes every
    proof. Each line that says "Yours to write" marks a place for the author. No file is overwritten; where something is
    wrong, nothing is written.
    """
    try:
        written = write(ROOT, Wish(exercise, problem_set, number, title))
    except Refused as refused:
        show(f"new {exercise}: {refused}", style="red")
        sys.exit(1)
    for path in written:
        console.print(plain(f"written: {path}"))
    console.print("Next:")
    for command, why in (
        (COMMAND, "stubs, recorded answers, long axes, notation, notebooks"),
        (
            f"python -m pytest -n 0 tests/exercises -k {exercise.partition('.')[2]}",
            "the proofs, and what is left to you",
        ),
        ("python -m autograder prove", "every small mistake must fail a check; takes long"),
    ):
        console.print(plain(f"  {command}  # {why}"))
