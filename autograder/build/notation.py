"""Makes the notation page from its table, book/notation.toml."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ..course.paths import BOOK

__all__ = ["PAGE", "TABLE", "page", "table"]

TABLE = BOOK / "notation.toml"
PAGE = BOOK / "notation.md"
HEAD = """---
myst:
  html_meta:
    description: "One sheet of symbols, shapes and code names, and a dictionary to the conventions of other texts."
---

<!-- Made by `make build` from book/notation.toml: change it there. -->
"""


def table() -> dict[str, Any]:
    """What book/notation.toml holds: texts, sections of rows, and how other texts write it."""
    return tomllib.loads(TABLE.read_text("utf-8"))


def page() -> dict[Path, str]:
    """The notation page, by its path."""
    content = table()
    parts = [HEAD, "(sec-notation)=", "# Notation", "", content["introduction"].strip(), ""]
    for section in content["section"]:
        parts += [f"({section['label']})=", f"## {section['title']}", "", section["text"].strip(), ""]
        parts += [*_two_columns("symbol", "meaning", map(_symbol_row, section["rows"])), ""]
    parts += [content["closing"].strip(), "", "(sec-notation-elsewhere)=", "## How other texts write it", ""]
    parts += [*map(_elsewhere_line, content["elsewhere"]), ""]
    parts += ["{doc}`deeper/mask-conventions` runs the mask conversions of this list on the real libraries.", ""]
    return {PAGE: "\n".join(parts)}


def _two_columns(left: str, right: str, rows: Iterator[tuple[str, str]]) -> list[str]:
    """A table that a phone shows whole: two columns, the second of which wraps."""
    return [f"| {left} | {right} |", "|---|---|", *(f"| {first} | {second} |" for first, second in rows)]


def _symbol_row(row: Mapping[str, Any]) -> tuple[str, str]:
    symbols = ", ".join(f"${symbol}$" for symbol in row["symbols"])
    details = [row["meaning"]]
    if "shape" in row:
        details.append(f"shape {row['shape']}")
    if "code" in row:
        details.append(f"in code {row['code']}")
    if where := _where(row):
        details.append(where)
    return symbols, "; ".join(details)


def _where(row: Mapping[str, Any]) -> str:
    """The chapters to which a row is limited, in words."""
    numbers = [str(number) for number in row.get("chapters", ())]
    if not numbers:
        return ""
    *first, last = numbers
    return f"chapters {', '.join(first)} and {last}" if first else f"chapter {last}"


def _elsewhere_line(row: Mapping[str, str]) -> str:
    """An item of a list: what one text writes for what stands here, who does, and how to translate it."""
    said = f"- *Here:* {row['here']}. *Elsewhere:* {row['elsewhere']} ({row['where']})."
    return f"{said} *To translate:* {row['translate']}."
