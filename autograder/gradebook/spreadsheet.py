"""Writes tables as CSV in which a spreadsheet finds no formula."""

from __future__ import annotations

import csv
import unicodedata
from collections.abc import Iterable
from pathlib import Path

from ..course.printable import printable

FORMULA_STARTS = "=+-@|%"  # a spreadsheet would run a cell that begins so


def write_rows(target: Path, columns: Iterable[str], rows: Iterable[Iterable[object]]) -> None:
    """Write rows under the names of their columns: every text quoted, none of them a formula."""
    with target.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_NONNUMERIC)
        writer.writerow(columns)
        for row in rows:
            writer.writerow([harmless(cell) if isinstance(cell, str) else cell for cell in row])


def harmless(text: str) -> str:
    """A text in one line, with an apostrophe before it where a spreadsheet would take it for a formula.

    Some spreadsheets trim blanks and quotes, and take a full-width sign for its narrow form.
    """
    visible = "".join(sign for sign in unicodedata.normalize("NFKC", text) if unicodedata.category(sign)[0] not in "CZ")
    text = printable(text, keep="")
    return f"'{text}" if visible.lstrip("'\"`").startswith(tuple(FORMULA_STARTS)) else text
