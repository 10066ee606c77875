"""The command line of the instructor's tool."""

from __future__ import annotations

import importlib
import sys

import click

from .course.paths import COMMAND

COURSE = ("release", "submit", "grade", "feedback", "report", "export")
#: Where each command is that has a module of its own: what one needs, the others need not wait for.
MODULES = {
    **dict.fromkeys(COURSE, "course_commands"),
    **{name: f"{name}_command" for name in ("book", "demo", "judge", "log", "new", "notebooks", "prove")},
    "bench": "bench.command",
}


class Commands(click.Group):
    """Commands that are imported when they are called."""

    def list_commands(self, context: click.Context) -> list[str]:
        return sorted([*MODULES, *super().list_commands(context)])

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in MODULES:
            return super().get_command(context, name)
        return getattr(importlib.import_module(f".{MODULES[name]}", __package__), name)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Build what is generated, release problem sets, grade, report and export."""


@main.command()
@click.option("--check", "only_compare", is_flag=True, help="Only compare; name what is stale and exit with 1.")
def build(only_compare: bool) -> None:
    """Generate stubs, recorded answers and notebooks."""
    from .build import generate as building

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


if __name__ == "__main__":
    main(prog_name="python -m autograder")
