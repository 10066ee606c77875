"""A course folder: where nbgrader and the grader keep what belongs to one class."""

from __future__ import annotations

import functools
import hashlib
import os
import re
import secrets
import unicodedata
from dataclasses import dataclass
from pathlib import Path

from .settings import FILE, TEMPLATE, Settings, read_checks, read_settings
from .policy import GradingPolicy

# Letters and digits of any script; "+" separates fields in nbgrader's exchange, and Windows drops a dot at the end.
STUDENT_ID = re.compile(r"\w(?:[\w.@-]*[\w@-])?")
LEAST_SECRET = 16  # bytes: nobody guesses it
MOST_ID_BYTES = 128  # so that every file named after somebody can be made
WINDOWS_NAMES = re.compile(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\..*)?")
#: Letters of other scripts that look like Latin ones.
LOOKALIKES = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u04bb\u0501\u051b\u051d\u043a\u043c\u0442\u043d\u0432"
    "\u03b1\u03b5\u03bf\u03c1\u03c4\u03b9\u03ba\u03bd\u03c5\u03c7\u0131",
    "aeopcyxijshdqwkmthbaeoptikvuxi",
)
CONFIG = '''"""The course's nbgrader settings: grading goes through the course's own grader."""

from pathlib import Path

from autograder.nbgrader_plugin import configure

c = get_config()  # noqa: F821
configure(c, Path(__file__).resolve().parent)
'''


class OddId(ValueError):
    """A student id that could be taken for a path, an option or another id."""


@dataclass(frozen=True)
class Course:
    """A course folder. nbgrader's own subfolders keep nbgrader's names."""

    root: Path

    @classmethod
    def open(cls, folder: str | Path) -> Course:
        """The course in a folder, made if there is none yet: its secret, its course.toml and its nbgrader_config.py.

        Raises SettingsError for a course.toml that is not in order.
        """
        course = cls(Path(folder).resolve())
        course.root.mkdir(0o700, parents=True, exist_ok=True)  # marks, and what others wrote, are for nobody else
        if not course.secret_file.exists():
            if not (course.root / FILE).exists():
                (course.root / FILE).write_text(TEMPLATE, encoding="utf-8")
            descriptor = os.open(course.secret_file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "w") as file:
                file.write(secrets.token_hex(32) + "\n")
        config = course.root / "nbgrader_config.py"
        if not config.exists():
            config.write_text(CONFIG, encoding="utf-8")
        return course

    @property
    def settings(self) -> Settings:
        """What course.toml says; SettingsError where it is not in order."""
        return read_settings(self.root)

    @property
    def secret_file(self) -> Path:
        return self.settings.secret_file

    @property
    def secret(self) -> bytes:
        secret = self.secret_file.read_text(encoding="utf-8").strip().encode()
        if len(secret) < LEAST_SECRET:
            raise ValueError(
                f"the course's secret, in {self.secret_file}, has {len(secret)} bytes, and at least {LEAST_SECRET} are "
                "needed: put back a copy of it, for a new one changes every hidden input"
            )
        return secret

    @property
    def policy(self) -> GradingPolicy:
        """What verdicts in this course depend on, as its files have it now; SettingsError where one is not in order."""
        settings = self.settings
        return GradingPolicy(self.secret, settings.weights, read_checks(settings))

    @property
    def fingerprint(self) -> str:
        """Eight digits that tell one secret from another without giving it away."""
        return hashlib.sha256(b"fingerprint " + self.secret).hexdigest()[:8]

    def source(self, problem_set: str) -> Path:
        return self.root / "source" / problem_set

    def release(self, problem_set: str) -> Path:
        return self.root / "release" / problem_set

    def submitted(self, student: str, problem_set: str) -> Path:
        return self.root / "submitted" / student / problem_set

    def received(self, student: str, problem_set: str) -> Path:
        """What came in, as it came in."""
        return self.root / "received" / student / problem_set

    def intake_file(self, student: str, problem_set: str) -> Path:
        """Outside what a student can write: the digest of the cleaned submission, and the remarks on it."""
        return self.root / "intake" / problem_set / f"{student}.json"

    def result_file(self, student: str, problem_set: str) -> Path:
        return self.root / "results" / problem_set / f"{student}.json"

    def answers_file(self, problem_set: str) -> Path:
        """What is to be answered to the hidden draws."""
        return self.root / "answers" / f"{problem_set}.json"

    def feedback(self, student: str, problem_set: str) -> Path:
        return self.root / "feedback" / student / problem_set

    def students(self, problem_set: str) -> list[str]:
        """Everybody who submitted a problem set."""
        return sorted(path.parent.name for path in (self.root / "submitted").glob(f"*/{problem_set}") if path.is_dir())


def check_student_id(student: str) -> str:
    """The id as given; OddId for one that could be taken for a path, an option or another id."""
    sound = unicodedata.normalize("NFKC", student) == student and STUDENT_ID.fullmatch(student)
    if not sound or len(student.encode()) > MOST_ID_BYTES or WINDOWS_NAMES.fullmatch(student):
        raise OddId(
            "a student id is letters, digits, '.', '_', '-' and '@', beginning and ending with a letter or digit, at "
            f"most {MOST_ID_BYTES} bytes, and no name that Windows keeps for itself; got {student[:MOST_ID_BYTES]!a}"
        )
    return student


def twins_of(course: Course, student: str) -> list[str]:
    """Others who have handed in, and whose ids differ from this one in case or in letters that look alike."""
    folder = course.root / "submitted"
    known = os.listdir(folder) if folder.is_dir() else []
    return sorted(one for one in known if one != student and _looks(one) == _looks(student))


@functools.lru_cache(maxsize=10_000)
def _looks(student: str) -> str:
    """What ids that a reader could mistake for each other have in common."""
    return unicodedata.normalize("NFKC", student).casefold().translate(LOOKALIKES)
