"""Finds the section of the book to reread."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from ..build.book_index import CHAPTER, FENCED, LABEL, BookIndex

HEADING = re.compile(r"^## +", re.MULTILINE)
SIGNS = {r"\infty": "∞", r"\sqrt": "√", "$": ""}


@dataclass(frozen=True)
class Section:
    """A section as the book shows it, "2.4 Step 3: from scores to weights", and where it is."""

    name: str
    address: str


@cache
def section(label: str) -> Section | None:
    """The section of a label; None where the book has none of that name.

    One of a deeper level has no number of its own, and goes by that of the section it is in.
    """
    place = _index().labels.get(label.lower())
    if place is None:
        return None
    title = place.title
    for sign, shown in SIGNS.items():
        title = title.replace(sign, shown)
    chapter = CHAPTER.match(place.page)
    if not chapter:
        return Section(title, place.address)
    before, _, after = _index().pages[place.page].partition(f"({label})=\n")
    heading = LABEL.sub("", after).lstrip().partition("\n")[0]
    number = len(HEADING.findall(FENCED.sub("", before))) + heading.startswith("## ")
    return Section(f"{chapter[1]}.{number} {title}", place.address)


@cache
def _index() -> BookIndex:
    return BookIndex()
