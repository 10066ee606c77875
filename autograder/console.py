"""Tables for the instructor's terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from .course.printable import printable, printable_line

MOST_REMARKS, MOST_REMARK = 5, 160  # remarks on one submission in a terminal, and characters of each
console = Console(highlight=False)


def remarks_line(remarks: Sequence[str], most: int = MOST_REMARKS, longest: int = MOST_REMARK) -> str:
    """Remarks on one submission in a row, the first of them where they are many."""
    more = [f"and {len(remarks) - most} more: see the report"] if len(remarks) > most else []
    return "; ".join(
        [*(printable_line(remark, longest) + "…" * (len(remark) > longest) for remark in remarks[:most]), *more]
    )


def plain(text: str) -> Text:
    """Text in one line as it is: no markup, and control or direction characters as escapes."""
    return Text(printable(text, keep=""))


def show(text: str, style: str = "") -> None:
    """Print lines as they are; what does not fit goes on at its line's indentation, so that it is no new one."""
    for line in text.split("\n"):
        words = line.lstrip(" ")
        console.print(Padding.indent(plain(words), len(line) - len(words)), style=style)
