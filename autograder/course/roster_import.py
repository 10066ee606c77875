"""Reads a roster from what a learning platform exports as its grade book, and joins it to the one that there is."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, replace
from pathlib import Path

from .roster import Person, rows_of
from .student_ids import InvalidStudentId, student_id
from .toml_values import SettingsError

#: Columns of Canvas' export, as instructure/canvas-lms, lib/gradebook_exporter.rb writes them.
CANVAS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
CANVAS_IDS = {"login": "SIS Login ID", "sis": "SIS User ID", "id": "ID"}
POINTS, TEST_STUDENT = "Points Possible", "Student, Test"  # rows of Canvas' export that are no people
#: Columns of Moodle's export, in the words of its versions: moodle/moodle, grade/export/lib.php, user profile fields.
MOODLE_NAMES = {"first_name": ("First name",), "last_name": ("Last name", "Surname"), "section": ("Group", "Groups")}
MOODLE_IDS = {"username": "Username", "idnumber": "ID number", "email": "Email address"}


@dataclass(frozen=True)
class Imported:
    """People, by whose column their ids are, and a line on each row that was left out."""

    people: tuple[Person, ...]
    identified_by: str
    left_out: tuple[str, ...]


def read_export(path: Path, identify_by: str | None = None) -> Imported:
    """The people in a grade book that Canvas or Moodle exported as a table.

    identify_by: a key of CANVAS_IDS or MOODLE_IDS, whose column has the ids; by default the first that is filled
    Raises SettingsError for another table, OSError where it cannot be read.
    """
    try:
        rows = rows_of(path.read_text(encoding="utf-8-sig"), path)
    except UnicodeDecodeError as error:
        raise SettingsError(f"{path} cannot be read: expected a table in UTF-8, got {error}") from None
    columns = set(rows[0]) if rows else set()
    if "Student" in columns and columns & set(CANVAS_IDS.values()):
        people, ids = _canvas(rows), CANVAS_IDS
    elif columns & set(MOODLE_NAMES["last_name"]) and columns & set(MOODLE_IDS.values()):
        people, ids = rows, MOODLE_IDS
    else:
        raise SettingsError(
            f"{path} is no grade book of Canvas (columns {', '.join(CANVAS)}) or Moodle (First name, Last name, "
            f"{', '.join(MOODLE_IDS.values())}): export it as CSV, or write students.csv by hand"
        )
    if identify_by is None:
        identify_by = next((name for name, column in ids.items() if all(row.get(column) for row in people)), None)
    column = ids.get(identify_by or "", "")
    if column not in columns:
        raise SettingsError(f"{path}: no column has an id of everybody; say which, with --identify-by {', '.join(ids)}")
    return _people(people, column, _canvas_person if ids is CANVAS_IDS else _moodle_person)


def joined(known: Iterable[Person], people: Iterable[Person]) -> list[Person]:
    """A roster with other people in it: what is said anew replaces what was; what is not said, and extensions, stay."""
    by_id = {person.id: person for person in known}
    for person in people:
        texts = (field.name for field in fields(Person) if field.name not in ("id", "extensions"))
        said = {name: getattr(person, name) for name in texts if getattr(person, name)}
        by_id[person.id] = replace(by_id.get(person.id, Person(person.id)), **said)
    return list(by_id.values())


def _canvas(rows: list[dict[str, str]]) -> list[dict[str, str]]:
    """The rows that are people: after the names of the columns Canvas has up to two others, and a test student."""
    return [
        row
        for row in rows
        if row["Student"].strip() not in ("", POINTS, TEST_STUDENT) and any(row.get(name) for name in CANVAS[1:])
    ]


def _people(rows: list[dict[str, str]], column: str, person: Callable[[dict[str, str]], Person]) -> Imported:
    people: dict[str, Person] = {}
    left_out = []
    for row in rows:
        try:
            row_person = replace(person(row), id=student_id(row[column]))
        except InvalidStudentId as error:
            left_out.append(f"left out, {column}: {error}")
            continue
        if row_person.id in people:
            left_out.append(f"left out: {row_person.id} is there twice")
        else:
            people[row_person.id] = row_person
    return Imported(tuple(people.values()), column, tuple(left_out))


def _canvas_person(row: dict[str, str]) -> Person:
    last, _, first = row["Student"].partition(",")
    login = row.get("SIS Login ID", "")
    return Person(
        "",
        last_name=_line(last),
        first_name=_line(first),
        email=_line(login if "@" in login else ""),
        section=_line(row.get("Section", "")),
        lms_id=_line(row.get("ID", "")),
    )


def _moodle_person(row: dict[str, str]) -> Person:
    texts = {
        name: next((row[column] for column in columns if row.get(column)), "") for name, columns in MOODLE_NAMES.items()
    }
    last, first, section = (_line(texts[name]) for name in ("last_name", "first_name", "section"))
    return Person("", last, first, _line(row.get("Email address", "")), section)


def _line(text: str) -> str:
    """A text of a table as a roster has it: in one line, letters and accents together."""
    return unicodedata.normalize("NFC", " ".join(text.split()))
