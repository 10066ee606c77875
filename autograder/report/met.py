"""A misconception that was met in a class, in the words of the catalogue."""

from __future__ import annotations

from dataclasses import dataclass

from selfcheck.catalogue import Exercise
from selfcheck.sections import address_of, title_of


@dataclass(frozen=True)
class Met:
    """A misconception that was met in the class, with the learners who had it."""

    students: tuple[str, ...]
    exercise: Exercise
    id: str
    message: str
    reread: str  # the section's title, and where it is
    address: str

    @property
    def count(self) -> int:
        return len(self.students)


def met_of(exercise: Exercise, name: str, students: tuple[str, ...]) -> Met:
    """A misconception of an exercise, by its id, with the learners who had it."""
    try:
        entry = exercise.message_of(name)
    except KeyError:  # graded before the catalogue changed
        message, section = "no longer in the catalogue: run grade again", exercise.section
    else:
        message, section = f"{entry.message} {entry.remedy}".strip(), entry.section
    return Met(students, exercise, name, message, title_of(section), address_of(section))
