"""The commands of a terminal: check, hint, edit, what fails, keep, pack, begin anew, and a watch."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any

import click
from rich.console import Console
from rich.text import Text

from .catalogue import Exercise, exercises
from .catalogue.names import exercises_named
from .learner import Learner, available, stoppable
from .terminal import progress, tell
from .verdict import ExerciseResult

LONGEST = 1000  # characters of a line that nobody reads in a terminal
NAME = "NAME is an exercise (4.2, causal_mask), a module (masks), its file, a chapter (4) or a problem set (ps3)."


class Commands(click.Group):
    """The commands; what is none of them is the name of something to check."""

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        if args and args[0] not in self.commands:
            args = ["check", *args]
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; what a learner can mend is said in a line, with exit code 2."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as stopped:
            _console().print(Text(str(stopped) or "stopped"))
            sys.exit(130)
        except (KeyError, OSError, ValueError) as error:
            text = str(error.args[0] if isinstance(error, KeyError) else error)
            _console().print(Text(text), style="red", soft_wrap=True)
            sys.exit(2)


@click.group(
    cls=Commands, invoke_without_command=True, epilog=NAME, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.pass_context
def main(context: click.Context) -> None:
    """Check your answers: `selfcheck NAME`; without a name, progress over all exercises and the next one."""
    if hasattr(sys.stdout, "reconfigure"):  # a Windows file or pipe may not know the marks
        sys.stdout.reconfigure(errors="replace")
    if context.invoked_subcommand is None:
        progress(_console(), examine(available(exercises()), recalls=True))


@main.command("check")
@click.argument("names", nargs=-1, required=True, metavar="NAME…")
def check_command(names: Sequence[str]) -> None:
    """Check exercises; `check` itself may be left out."""
    chosen = list(dict.fromkeys(exercise for name in names for exercise in available(exercises_named(name))))
    results = examine(chosen)
    tell(_console(), results)
    sys.exit(0 if all(result.passed for result in results) else 1)


@main.command("progress")
def progress_command() -> None:
    """All exercises, how far they are, and the next one."""
    progress(_console(), examine(available(exercises()), recalls=True))


@main.command("watch")
@click.argument("name", required=False)
def watch_command(name: str | None) -> None:
    """Check again on every save; one failing exercise stays in view."""
    from .watch import Watch

    Watch(_console(), available(exercises_named(name) if name else exercises())).run()


@main.command("hint")
@click.argument("name")
def hint_command(name: str) -> None:
    """The next hint of an exercise, from a nudge to nearly the answer."""
    from .hints import hint

    console = _console()
    console.print(Text(str(hint(name))), soft_wrap=not console.is_terminal)


@main.command("failing")
@click.argument("name")
def failing_command(name: str) -> None:
    """The first call that fails, as a program to run, with the expected answer and yours."""
    from .failures import failing

    print(failing(name))


@main.command("compare")
@click.argument("name")
def compare_command(name: str) -> None:
    """Your answer and the expected one side by side, for the first call that fails."""
    from .failures import compare

    print(compare(name))


@main.command("edit")
@click.argument("name")
def edit_command(name: str) -> None:
    """Open an exercise in $VISUAL or $EDITOR, at its function."""
    from .editing import open_in_editor

    _console().print(Text(open_in_editor(name)), soft_wrap=True)


@main.command("reset")
@click.argument("name")
@click.confirmation_option(prompt="Put it back as it was handed out? A copy of your file stays beside it.")
def reset_command(name: str) -> None:
    """Begin an exercise or a module anew; a copy of your file stays."""
    from .resetting import reset

    written = [f"{path} is as it was handed out; your text is in {path}.before-reset" for path in reset(name)]
    _console().print(Text("\n".join(written) or "nothing to put back"), soft_wrap=True)


@main.command("pack")
@click.argument("problem_set")
@click.option("--notebook", help="Where psN.ipynb lies, if not here or beside the modules.")
@click.option("--yes", "-y", is_flag=True, help="Do not ask where exercises fail or questions have no answer.")
def pack_command(problem_set: str, notebook: str | None, yes: bool) -> None:
    """Write psN.zip, ready to submit; what is left to do is said before."""
    from .packing import pack

    if pack(problem_set, notebook, yes) is None:
        sys.exit(1)


@main.command("save")
def save_command() -> None:
    """Copy your modules to a safe place."""
    from .saving import save

    save()


@main.command("restore")
def restore_command() -> None:
    """Bring back the modules that `save` copied."""
    from .saving import restore

    restore()


def examine(chosen: Sequence[Exercise], recalls: bool = False) -> list[ExerciseResult]:
    """The verdicts of some exercises on the package as it is on disk now; recalls: see `Learner`."""
    with stoppable(), Learner(recalls).imported() as learner:
        return [learner.result(exercise) for exercise in chosen]


def _console() -> Console:
    """That of a pipe or file has lines as long as they need to be."""
    console = Console(highlight=False)
    return console if console.is_terminal or "COLUMNS" in os.environ else Console(highlight=False, width=LONGEST)
