"""Finds the regions of the reference that are solutions, from `# solution: begin` to `# solution: end`.

A region that begins with `# solution: begin (drop)` leaves no trace in a stub.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

__all__ = [
    "Region",
    "has_marks",
    "regions",
    "replace_regions",
    "without_marks",
    "without_solutions",
    "without_tool_comments",
]

MARK = re.compile(r"^(?P<indent>[ \t]*)# solution: (?P<kind>begin|end)\b(?P<rest>.*)$")
DROP = " (drop)"
FOR_TOOLS = re.compile(r"(?m)[ \t]+# (?:fmt: (?:skip|off|on)|noqa\b.*|type: ignore\b.*)$")
ELLIPSIS = "...  # yours to write"


@dataclass(frozen=True)
class Region:
    """A solution in a source text.

    begin, end: the numbers of the lines that hold its marks, counted from 1; indent: the white space before `begin`
    drop: whether nothing stands in its place in a stub
    """

    begin: int
    end: int
    indent: str
    drop: bool


def regions(source: str) -> list[Region]:
    """The solutions of a source text in order; ValueError, with the line, for marks that do not pair up."""
    complete: list[Region] = []
    begin: re.Match[str] | None = None
    first = 0
    for number, mark in _marks(source):
        if mark["rest"] not in ("", DROP if mark["kind"] == "begin" else ""):
            raise ValueError(f"line {number}: expected a mark `# solution: begin{DROP}`, got `{mark[0].strip()}`")
        if (mark["kind"] == "begin") == (begin is not None):
            raise ValueError(f"line {number}: a solution region is opened twice or closed twice")
        if begin is None:
            begin, first = mark, number
        else:
            complete.append(Region(first, number, begin["indent"], begin["rest"] == DROP))
            begin = None
    if begin is not None:
        raise ValueError(f"line {first}: a solution region is not closed")
    return complete


def replace_regions(source: str, chosen: list[Region], replacement: Callable[[Region], str]) -> str:
    """A source text with a line, or nothing for "", in the place of each region."""
    lines = source.splitlines(keepends=True)
    for region in reversed(chosen):
        text = replacement(region)
        lines[region.begin - 1 : region.end] = [f"{region.indent}{text}\n"] if text else []
    return "".join(lines)


def has_marks(source: str) -> bool:
    """Whether a text holds the mark of a solution."""
    return next(_marks(source), None) is not None


def without_solutions(source: str) -> str:
    """A text with each solution replaced by an ellipsis, for a book that shows none.

    source: a whole module or an excerpt, whose first and last region may be cut
    """
    return replace_regions(source, _regions_of_excerpt(source), lambda region: "" if region.drop else ELLIPSIS)


def without_marks(source: str) -> str:
    """A text without the comments that mark its solutions."""
    marked = {number for number, _ in _marks(source)}
    lines = source.splitlines(keepends=True)
    return "".join(line for number, line in enumerate(lines, start=1) if number not in marked)


def without_tool_comments(source: str) -> str:
    """A text as a reader needs it: without what its lines say to a formatter or a linter."""
    return FOR_TOOLS.sub("", source)


def _marks(source: str) -> Iterator[tuple[int, re.Match[str]]]:
    for number, line in enumerate(source.splitlines(), start=1):
        if mark := MARK.match(line):
            yield number, mark


def _regions_of_excerpt(source: str) -> list[Region]:
    """The regions of a text whose ends may be cut off: what stands before a first `end` is a solution too."""
    complete: list[Region] = []
    begin: tuple[int, str, bool] | None = None
    for number, mark in _marks(source):
        if mark["kind"] == "begin":
            begin = begin or (number, mark["indent"], mark["rest"] == DROP)
        elif begin or not complete:
            complete.append(Region(begin[0], number, *begin[1:]) if begin else Region(1, number, mark["indent"], False))
            begin = None
    if begin:
        complete.append(Region(begin[0], len(source.splitlines()), *begin[1:]))
    return complete
