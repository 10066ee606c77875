"""Brings names, addresses and numbers of a roster into nbgrader's gradebook, and out of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

from nbgrader.api import Gradebook, Student
from sqlalchemy import select
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from ..course.roster import Person, Roster
from ..course.student_ids import InvalidStudentId, student_id

#: nbgrader's name for each thing that a roster says of a person.
COLUMNS = {"last_name": "last_name", "first_name": "first_name", "email": "email", "lms_user_id": "lms_id"}


def enter_people(db: Session, roster: Roster | None) -> bool:
    """Add whoever is on the roster to nbgrader's students, and what the roster says of them; whether that was new.

    Nothing is taken out, and nothing committed.
    """
    if roster is None:
        return False
    table = Student.__table__
    known = {row.id: row for row in db.execute(select(*(table.c[name] for name in ("id", *COLUMNS))))}
    new = [{"id": person.id} | _said(person, {}) for person in roster.people.values() if person.id not in known]
    for row in new:
        db.execute(table.insert(), row)
    changed = False
    for person in roster.people.values():
        current = known.get(person.id)
        said = _said(person, current._mapping) if current else {}
        if said:
            db.execute(table.update().where(table.c.id == person.id).values(said))
            changed = True
    return changed or bool(new)


def _said(person: Person, known: Mapping[Any, Any]) -> dict[str, str]:
    """What a roster says that nbgrader has otherwise."""
    values = {column: getattr(person, name) for column, name in COLUMNS.items()}
    return {column: text for column, text in values.items() if text and known.get(column) != text}


def people_of(book: Gradebook) -> tuple[list[Person], list[str]]:
    """nbgrader's students as people of a roster, and a line on each whose id cannot be one."""
    return sound_people(
        Person(
            student.id,
            student.last_name or "",
            student.first_name or "",
            student.email or "",
            "",
            student.lms_user_id or "",
        )
        for student in book.students
    )


def people_in_file(path: Path) -> tuple[list[Person], list[str]]:
    """The same of an nbgrader database in a file, as an earlier course has one; it is only read.

    Raises ValueError where it is none.
    """
    try:
        address = f"sqlite:///file:{quote(str(path.resolve()))}?mode=ro&uri=true"
        with Gradebook(address, course_id="") as book:  # it may be of a course of any name
            return people_of(book)
    except SQLAlchemyError as error:
        raise ValueError(f"{path} is no database of nbgrader that can be read: {error.args[0]}") from error


def sound_people(people: Iterable[Person]) -> tuple[list[Person], list[str]]:
    """Those whose id can be one, with the id as it is kept, and a line on each of the others."""
    sound, left_out = [], []
    for person in people:
        try:
            sound.append(replace(person, id=student_id(person.id)))
        except InvalidStudentId as error:
            left_out.append(f"left out: {error}")
    return sound, left_out
