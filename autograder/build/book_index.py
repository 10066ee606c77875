"""Indexes what pages can refer to: titles, labelled sections, numbered formulas, exercises and cited works."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from selfcheck.catalogue import exercises

from ..course.paths import BOOK
from .exercise_text import chapter_page, label
from .urls import site_url

__all__ = ["BookIndex", "Place", "Work"]

FENCED = re.compile(r"^(?P<fence>`{3,}|~{3,})(?!\{math\}).*?^(?P=fence)[ \t]*$", re.MULTILINE | re.DOTALL)
TITLE = re.compile(r"^# +(.+?) *$", re.MULTILINE)
#: A heading with the labels above it, of which it may have several.
SECTION = re.compile(r"^((?:\([^()\s]+\)=\s*\n\s*)+)#+ +(.+?) *$", re.MULTILINE)
LABEL = re.compile(r"^\s*\(([^()\s]+)\)=", re.MULTILINE)
FORMULA = re.compile(r"^\$\$\s*\(([^()\s]+)\)\s*$|\$\$ \(([^()\s]+)\)\s*$|^:label: *(\S+)", re.MULTILINE)
CHAPTER = re.compile(r"chapters/0*(\d+)-")
FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)


@dataclass(frozen=True)
class Place:
    """Where a label stands and how a reader knows it."""

    page: str
    anchor: str
    title: str

    @property
    def address(self) -> str:
        return f"{site_url()}{self.page}.html" + (f"#{self.anchor}" if self.anchor else "")


@dataclass(frozen=True)
class Work:
    """A cited work, as its citation shows it."""

    authors: str  # Vaswani et al.
    year: str
    title: str
    address: str


@dataclass
class BookIndex:
    """Every page of the book, read once."""

    folder: Path = BOOK
    show_solutions: bool = True  # whether the reference's code may be included whole
    pages: dict[str, str] = field(init=False)

    def __post_init__(self) -> None:
        files = [file for file in sorted(self.folder.rglob("*.md")) if "_build" not in file.parts]
        self.pages = {file.relative_to(self.folder).with_suffix("").as_posix(): _text(file) for file in files}

    def page(self, name: str, seen_from: str = "") -> Place:
        """A page by its path, relative to the page `seen_from` or, with a slash in front, to the book."""
        path = name.removesuffix(".md")
        here = posixpath.dirname(seen_from)
        path = path.lstrip("/") if path.startswith("/") else posixpath.normpath(posixpath.join(here, path))
        if path not in self.pages:
            raise LookupError(f"{seen_from}: no page {name!r}")
        title = TITLE.search(FENCED.sub("", self.pages[path]))
        return Place(path, "", title.group(1) if title else path)

    def label(self, name: str, seen_from: str = "") -> Place:
        """A labelled section or an exercise."""
        if name.lower() in self.labels:
            return self.labels[name.lower()]
        raise LookupError(f"{seen_from}: no label {name!r} in the book")

    @cached_property
    def labels(self) -> dict[str, Place]:
        places = {}
        for page, text in self.pages.items():
            for names, title in SECTION.findall(text):
                for name in LABEL.findall(names):
                    places[name.lower()] = Place(page, name.lower().replace("_", "-"), title)
        for exercise in exercises():
            name = label(exercise).lower()
            places[name] = Place(chapter_page(exercise), name.replace("_", "-"), f"Exercise {exercise.number}")
        return places

    @cached_property
    def formulas(self) -> dict[str, Place]:
        """Labelled formulas; their title is their number, the chapter's and then their own."""
        places = {}
        for page, text in self.pages.items():
            chapter = CHAPTER.match(page)
            labels = ["".join(groups) for groups in FORMULA.findall(FENCED.sub("", text))]
            for number, name in enumerate(labels, start=1):
                places[name] = Place(
                    page, f"equation-{name}", f"{chapter.group(1)}.{number}" if chapter else str(number)
                )
        return places

    def formula(self, name: str, seen_from: str = "") -> Place:
        if name not in self.formulas:
            raise LookupError(f"{seen_from}: no formula {name!r} in the book")
        return self.formulas[name]

    @cached_property
    def works(self) -> dict[str, Work]:
        """The entries of references.bib."""
        from pybtex.database import parse_file

        entries = parse_file(str(self.folder / "references.bib"), bib_format="bibtex").entries
        return {key: _work(entry) for key, entry in entries.items()}

    def work(self, key: str, seen_from: str = "") -> Work:
        if key not in self.works:
            raise LookupError(f"{seen_from}: references.bib has no {key!r}")
        return self.works[key]


def _text(file: Path) -> str:
    return FRONT_MATTER.sub("", file.read_text("utf-8"))


def _work(entry: Any) -> Work:
    people = entry.persons.get("author") or entry.persons.get("editor") or []
    names = [_plain(" ".join([*person.prelast_names, *person.last_names])) for person in people]
    named = " and ".join(names) or _plain(entry.fields.get("title", ""))
    authors = f"{names[0]} et al." if len(names) > 2 else named
    address = entry.fields.get("url") or (f"https://doi.org/{entry.fields['doi']}" if "doi" in entry.fields else "")
    return Work(authors, entry.fields.get("year", "n.d."), _plain(entry.fields.get("title", "")), address)


def _plain(latex: str) -> str:
    from pybtex.richtext import Text

    return str(Text.from_latex(latex)) if "\\" in latex or "{" in latex else latex
