"""Keeps nbgrader's gradebook in step with the results of a problem set, whatever goes wrong with the database."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from ..course.folder import Course
from ..intake.submission import Submission
from ..judge.result import Result
from .autograded_folder import remove_left_over
from .entry import GradebookEntry
from .errors import SHORT_LOCK_TIMEOUT, NotEntered, check_gradebook, explained, is_away, is_busy, is_overtaken
from .quick_import import imported

if TYPE_CHECKING:
    from nbformat.notebooknode import NotebookNode
    from traitlets.config import Config

    from .writer import GradebookWriter

__all__ = ["GradebookSync", "NotEntered"]

LOCK_TIMEOUT = 5.0  # seconds to wait for another program that writes to the gradebook


class GradebookSync:
    """Enters the results of a problem set with one session of the gradebook; to be used in a with statement.

    config: nbgrader's settings, by default those of the course's nbgrader_config.py
    Raises GradebookDamaged at the beginning, before anything is judged, and wherever it comes to light later.
    """

    def __init__(self, course: Course, problem_set: str, config: Config | None = None) -> None:
        self.course, self.problem_set, self._config = course, problem_set, config
        self._writer: GradebookWriter | None = None  # opened when it is first needed
        self._timeout = LOCK_TIMEOUT
        # nbgrader takes a second to import, in which submissions are judged already.
        self._importing = threading.Thread(target=_import_early, daemon=True)

    def __enter__(self) -> GradebookSync:
        check_gradebook(self.course)
        remove_left_over(self.course)
        self._importing.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._writer:
            self._writer.close()
        self._importing.join()

    def holds(self, submission: Submission, result: Result) -> bool:
        """Whether gradebook and autograded folder hold this result on what was handed in last."""
        with self._explained():
            return self._opened().holds(submission, result)

    def enter(self, submission: Submission, result: Result) -> GradebookEntry:
        """Enter a result; NotEntered where that fails, and everything is as it was."""
        self._write(lambda writer: writer.enter(submission, result, self._timeout))
        return self.entry(result)

    def enter_notebook(self, student: str, name: str, nb: NotebookNode) -> None:
        """Enter what a notebook's cells hold, as nbgrader's own command has it; NotEntered where that fails."""
        self._write(lambda writer: writer.enter_notebook(student, name, nb, self._timeout))

    def entry(self, result: Result) -> GradebookEntry:
        """What the gradebook holds of a result that is entered.

        Marks given by hand are as the gradebook had them when it was opened; so is the late penalty, or as entered
        since.
        """
        with self._explained():
            writer = self._opened()
        return GradebookEntry(
            result.student,
            self.problem_set,
            result.points,
            result.max_points,
            writer.manual_marks(result.student),
            writer.late.get(result.student, {}),
            writer.scores.get(result.student),
            writer.overrides(result),
        )

    def enter_people(self) -> None:
        """Bring the names of the roster into nbgrader's list of students; NotEntered where that fails."""
        self._write(lambda writer: writer.enter_people(self._timeout))

    def grant(self, student: str) -> bool:
        """Enter the extension that somebody has now; False where the gradebook holds no submission of theirs.

        The late penalty follows with the next run of grade. NotEntered where it cannot be written.
        """
        granted: list[bool] = []
        self._write(lambda writer: granted.append(writer.grant(student, self._timeout)))
        return granted[-1]

    def outdated(self) -> tuple[bool, list[str]]:
        """Whether course.toml has another deadline than the gradebook, and who has handed in and has a late penalty or
        an extension in the gradebook that is not the present one.
        """
        with self._explained():
            return self._opened().outdated()

    def _write(self, write: Callable[[GradebookWriter], None]) -> None:
        with self._explained():
            writer = self._opened()
            try:
                write(writer)
            except Exception as error:
                # Two graders met the same student; or the connection was lost while others were judged.
                if not is_overtaken(error) and (self._timeout < LOCK_TIMEOUT or not is_away(error)):
                    raise
                self._undo()
                write(writer)
            self._timeout = LOCK_TIMEOUT

    def _opened(self) -> GradebookWriter:
        if self._writer is None:
            writer = imported("writer")
            self._writer = writer.GradebookWriter(self.course, self.problem_set, self._config, self._timeout)
        return self._writer

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Whatever goes wrong becomes NotEntered or GradebookDamaged, with a text that helps."""
        self._importing.join()
        try:
            yield
        except Exception as error:
            self._undo()
            if is_busy(error) or is_away(error):
                self._timeout = SHORT_LOCK_TIMEOUT
            raise explained(self.course, error, self._place()) from error

    def _undo(self) -> None:
        if self._writer:
            with suppress(Exception):  # the connection may be lost
                self._writer.undo()

    def _place(self) -> str:
        """The gradebook's file, or its address; "" where the course's settings do not say."""
        with suppress(Exception):
            from .nbgrader import configuration, place_of

            return place_of(configuration(self.course) if self._config is None else self._config)
        return ""


def _import_early() -> None:
    with suppress(Exception):  # whoever needs it imports it again, and sees why it fails
        imported("writer")
