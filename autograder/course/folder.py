"""A course folder: where nbgrader and the grader keep what belongs to one class."""

from __future__ import annotations

import functools
import hashlib
import os
import secrets
import unicodedata
from dataclasses import dataclass
from pathlib import Path

from selfcheck.atomic_files import write_atomically

from . import nbgrader_files
from .extensions import FILE as EXTENSIONS_FILE
from .extensions import Extensions, read_granted
from .policy import GradingPolicy
from .roster import ROSTER_FILE, Roster, read_roster
from .settings import SETTINGS_FILE, TEMPLATE, Settings, SettingsError, read_checks, read_settings
from .student_ids import InvalidStudentId as InvalidStudentId
from .student_ids import check_student_id as check_student_id

MIN_SECRET = 16  # bytes
GRADEBOOK = "gradebook.db"
MOST_PATH = 504  # bytes of its path: SQLite takes 512, with the ending of its journal's
#: Letters of other scripts, each with the Latin letter that it looks like.
LATIN_LOOKALIKES = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u04bb\u0501\u051b\u051d\u043a\u043c\u0442\u043d\u0432"
    "\u03b1\u03b5\u03bf\u03c1\u03c4\u03b9\u03ba\u03bd\u03c5\u03c7\u0131",
    "aeopcyxijshdqwkmthbaeoptikvuxi",
)
#: Files and folders of a course that no submission may see.
PRIVATE = (
    *(nbgrader_files.SETTINGS, SETTINGS_FILE, GRADEBOOK, "log.jsonl", "marks.jsonl", ROSTER_FILE, EXTENSIONS_FILE),
    *("submitted", "received", "intake", "arrivals", "results", "answers", "autograded", "feedback", "source", "reports"),
)


@dataclass(frozen=True)
class Course:
    """A course folder, whose subfolders have the names that nbgrader gives them."""

    root: Path

    @classmethod
    def open(cls, folder: str | Path) -> Course:
        """The course in a folder. Where there is none, its secret, its settings and nbgrader's are written.

        Raises SettingsError for an invalid course.toml, and for a place where nbgrader finds no gradebook.
        """
        course = cls(Path(folder).resolve())
        if "?" in str(course.root):  # what follows is options, in the address of a database
            raise SettingsError(f"nbgrader opens no gradebook below a folder with ? in its name: rename {course.root}")
        length = len(os.fsencode(course.root / GRADEBOOK))
        if length > MOST_PATH and not nbgrader_files.name_a_database(course.root):
            raise SettingsError(
                f"nbgrader opens no gradebook whose path has more than {MOST_PATH} bytes, and this one's would have "
                f"{length}: put the course in a folder with a shorter path, or name another gradebook in "
                f"{nbgrader_files.SETTINGS} there (c.CourseDirectory.db_url)"
            )
        course.root.mkdir(0o700, parents=True, exist_ok=True)  # grades and submissions are private
        if not course.secret_file.exists():
            if not (course.root / SETTINGS_FILE).exists():
                write_atomically(course.root / SETTINGS_FILE, TEMPLATE)
            _write_secret(course.secret_file)
        nbgrader_files.write_missing(course.root)
        return course

    @property
    def settings(self) -> Settings:
        """What course.toml says; SettingsError where it is invalid."""
        return read_settings(self.root)

    @property
    def roster(self) -> Roster | None:
        """Who takes the course, by course.toml or students.csv; None where nobody has said.

        Raises SettingsError where one of them is invalid, or both are there.
        """
        named = self.settings.students
        if named is not None and (self.root / ROSTER_FILE).exists():
            raise SettingsError(
                f"{self.root} has two rosters, [students] in {SETTINGS_FILE} and {ROSTER_FILE}: keep one of them"
            )
        return named or read_roster(self.root)

    @property
    def extensions(self) -> Extensions:
        """Every extension that the roster and `extend` give; SettingsError where one of them is invalid."""
        return Extensions(read_granted(self.root), self.roster)

    @property
    def secret_file(self) -> Path:
        return self.settings.secret_file

    @property
    def secret(self) -> bytes:
        try:
            secret = self.secret_file.read_text(encoding="utf-8").strip().encode()
        except UnicodeDecodeError:
            raise ValueError(
                f"the course's secret, in {self.secret_file}, is no text in UTF-8: put back a copy of it, for a new one "
                "changes every hidden input"
            ) from None
        if len(secret) < MIN_SECRET:
            raise ValueError(
                f"the course's secret, in {self.secret_file}, has {len(secret)} bytes, and at least {MIN_SECRET} are "
                "needed: put back a copy of it, for a new one changes every hidden input"
            )
        return secret

    @property
    def policy(self) -> GradingPolicy:
        """The grading policy that the course's files hold now; SettingsError where one is invalid."""
        settings = self.settings
        return GradingPolicy(self.secret, settings.weights, read_checks(settings))

    @property
    def fingerprint(self) -> str:
        """Eight hexadecimal digits that identify the secret without revealing it."""
        return hashlib.sha256(b"fingerprint " + self.secret).hexdigest()[:8]

    @property
    def private_places(self) -> tuple[Path, ...]:
        """What no submission may see, by the course's own settings; SettingsError where these are invalid.

        nbgrader's settings can put the gradebook elsewhere, and name an exchange: see gradebook/nbgrader.py.
        """
        settings = self.settings
        checks = (settings.hidden_checks,) if settings.hidden_checks else ()
        return (settings.secret_file, *checks, *(self.root / name for name in PRIVATE))

    def source(self, problem_set: str) -> Path:
        return self.root / "source" / problem_set

    def release(self, problem_set: str) -> Path:
        return self.root / "release" / problem_set

    def submitted(self, student: str, problem_set: str) -> Path:
        return self.root / "submitted" / student / problem_set

    def received(self, student: str, problem_set: str) -> Path:
        """The folder of unmodified submissions."""
        return self.root / "received" / student / problem_set

    def intake_file(self, student: str, problem_set: str) -> Path:
        """The digest of a cleaned submission and the remarks on it, outside the folders that students can write to."""
        return self.root / "intake" / problem_set / f"{student}.json"

    def arrivals_file(self, student: str, problem_set: str) -> Path:
        """When each hand-in of a student came, and by whose word."""
        return self.root / "arrivals" / problem_set / f"{student}.json"

    def result_file(self, student: str, problem_set: str) -> Path:
        return self.root / "results" / problem_set / f"{student}.json"

    def answers_file(self, problem_set: str) -> Path:
        """The precomputed answer key of a problem set."""
        return self.root / "answers" / f"{problem_set}.json"

    def feedback(self, student: str, problem_set: str) -> Path:
        return self.root / "feedback" / student / problem_set

    def students(self, problem_set: str) -> list[str]:
        """The ids of all students who submitted a problem set, sorted."""
        return sorted(path.parent.name for path in (self.root / "submitted").glob(f"*/{problem_set}") if path.is_dir())


def _write_secret(path: Path) -> None:
    """Write a new secret; FileExistsError where somebody else was first, OSError, and none, where it cannot be."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write(secrets.token_hex(32) + "\n")
    except OSError:
        path.unlink()
        raise


def lookalike_ids(course: Course, student: str) -> list[str]:
    """The ids of other students with submissions that differ from this one only in case or in similar letters."""
    folder = course.root / "submitted"
    known = os.listdir(folder) if folder.is_dir() else []
    return sorted(other for other in known if other != student and _skeleton(other) == _skeleton(student))


@functools.lru_cache(maxsize=10_000)
def _skeleton(student: str) -> str:
    """The same text for all ids that a reader could mistake for each other (compare Unicode TR 39)."""
    return unicodedata.normalize("NFKC", student).casefold().translate(LATIN_LOOKALIKES)
