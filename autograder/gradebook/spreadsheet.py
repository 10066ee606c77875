"""Writes tables as CSV in which a spreadsheet finds no formula."""

from __future__ import annotations

import csv
import io
import unicodedata
from collections.abc import Iterable
from pathlib import Path

from selfcheck.atomic_files import write_atomically

from ..course.printable import printable

FORMULA_STARTS = "=+-@|%"  # a spreadsheet would run a cell that begins so


def write_rows(target: Path, columns: Iterable[str], rows: Iterable[Iterable[object]]) -> None:
    """Write rows under the names of their columns: every text quoted, none of them a formula."""
    file = io.StringIO(newline="")
    writer = csv.writer(file, quoting=csv.QUOTE_NONNUMERIC)
    writer.writerow(columns)
    for row in rows:
        writer.writerow([harmless(cell) if isinstance(cell, str) else cell for cell in row])
    if target.exists() and not target.is_file():  # such as /dev/stdout
        target.write_text(file.getvalue(), encoding="utf-8", newline="")
    else:
        write_atomically(target, file.getvalue())


def harmless(text: str) -> str:
    """A text in one line, with an apostrophe before it where a spreadsheet would take it for a formula.

    Some spreadsheets part cells at semicolons, quotes notwithstanding.
    """
    cells = ((cell, printable(cell, keep="")) for cell in text.split(";"))
    return ";".join(f"'{shown}" if _is_formula(cell) else shown for cell, shown in cells)


def _is_formula(cell: str) -> bool:
    """Some spreadsheets trim blanks and quotes, or take a full-width sign for its narrow form."""
    visible = "".join(sign for sign in unicodedata.normalize("NFKC", cell) if unicodedata.category(sign)[0] not in "CZ")
    return visible.lstrip("'\"`").startswith(tuple(FORMULA_STARTS))
