"""Prints a user's error on one line, and ends the command with 1."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from ..console import show
from ..course.faults import machine_fault

USERS = (KeyError, ValueError, OSError, RuntimeError)


@contextmanager
def user_errors(command: str, kinds: tuple[type[Exception], ...] = USERS) -> Iterator[None]:
    """Within it an error of these kinds, which a user can mend, ends the command with a line.

    command: what it begins with
    """
    try:
        yield
    except kinds as error:
        text: object = error.args[0] if isinstance(error, KeyError) and error.args else error
        if isinstance(error, OSError) and (fault := machine_fault(error)):
            text = f"{fault}, and run {command} again"
        show(f"{command}: {text}", style="red")
        sys.exit(1)
