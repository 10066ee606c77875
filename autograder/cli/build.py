"""The command that generates stubs, recorded answers and notebooks."""

from __future__ import annotations

import sys

import click

from ..console import console, plain, working
from ..course.paths import COMMAND


@click.command()
@click.option("--check", "only_compare", is_flag=True, help="Only compare; name what is stale and exit with 1.")
def build(only_compare: bool) -> None:
    """Generate stubs, recorded answers and notebooks."""
    from ..build import generate

    with working("stubs, recorded answers, long axes, notation, notebooks"):
        lines = generate.stale() if only_compare else generate.build()
    if only_compare:
        for line in lines:
            console.print(plain(str(line)), soft_wrap=True)
        if lines:
            console.print(f"run: {COMMAND}")
            sys.exit(1)
        console.print("everything generated is up to date")
        return
    for path in lines:
        text = f"kept {path}: it was edited; to get the stub back, delete the file and run: {COMMAND}"
        console.print(plain(text), soft_wrap=True)
    console.print("built: stubs, recorded answers, long axes, notation, notebooks")
