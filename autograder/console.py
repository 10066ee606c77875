"""Prints on the instructor's terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager

from rich.console import Console
from rich.text import Text

from .course.printable import printable, printable_line

MAX_REMARKS, MAX_REMARK = 5, 160  # remarks on one submission in a terminal, and characters of each


class PatientConsole(Console):
    """A console whose reader may leave, as `| head` does: the rest goes nowhere, and the command goes on."""

    def on_broken_pipe(self) -> None:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


if not os.environ.get("COLUMNS", "").strip("0"):
    os.environ.pop("COLUMNS", None)  # a terminal of no known width says 0, and rich would print nothing
console = PatientConsole(highlight=False)


def remarks_line(remarks: Sequence[str], most: int = MAX_REMARKS, longest: int = MAX_REMARK) -> str:
    """The first `most` remarks on one submission on one line, each cut to `longest` characters."""
    more = [f"and {len(remarks) - most} more: see the report"] if len(remarks) > most else []
    *before, last = [*(_cut(remark, longest) for remark in remarks[:most]), *more] or [""]
    return "; ".join([*(remark.removesuffix(".") for remark in before), last])


def _cut(remark: str, longest: int) -> str:
    """A remark on one line, cut where it is too long: between two words, unless that would cost half of it."""
    if len(remark) <= longest:
        return printable_line(remark, longest)
    words = remark[: longest + 1].rpartition(" ")[0]
    return f"{printable_line(words, longest)} …" if len(words) > longest // 2 else f"{printable_line(remark, longest)}…"


def plain(text: str) -> Text:
    """Text on one line without markup, its control and direction characters escaped."""
    return Text(printable(text, keep=""))


def show(text: str, style: str = "") -> None:
    """Print lines without markup; a line that is too long continues at its own indentation."""
    for line in text.split("\n"):
        words = line.lstrip(" ")
        indent = " " * (len(line) - len(words))
        for part in plain(words).wrap(console, max(console.width - len(indent), 1)):
            part.rstrip()
            console.print(Text(indent) + part, style=style)


def working(text: str) -> AbstractContextManager[object]:
    """Within it a terminal shows that a command is busy with something; elsewhere nothing is printed."""
    return console.status(plain(f"{text} …"))
