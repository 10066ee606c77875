"""Prints a user's error on one line, and ends the command with 1."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from ..console import show


@contextmanager
def user_errors(command: str) -> Iterator[None]:
    """Within it an error that a user can mend ends the command with a line. command: what it begins with"""
    try:
        yield
    except (KeyError, ValueError, OSError, RuntimeError) as error:
        text = error.args[0] if isinstance(error, KeyError) and error.args else error
        show(f"{command}: {text}", style="red")
        sys.exit(1)
