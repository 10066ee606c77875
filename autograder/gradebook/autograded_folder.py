"""Writes the autograded folder of a submission, which takes its place in one step."""

from __future__ import annotations

import fnmatch
import os
import shutil
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from ..course.folder import Course

WRITABLE = 0o222
LEFT_OVER = 60  # seconds, after which an unfinished folder is nobody's


def remove_left_over(course: Course) -> None:
    """Remove the unfinished folders of graders that were killed."""
    for path in (course.root / "autograded").glob("*/.entering-*"):
        with suppress(OSError):
            if time.time() - path.stat().st_mtime > LEFT_OVER:
                shutil.rmtree(path)


def autograded(course: Course, student: str, problem_set: str) -> Path:
    """Where nbgrader looks for an autograded submission."""
    return course.root / "autograded" / student / problem_set


class FolderWriter:
    """Writes the autograded folders of one problem set, with the files of the release in each.

    beside: the content of these files, by their path; mode: the permissions of every file
    """

    def __init__(self, course: Course, problem_set: str, beside: Mapping[str, bytes], mode: int) -> None:
        self.course, self.problem_set, self.beside, self.mode = course, problem_set, beside, mode
        # By a file's path its content and the folder that got it last: read-only, what a class hands in alike is one
        # file under many names, which saves megabytes and the making of twenty files a submission.
        self._last: dict[str, tuple[bytes, Path]] = {}
        self._written: Mapping[str, bytes] = {}  # to the draft that was written last

    @contextmanager
    def draft(self, student: str) -> Iterator[Path]:
        """A folder beside the autograded one, gone afterwards if it did not take that one's place."""
        target = autograded(self.course, student, self.problem_set)
        draft = target.with_name(f".entering-{self.problem_set}-{uuid.uuid4().hex}")
        try:
            draft.mkdir(parents=True)
            yield draft
        finally:
            for path in (draft, _former(draft)):
                shutil.rmtree(path, ignore_errors=True)
            with suppress(OSError):
                target.parent.rmdir()  # where nothing of this student's is entered

    def write(self, draft: Path, submitted: Mapping[str, bytes]) -> None:
        """Write a submission's own files, by their path, and those of the release, which win."""
        files = {**submitted, **self.beside}
        for name in dict.fromkeys(map(os.path.dirname, files)):
            os.makedirs(draft / name, exist_ok=True)
        for name, data in files.items():
            if self.mode & WRITABLE or not self._link(name, data, draft):
                (draft / name).write_bytes(data)
                (draft / name).chmod(self.mode)
        self._written = files

    def _link(self, name: str, data: bytes, draft: Path) -> bool:
        """Give the last one's file a second name; False where there is no such file, or it cannot have one more."""
        content, place = self._last.get(name, (None, draft))
        if content == data:
            with suppress(OSError):
                os.link(f"{place}/{name}", f"{draft}/{name}")
                return True
        return False

    def take_place(self, draft: Path, student: str) -> None:
        """Put a draft where the autograded folder is, which is gone then."""
        target = autograded(self.course, student, self.problem_set)
        with suppress(FileNotFoundError):
            target.rename(_former(draft))
        draft.rename(target)
        self._last |= {name: (data, target) for name, data in self._written.items()}


def files_below(folder: Path, ignored: list[str]) -> dict[str, Path]:
    """The files of a folder that nbgrader copies beside a notebook, by their path in it."""
    files = {}
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not is_ignored(name, ignored)]
        for name in names:
            path = Path(place, name)
            if not is_ignored(name, ignored):
                files[path.relative_to(folder).as_posix()] = path
    return files


def is_ignored(path: str, ignored: list[str]) -> bool:
    """Whether nbgrader leaves a file out that a submission has beside its notebook; ignored: patterns of names"""

    def matches(name: str, pattern: str) -> bool:
        # A star begins no hidden name.
        return fnmatch.fnmatchcase(name, pattern) and (name[0] != "." or pattern[0] == ".")

    return any(matches(name, pattern) for name in path.split("/") for pattern in [*ignored, "*.ipynb"])


def _former(draft: Path) -> Path:
    return draft.with_name(f"{draft.name}-former")
