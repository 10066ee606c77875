"""Collects titles and addresses of the sections that exercises and messages name, for who has no book at hand."""

from __future__ import annotations

import json
from pathlib import Path

from selfcheck.catalogue import exercises
from selfcheck.slip_sections import TREATS

from ..course.paths import SELFCHECK
from .book_index import BookIndex

FILE = SELFCHECK / "sections.json"
SIGNS = {r"\infty": "∞", r"\sqrt": "√", "`": "", "$": "", "*": ""}


def texts() -> dict[Path, str]:
    """The file of sections, by its path: label → [title, address]."""
    index = BookIndex()
    labels = {exercise.section for exercise in exercises()}
    labels |= TREATS.keys()
    labels |= {wrong.section for exercise in exercises() for wrong in exercise.misconceptions}
    places = {name: index.label(name) for name in sorted(labels)}
    table = {name: [_plain(place.title), place.address] for name, place in places.items()}
    return {FILE: json.dumps(table, indent=1, ensure_ascii=False) + "\n"}


def _plain(title: str) -> str:
    """A heading without its markup."""
    for markup, sign in SIGNS.items():
        title = title.replace(markup, sign)
    return title
