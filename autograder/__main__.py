"""The command line of the instructor's tool."""

from __future__ import annotations

import gc
import importlib
import io
import os
import sys

import click

from .course.faults import FULL

COURSE = ("release", "submit", "grade", "feedback", "report", "export")
#: The module of autograder.cli that holds each command. A command imports what it needs when it is called.
MODULES = {
    **dict.fromkeys(COURSE, "course"),
    **dict.fromkeys(("roster", "extend"), "students"),
    "collect": "collect",
    **{
        name: name
        for name in ("bench", "book", "build", "bundle", "demo", "doctor", "log", "new", "notebooks", "pdf", "prove")
    },
    "judge": "judge_command",
}


class Commands(click.Group):
    """A group whose commands are imported when they are looked up."""

    def list_commands(self, context: click.Context) -> list[str]:
        return list(MODULES)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in MODULES:
            return None
        command: click.Command = getattr(importlib.import_module(f".cli.{MODULES[name]}", __package__), name)
        return command


@click.command(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Build what is generated, release problem sets, grade, report and export."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a name that a terminal's encoding lacks must not end a command
            stream.reconfigure(errors="backslashreplace")


def run() -> None:
    """Run the command of the command line; a sentence where its output, or the current folder, cannot be used."""
    try:
        os.getcwd()
    except FileNotFoundError:
        sys.exit("autograder: the current folder is not there any more: go to another one, and run the command again")
    try:
        main(prog_name="python -m autograder")
    except OSError as error:
        if error.errno not in FULL or error.filename is not None:
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is still to be printed is lost
        sys.exit(f"autograder: nothing more can be printed, {error.strerror}: make room, and run the command again")
    finally:
        gc.freeze()  # Python looks through all objects once more at its end: a quarter of a second after `grade`


if __name__ == "__main__":
    run()
