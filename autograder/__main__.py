"""The command line of the instructor's tool."""

from __future__ import annotations

import sys

import click

from .bench_command import bench
from .course_commands import COMMANDS
from .judge_command import judge
from .log_command import log
from .new_command import new
from .places import COMMAND
from .prove_command import prove


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Build what is generated, release problem sets, grade, report and export."""


@main.command()
@click.option("--check", "only_compare", is_flag=True, help="Only compare; name what is stale and exit with 1.")
def build(only_compare: bool) -> None:
    """Generate stubs, recorded answers and notebooks."""
    from . import build as building

    if only_compare:
        stale = building.stale()
        for line in stale:
            click.echo(line)
        if stale:
            click.echo(f"run: {COMMAND}")
            sys.exit(1)
        click.echo("everything generated is up to date")
        return
    for path in building.build():
        click.echo(f"kept {path}: it was edited; to get the stub back, delete the file and run: {COMMAND}")
    click.echo("built: stubs, recorded answers, notebooks")


for command in (bench, judge, log, new, prove, *COMMANDS):
    main.add_command(command)

if __name__ == "__main__":
    main(prog_name="python -m autograder")
