"""Enters verdicts into nbgrader's gradebook, and writes the autograded notebooks, as `nbgrader autograde` does.

A submission is entered whole or not at all: its folder is written beside its place, its rows are committed together,
and then the folder takes its place. Whoever is interrupted before that is not entered, and the next run does it again.
"""

from __future__ import annotations

import fnmatch
import importlib
import os
import shutil
import sys
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..course.folder import Course
from ..course.locks import turn
from ..course.releases import release_file
from ..intake import archive
from ..intake.store import is_current
from ..intake.submission import Submission
from ..judge.cache import latest
from ..judge.result import Result
from . import late_penalty, manual_marks
from .entry import GradebookEntry
from .errors import IMPATIENCE, NotEntered, check_gradebook, is_away, is_busy, is_overtaken, told

if TYPE_CHECKING:
    from nbgrader.api import Gradebook
    from sqlalchemy.orm import Session

PATIENCE = 5.0  # seconds to wait for another program that writes to the gradebook
WRITABLE = 0o222
LEFT_OVER = 60  # seconds, after which an unfinished folder is nobody's


class GradebookSync:
    """Enters the verdicts on a problem set, with one session of the gradebook; to be used in a with statement.

    Raises GradebookDamaged at the beginning, before anything is judged, and wherever it comes to light later.
    """

    def __init__(self, course: Course, problem_set: str) -> None:
        self.course, self.problem_set = course, problem_set
        self._book: Gradebook | None = None
        self._patience = PATIENCE
        self._place = ""
        self._copied: dict[str, bytes] | None = None  # files of the release that lie beside every autograded notebook
        # Where these lie last: read-only, they are one file under many names, megabytes less to write for everybody.
        self._placed: dict[str, Path] = {}
        # nbgrader takes a second to import, in which submissions are judged already.
        self._loading = threading.Thread(target=_load, daemon=True)

    def __enter__(self) -> GradebookSync:
        check_gradebook(self.course)
        for path in (self.course.root / "autograded").glob("*/.entering-*"):
            with suppress(OSError):
                if time.time() - path.stat().st_mtime > LEFT_OVER:
                    shutil.rmtree(path)
        self._loading.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._book:
            self._book.close()
        self._loading.join()

    def holds(self, submission: Submission, result: Result) -> bool:
        """Whether gradebook and autograded folder hold this result of what was handed in last.

        A later hand-in may differ in its written answers alone; a gradebook may be an older copy that was put back.
        """
        with self._told():
            return self._folder_holds(submission) and self._gradebook_holds(submission, result)

    def _folder_holds(self, submission: Submission) -> bool:
        student = submission.student
        entered, submitted = self._target(student), self.course.submitted(student, self.problem_set)
        if _text(entered / archive.STAMP) != submission.stamp:
            return False
        notebook = f"{self.problem_set}.ipynb"
        try:
            written = (entered / notebook).stat().st_mtime_ns
            sources = (submitted / notebook, self.course.result_file(student, self.problem_set))
            release = release_file(self.course, self.problem_set)  # it may be another one by now
            released = release.stat().st_mtime_ns if release.exists() else 0
            return all(when <= written for when in (released, *(path.stat().st_mtime_ns for path in sources)))
        except FileNotFoundError:
            return False

    def _gradebook_holds(self, submission: Submission, result: Result) -> bool:
        self._open()
        when, points = self._entered.get(submission.student, (None, {}))
        judged = {exercise.id: float(exercise.points) for exercise in result.exercises}
        same = all(points.get(cell) == judged.get(exercise) for cell, exercise in self._cells)
        return same and when == _time(submission)

    def entry(self, result: Result) -> GradebookEntry:
        """What the gradebook holds of the submission that was judged.

        Marks by hand are those of when it was opened; late penalties too, or as entered since.
        """
        self._look()
        student = result.student
        by_hand, late = self._by_hand.get(student, {}), self._late.get(student, {})
        return GradebookEntry(student, self.problem_set, result.points, result.max_points, by_hand, late)

    def _look(self) -> None:
        if self._book is None:
            with self._told():
                self._open()

    def enter(self, submission: Submission, result: Result) -> GradebookEntry:
        """Enter a result; NotEntered where that fails, and everything is as it was."""
        with self._told():
            self._open()
            enter = self._enter if self._steps.complete else self._enter_by_nbgrader
            try:
                enter(submission, result)
            except Exception as error:
                # Two graders met the same student; or the connection was lost while others were judged.
                if not is_overtaken(error) and (self._patience < PATIENCE or not is_away(error)):
                    raise
                self._undo()
                enter(submission, result)
            self._patience = PATIENCE
        return self.entry(result)

    def _enter(self, submission: Submission, result: Result) -> None:
        student, current = submission.student, latest(self.course, result)
        self._rows.wait_at_most(self._db, self._patience)
        rows = self._rows.read(self._db, self._released, student)
        rows.timestamp = _time(submission) or rows.timestamp
        with self._draft(student) as draft:
            found = self._write_folder(submission, current.as_json(), rows, draft)
            self._rows.write(self._db, self._released, rows)
            late = self._write_penalties(rows, found)
            with turn(self.course):
                if not is_current(self.course, submission):
                    raise NotEntered("something else was handed in meanwhile: run grade again")
                self._db.commit()
                self._late[student] = late
                self._take_place(student, draft)
            self._placed = {name: self._target(student) / name for name in self._beside()}

    def _write_folder(self, submission: Submission, record: dict[str, Any], rows: Any, draft: Path) -> list[str]:
        """Write the autograded folder; returns the names of the notebooks that were handed in."""
        student, modules = submission.student, submission.files
        submitted = self.course.submitted(student, self.problem_set)
        files = {name: path.read_bytes() for name, path in _files(submitted, self._coursedir.ignore)}
        files |= self._beside()
        found = []
        for notebook in self._released.notebooks:
            if notebook.name not in rows.sheets:
                raise NotEntered(f"the gradebook has no {notebook.name} of this student's: release it again")
            sheet, path = rows.sheets[notebook.name], submitted / f"{notebook.name}.ipynb"
            if path.exists():
                text, marked = submission.notebook, manual_marks.settled(sheet)
                after = self._steps.autograded(text, notebook, sheet, record, modules)
                manual_marks.let_stand(sheet, marked, self._target(student) / path.name, after)
                files[path.name] = after.encode()
                found.append(notebook.name)
                continue
            for grade in sheet.grades.values():
                grade.auto_score, grade.needs_manual_grade = 0, False
        if not found:
            raise NotEntered("no notebook of the problem set is there: release it again")
        mode = int(str(self._steps.converter.permissions), 8)
        for name in {str(Path(name).parent) for name in files}:
            (draft / name).mkdir(parents=True, exist_ok=True)
        for name, data in files.items():
            if mode & WRITABLE or not _linked(self._placed.get(name), draft / name):
                (draft / name).write_bytes(data)
                (draft / name).chmod(mode)
        return found

    def _beside(self) -> dict[str, bytes]:
        if self._copied is None:
            source = Path(self._coursedir.format_path(self._coursedir.source_directory, ".", self.problem_set))
            own = self._steps.converter.exclude_overwriting.get(self.problem_set, [])
            files = dict(_files(source, self._coursedir.ignore))
            self._copied = {name: path.read_bytes() for name, path in files.items() if name not in own}
        return self._copied

    def _write_penalties(self, rows: Any, found: list[str]) -> late_penalty.Facts:
        """Write what is taken off each notebook for being late; returns what explains it."""
        times = rows.timestamp, self._released.due, rows.extension
        if not self._steps.penalises:
            return late_penalty.facts(*times, self._late.get(rows.student, {}).get("penalty"))
        seconds, total, score = late_penalty.seconds_late(*times), 0.0, 0.0
        for name in found:
            sheet, penalty = rows.sheets[name], None
            if seconds > 0:
                points = self._rows.score(self._db, sheet)
                penalty = self._steps.penalty(rows.student, points, seconds)
                total, score = total + (penalty or 0), score + points
            self._rows.write_penalty(self._db, sheet, penalty)
        worked_out = {"policy": self._steps.policy, "score": score} if seconds > 0 else {}
        return late_penalty.facts(*times, total, **worked_out)

    def _enter_by_nbgrader(self, submission: Submission, _: Result) -> None:
        """The long way, for a course whose settings ask for further steps."""
        from .preprocessor import api

        student = submission.student
        done = api(self.course).autograde(self.problem_set, student, force=True, create=True)
        if not done["success"]:
            shutil.rmtree(self._target(student), ignore_errors=True)
            said = (done.get("error") or done.get("log") or "").strip().splitlines()[-1:] or ["no reason given"]
            raise NotEntered(f"nbgrader refused it: {said[0]}")
        self._late |= self._penalties(student)
        self._db.rollback()

    def _penalties(self, student: str | None = None) -> dict[str, late_penalty.Facts]:
        """What explains the penalties in the gradebook: everybody's, or one student's."""
        found = self._rows.penalties(self._db, self._released, student)
        due = self._released.due
        return {name: late_penalty.facts(row.timestamp, due, row.extension, row.penalty) for name, row in found.items()}

    def _target(self, student: str) -> Path:
        return self.course.root / "autograded" / student / self.problem_set

    @contextmanager
    def _draft(self, student: str) -> Iterator[Path]:
        """A folder beside the autograded one, gone afterwards if it did not take that one's place."""
        target = self._target(student)
        draft = target.with_name(f".entering-{self.problem_set}-{uuid.uuid4().hex}")
        try:
            draft.mkdir(parents=True)
            yield draft
        finally:
            for path in (draft, _aside(draft)):
                shutil.rmtree(path, ignore_errors=True)
            with suppress(OSError):
                target.parent.rmdir()  # where nothing of this student's is entered

    def _take_place(self, student: str, draft: Path) -> None:
        target = self._target(student)
        with suppress(FileNotFoundError):
            target.rename(_aside(draft))
        draft.rename(target)
        if self._coursedir.groupshared:
            self._steps.converter.set_permissions(self.problem_set, student)

    def _open(self) -> None:
        if self._book:
            self._prepare()
            return
        with _without_grammar():
            from nbgrader.api import Gradebook
            from nbgrader.coursedir import CourseDirectory
            from sqlalchemy import make_url

            from . import preprocessor, steps
            from . import rows as gradebook_rows

        self._prepare = preprocessor.prepare
        self._prepare()
        config = preprocessor.configuration(self.course)
        self._coursedir, self._rows = CourseDirectory(config=config), gradebook_rows
        self._steps = steps.Steps(config, self._coursedir)
        url = make_url(self._coursedir.db_url)
        lies_in_a_file = url.get_backend_name() == "sqlite"
        self._place = str(url.database) if lies_in_a_file else url.render_as_string(hide_password=True)
        waits = _waits(url.get_backend_name(), self._patience)
        url = url.update_query_dict({name: value for name, value in waits.items() if name not in url.query})
        book = Gradebook.__new__(Gradebook)
        try:
            book.__init__(url, self._coursedir.course_id)  # apart, so that what it opened is closed where it fails
            self._db: Session = book.db
            gradebook_rows.wait_at_most(self._db, self._patience)
            self._released = gradebook_rows.released_set(self._db, self.problem_set)
            self._entered = gradebook_rows.entered(self._db, self._released)
            self._by_hand = gradebook_rows.by_hand(self._db, self._released)
            self._late = self._penalties()
            self._cells = list(self._checking_cells())
            self._db.rollback()
        except BaseException:
            if hasattr(book, "db"):
                book.close()
            raise
        self._book = book

    def _checking_cells(self) -> Iterator[tuple[str, str]]:
        """The id of each cell that is graded by an exercise's checks, and the exercise."""
        from .preprocessor import GRADE_CELL

        for notebook in self._released.notebooks:
            for name, cell in notebook.graded.items():
                source = notebook.sources.get(name)
                found = GRADE_CELL.fullmatch((source.source or "").strip()) if source else None
                if found:
                    yield cell.id, found[1]

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Whatever goes wrong becomes NotEntered or GradebookDamaged, with a text that helps."""
        self._loading.join()
        try:
            yield
        except Exception as error:
            self._undo()
            if is_busy(error) or is_away(error):
                self._patience = IMPATIENCE
            raise told(self.course, error, self._place) from error

    def _undo(self) -> None:
        if self._book:
            with suppress(Exception):  # the connection may be lost
                self._db.rollback()


def _waits(kind: str, seconds: float) -> dict[str, str]:
    """What a database's driver is told about how long to wait: for whoever holds a file, for a server to answer."""
    if kind == "postgresql":
        return {"connect_timeout": f"{max(2.0, seconds):.0f}"}
    return {"timeout": str(seconds)} if kind == "sqlite" else {}


def _files(folder: Path, ignored: list[str]) -> Iterator[tuple[str, Path]]:
    """The files of a folder that nbgrader copies, by their path in it."""
    patterns = [*ignored, "*.ipynb"]

    def kept(name: str) -> bool:
        # A star begins no hidden name.
        return not any(fnmatch.fnmatchcase(name, one) and (name[0] != "." or one[0] == ".") for one in patterns)

    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if kept(name)]
        for name in filter(kept, names):
            path = Path(place, name)
            yield path.relative_to(folder).as_posix(), path


def _linked(path: Path | None, target: Path) -> bool:
    """Give a file a second name; False where there is none, or it cannot have one more."""
    if path is not None:
        with suppress(OSError):
            os.link(path, target)
            return True
    return False


def _aside(draft: Path) -> Path:
    return draft.with_name(f"{draft.name}-former")


def _time(submission: Submission) -> datetime | None:
    """When a submission arrived, as nbgrader has it: in UTC, without a zone."""
    return submission.arrived and submission.arrived.replace(tzinfo=None)


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""


def _load() -> None:
    with suppress(Exception), _without_grammar():  # whoever needs it imports it again, and sees why it fails
        importlib.import_module(f"{__package__}.steps")


@contextmanager
def _without_grammar() -> Iterator[None]:
    """Import without what jsonschema has for addresses in other scripts: compiling its grammar takes a second."""
    name = "rfc3987_syntax"
    missing = name not in sys.modules
    if missing:
        sys.modules[name] = None  # type: ignore[assignment]  # as if it were not installed, which jsonschema foresees
    try:
        yield
    finally:
        if missing:
            del sys.modules[name]
