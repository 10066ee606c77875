"""The roster of a course: who takes it, in which section, under which number of the learning platform."""

from __future__ import annotations

import csv
import io
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from selfcheck.atomic_files import write_atomically
from selfcheck.catalogue import problem_sets

from .extensions import Extension, read_extension
from .student_ids import InvalidStudentId, student_id
from .toml_values import SettingsError, quoted, table

ROSTER_FILE = "students.csv"
EXTENSION = "extension "  # what the name of a column begins with that ends with a problem set
MAX_BYTES = 4 * 2**20
MAX_TEXT = 200  # characters of a name, an address, a section


@dataclass(frozen=True)
class Person:
    """Somebody who takes the course; "" for what is not known.

    lms_id: the person's number in Canvas; extensions: by problem set
    """

    id: str
    last_name: str = ""
    first_name: str = ""
    email: str = ""
    section: str = ""
    lms_id: str = ""
    extensions: Mapping[str, Extension] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The full name, "" where none is known."""
        return " ".join(filter(None, (self.first_name, self.last_name)))


#: The columns of a roster's file before those with extensions; `name` may stand for the two parts of a name.
TEXTS = tuple(field.name for field in fields(Person) if field.name != "extensions")


@dataclass(frozen=True)
class Roster:
    """Who takes a course, by id."""

    people: Mapping[str, Person]

    def of_section(self, section: str | None) -> set[str]:
        """The ids of everybody in a section, of all people for None; ValueError where nobody is in it."""
        ids = {person.id for person in self.people.values() if section in (None, person.section)}
        if section is not None and not ids:
            known = sorted({person.section for person in self.people.values() if person.section})
            raise ValueError(f"nobody is in section {section!a}: there are {', '.join(known) or 'no sections'}")
        return ids


def roster_of_table(value: Any) -> Roster:
    """The roster that [students] of course.toml gives; SettingsError where it is invalid."""
    rows = []
    for id, entries in table("students", value).items():
        known = table(f"students.{id}", entries)
        extensions = table(f"students.{id}.extensions", known.get("extensions", {}))
        rest = {name: text for name, text in known.items() if name != "extensions"}
        rows.append({"id": id} | rest | {f"{EXTENSION}{name}": given for name, given in extensions.items()})
    return _roster(rows, lambda number: f"[students] {rows[number]['id']}")


def read_roster(root: Path) -> Roster | None:
    """The roster in a course's students.csv; None where there is no such file, SettingsError where it is invalid."""
    path = root / ROSTER_FILE
    try:
        if path.stat().st_size > MAX_BYTES:
            raise SettingsError(f"{path} has more than {MAX_BYTES // 2**20} MiB: is it the right file?")
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} cannot be read: expected a table in UTF-8, got {error}") from None
    return _roster(rows_of(text, path), lambda number: f"{path}, row {number + 2}")


def rows_of(text: str, path: Path) -> list[dict[str, str]]:
    """The rows of a table with the names of its columns, separated by commas, semicolons or tabs; SettingsError."""
    head = text.split("\n", 1)[0]
    separator = max(",;\t", key=head.count)
    try:
        reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=separator, strict=True, restval="")
        return [{(name or "").strip(): text or "" for name, text in row.items() if name is not None} for row in reader]
    except csv.Error as error:
        raise SettingsError(f"{path} is no table as a spreadsheet saves it (CSV): {error}") from None


def write_roster(root: Path, people: Iterable[Person]) -> Path:
    """Write students.csv, by id, in place of what was there; returns its path."""
    sets = problem_sets()
    everybody = sorted(people, key=lambda person: person.id)
    named = [name for name in sets if any(name in person.extensions for person in everybody)]
    file = io.StringIO(newline="")
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow([*TEXTS, *(f"{EXTENSION}{name}" for name in named)])
    for person in everybody:
        extensions = [str(person.extensions[name]) if name in person.extensions else "" for name in named]
        writer.writerow([*(getattr(person, name) for name in TEXTS), *extensions])
    write_atomically(root / ROSTER_FILE, file.getvalue(), mode=0o600)
    return root / ROSTER_FILE


def _roster(rows: list[dict[str, Any]], place: Any) -> Roster:
    people: dict[str, Person] = {}
    for number, row in enumerate(rows):
        try:
            person = _person(row)
        except (InvalidStudentId, SettingsError, ValueError) as error:
            raise SettingsError(f"{place(number)}: {error}") from None
        if person.id in people:
            raise SettingsError(f"{place(number)}: {person.id} is there twice")
        people[person.id] = person
    return Roster(people)


def _person(row: Mapping[str, Any]) -> Person:
    texts, extensions = {}, {}
    for name, value in row.items():
        if name.startswith(EXTENSION):
            problem_set = name.removeprefix(EXTENSION)
            if problem_set not in problem_sets():
                raise SettingsError(f"there is no problem set {quoted(problem_set)}")
            if value != "":
                extensions[problem_set] = read_extension(value)
        elif name in (*TEXTS, "name"):
            texts[name] = _text(name, value)
        else:
            raise SettingsError(f"there is no column {quoted(name)}; there are {', '.join(TEXTS)}, extension ps1, …")
    if not texts.get("id"):
        raise SettingsError("it has no id")
    whole = texts.pop("name", "")
    if whole and not (texts.get("last_name") or texts.get("first_name")):
        last, _, first = whole.partition(",")
        texts |= {"last_name": last.strip(), "first_name": first.strip()}
    return Person(student_id(texts.pop("id")), **texts, extensions=extensions)


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise SettingsError(f"{name} must be a text in quotes, got {quoted(value)}")
    text = unicodedata.normalize("NFC", value.strip())
    if len(text) > MAX_TEXT or not text.isprintable():
        raise SettingsError(f"{name} must be one line of at most {MAX_TEXT} characters, got {quoted(text)}")
    return text
