"""What may be a student's id."""

from __future__ import annotations

import re
import unicodedata

from .printable import printable_line

# Letters and digits of any script. nbgrader's exchange separates fields by "+"; Windows drops a dot at the end.
STUDENT_ID = re.compile(r"\w(?:[\w.@-]*[\w@-])?")
MAX_ID_BYTES = 128  # leaves room for what file names add to an id
WINDOWS_NAMES = re.compile(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\..*)?")


class InvalidStudentId(ValueError):
    """A student id that could be taken for a path, an option or another id."""


def check_student_id(student: str) -> str:
    """The id as given; InvalidStudentId for one that could be taken for a path, an option or another id."""
    sound = unicodedata.normalize("NFKC", student) == student and STUDENT_ID.fullmatch(student)
    if not sound or len(student.encode()) > MAX_ID_BYTES or WINDOWS_NAMES.fullmatch(student):
        raise InvalidStudentId(
            "a student id is letters, digits, '.', '_', '-' and '@', beginning and ending with a letter or digit, at "
            f"most {MAX_ID_BYTES} bytes, and no name that Windows keeps for itself; got "
            f"'{printable_line(student, MAX_ID_BYTES)}'"
        )
    return student


def student_id(text: str) -> str:
    """An id as it is kept, in Unicode's composed form (NFC), which macOS's file names are not in.

    Raises InvalidStudentId as check_student_id does.
    """
    return check_student_id(unicodedata.normalize("NFC", text.strip()))
