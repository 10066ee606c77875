"""A course folder: where nbgrader and the grader keep what belongs to one class."""

from __future__ import annotations

import hashlib
import os
import re
import secrets
from dataclasses import dataclass
from pathlib import Path

STUDENT_ID = re.compile(r"\w[\w.@-]*")  # letters and digits of any script; "+" separates fields in nbgrader's exchange
CONFIG = '''"""The course's nbgrader settings: grading goes through the course's own grader."""

from pathlib import Path

from autograder.nbgrader_plugin import configure

c = get_config()  # noqa: F821
configure(c, Path(__file__).resolve().parent)
'''


@dataclass(frozen=True)
class Course:
    """A course folder. nbgrader's own subfolders keep nbgrader's names."""

    root: Path

    @classmethod
    def open(cls, folder: str | Path) -> Course:
        """The course in a folder, made if there is none yet: its secret, and its nbgrader_config.py."""
        course = cls(Path(folder).resolve())
        course.root.mkdir(parents=True, exist_ok=True)
        if not course.secret_file.exists():
            descriptor = os.open(course.secret_file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "w") as file:
                file.write(secrets.token_hex(32) + "\n")
        config = course.root / "nbgrader_config.py"
        if not config.exists():
            config.write_text(CONFIG, encoding="utf-8")
        return course

    @property
    def secret_file(self) -> Path:
        return self.root / "secret"

    @property
    def secret(self) -> bytes:
        return self.secret_file.read_text().strip().encode()

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
        return self.root / "results" / problem_set / f"{student}.intake.json"

    def result_file(self, student: str, problem_set: str) -> Path:
        return self.root / "results" / problem_set / f"{student}.json"

    def feedback(self, student: str, problem_set: str) -> Path:
        return self.root / "feedback" / student / problem_set

    def students(self, problem_set: str) -> list[str]:
        """Everybody who submitted a problem set."""
        return sorted(path.parent.name for path in (self.root / "submitted").glob(f"*/{problem_set}") if path.is_dir())


def check_student_id(student: str) -> str:
    """The id as given; ValueError for one that could be taken for a path, an option or another id."""
    import unicodedata

    if unicodedata.normalize("NFC", student) != student or not STUDENT_ID.fullmatch(student):
        raise ValueError(
            f"a student id is letters, digits, '.', '_', '-' and '@', beginning with a letter or digit; got {student!a}"
        )
    return student
