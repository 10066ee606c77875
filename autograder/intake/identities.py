"""Says whose work it is that a download names by a person's name, number or account."""

from __future__ import annotations

import csv
import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Protocol

from ..course.printable import printable_name
from .lms_times import folded


class Person(Protocol):
    """Somebody on the roster; "" for what is not known."""

    id: str
    last_name: str
    first_name: str
    email: str
    lms_id: str


class Identities:
    """Finds a student's id by what a download says.

    people: the roster, None where there is none; given: ids by what the instructor's own table has in its first column
    """

    def __init__(self, people: Iterable[Person] | None, given: dict[str, str]) -> None:
        self._given = {folded(key): student for key, student in given.items()}
        self._has_roster = people is not None
        self._by_kind: dict[str, dict[str, set[str]]] = {"id": {}, "lms_id": {}, "name": {}}
        for person in people or ():
            for kind, text in _keys_of(person):
                if folded(text):
                    self._by_kind[kind].setdefault(folded(text), set()).add(person.id)

    def id_of(self, label: str, keys: Sequence[tuple[str, str]]) -> str:
        """The student's id; ValueError where nobody can tell.

        label: how the download calls it; keys: what may identify the person, see downloads.Found
        """
        for text in (label, *(text for _, text in keys)):
            if folded(text) in self._given:
                return self._given[folded(text)]
        for kind, text in keys:
            ids = self._by_kind[kind].get(folded(text), set())
            if len(ids) > 1:
                raise ValueError(f"{printable_name(text)} may be {' or '.join(sorted(ids))}: say which with --ids")
            if ids:
                return next(iter(ids))
        own = next((unicodedata.normalize("NFC", text) for kind, text in keys if kind == "id"), "")
        if own and not self._has_roster:
            return own
        where = "not on the roster" if self._has_roster else "no id, and the course has no roster"
        raise ValueError(f"{where}: add a line to the table of --ids, {printable_name(label)},ID")


def read_ids(path: Path) -> dict[str, str]:
    """The instructor's table, without a head: what a download has, and the id; ValueError where it is none."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = [row for row in csv.reader(file, strict=True) if any(cell.strip() for cell in row)]
    except (csv.Error, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is no table in UTF-8 (CSV): {error}") from None
    ids: dict[str, str] = {}
    for number, row in enumerate(rows, 1):
        if len(row) != 2:
            raise ValueError(
                f"{path}, row {number}: expected two columns, what the download has and the id; got {len(row)}"
            )
        ids[row[0].strip()] = unicodedata.normalize("NFC", row[1].strip())
    return ids


def _keys_of(person: Person) -> list[tuple[str, str]]:
    first, last = person.first_name, person.last_name
    keys = [("id", person.id), ("id", person.email), ("id", person.email.partition("@")[0]), ("lms_id", person.lms_id)]
    return [*keys, ("name", f"{first} {last}"), ("name", f"{last} {first}"), ("name", person.id)]
