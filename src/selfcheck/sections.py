"""Names the sections of the book, with their addresses."""

from __future__ import annotations

import functools
import json
from pathlib import Path

FILE = Path(__file__).with_name("sections.json")


def title_of(label: str) -> str:
    """A section's title in quotes: "“Which corner does the triangle start in?”"; of an unknown label its words."""
    entry = _table().get(label)
    return f"“{entry[0]}”" if entry else label.removeprefix("sec-").replace("-", " ")


def address_of(label: str) -> str:
    """Where a section is on the published site; "" for an unknown label."""
    return _table().get(label, ["", ""])[1]


@functools.cache
def _table() -> dict[str, list[str]]:
    return dict(json.loads(FILE.read_text(encoding="utf-8"))) if FILE.is_file() else {}
