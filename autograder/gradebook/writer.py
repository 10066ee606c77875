"""Enters results into nbgrader's gradebook: the one place that writes grades, comments and penalties.

A submission is entered completely or not at all: its folder is written beside its place, its rows are committed
together, and then the folder takes its place. Whoever is interrupted before that is not entered, and the next run does
it again.
"""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

from nbformat.notebooknode import NotebookNode
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config

from ..course.folder import Course
from ..course.locks import course_lock
from ..course.releases import release_file
from ..intake.archive import STAMP, TICKET
from ..intake.store import is_current
from ..intake.submission import Submission
from ..judge.result import Result
from . import manual_marks, penalty_facts, rows
from .autograded_folder import FolderWriter, autograded, files_below, is_ignored
from .database import Address, Database
from .errors import NotEntered
from .late_penalty import LatePenalties, has_head, text_with_head, with_head
from .marks_given import Given, marks_given
from .nbgrader import configuration, prepare_process
from .overridden_rows import checking_cells
from .overrides import Override, overrides
from .people import enter_people
from .steps import Graded, Steps


class GradebookWriter:
    """Writes into nbgrader's database what concerns one problem set of a course, in one session.

    config: nbgrader's settings, by default those of the course's nbgrader_config.py
    seconds: how long to wait for another program that writes to the gradebook
    """

    def __init__(self, course: Course, problem_set: str, config: Config | None, seconds: float) -> None:
        prepare_process()
        config = configuration(course) if config is None else config
        self.course, self.problem_set = course, problem_set
        self._coursedir = CourseDirectory(config=config)
        self._steps = Steps(config, self._coursedir)
        self._database = Database(Address.of(self._coursedir), self._coursedir.course_id, problem_set, seconds)
        self._session, self._released = self._database.session, self._database.released
        self._cells = list(checking_cells(self._released))
        due, known = self._released.due, self._database.lateness
        self._penalties = LatePenalties(course, problem_set, self._steps, due, known)
        #: What explains each student's late penalty: as it was when opened, or as entered since; and the points before.
        self.late = {
            student: penalty_facts.facts(row.timestamp, due, row.extension, row.penalty)
            for student, row in known.items()
        }
        self.scores = {student: sum(row.scores) for student, row in known.items()}

    @cached_property
    def _folders(self) -> FolderWriter:
        source = Path(self._coursedir.format_path(self._coursedir.source_directory, ".", self.problem_set))
        own = self._steps.converter.exclude_overwriting.get(self.problem_set, [])
        files = files_below(source, self._coursedir.ignore)
        beside = {name: path.read_bytes() for name, path in files.items() if name not in own}
        return FolderWriter(self.course, self.problem_set, beside, int(str(self._steps.converter.permissions), 8))

    def manual_marks(self, student: str) -> dict[str, float]:
        """The marks given by hand, by the name of their cell, as the gradebook had them when it was opened."""
        return self._database.manual_marks.get(student, {})

    def overrides(self, result: Result) -> tuple[Override, ...]:
        """The points of a result that somebody has changed by hand, likewise."""
        points = {exercise.id: float(exercise.points) for exercise in result.exercises}
        exercises = {name: exercise for _, name, exercise in self._cells}
        return overrides(result.student, points, self.manual_marks(result.student), exercises, self._given)

    @cached_property
    def _given(self) -> Given:
        return marks_given(self.course.root, self.problem_set)

    def holds(self, submission: Submission, result: Result) -> bool:
        """Whether gradebook and autograded folder hold this result on what was handed in last.

        A later hand-in may differ in its written answers alone; a gradebook may be an older copy that was put back. The
        late penalty follows the policy, the deadline, the extension and the marks given by hand, as they are now.
        """
        holds = self._folder_holds(submission) and self._rows_hold(submission, result)
        return holds and self._penalties.is_current(submission.student)

    def outdated(self) -> tuple[bool, list[str]]:
        """As GradebookSync has it."""
        students = self.course.students(self.problem_set)
        return self._penalties.deadline_moved, [
            student for student in students if not self._penalties.is_current(student)
        ]

    def _folder_holds(self, submission: Submission) -> bool:
        folder = autograded(self.course, submission.student, self.problem_set)
        submitted = self.course.submitted(submission.student, self.problem_set)
        stamp = folder / STAMP
        if (stamp.read_text(encoding="utf-8") if stamp.exists() else "") != submission.stamp:
            return False
        notebook = f"{self.problem_set}.ipynb"
        try:
            written = (folder / notebook).stat().st_mtime_ns
            sources = (submitted / notebook, self.course.result_file(submission.student, self.problem_set))
            release = release_file(self.course, self.problem_set)  # it may be another one by now
            released = release.stat().st_mtime_ns if release.exists() else 0
            if any(when > written for when in (released, *(path.stat().st_mtime_ns for path in sources))):
                return False
            told = self._penalties.told(self.late.get(submission.student, {}))
            return has_head((folder / notebook).read_text(encoding="utf-8"), told)
        except FileNotFoundError:
            return False

    def _rows_hold(self, submission: Submission, result: Result) -> bool:
        when, points = self._database.entered.get(submission.student, (None, {}))
        verdicts = {exercise.id: float(exercise.points) for exercise in result.exercises}
        same = all(points.get(cell) == verdicts.get(exercise) for cell, _, exercise in self._cells)
        return same and when == _naive(submission.arrived)

    def enter(self, submission: Submission, result: Result, seconds: float) -> None:
        """Enter a result with the folder that shows it; NotEntered where something else was handed in meanwhile.

        seconds: how long to wait for another program
        """
        student = submission.student
        rows.wait_at_most(self._session, seconds)
        submitted = rows.read(self._session, self._released, student)
        submitted.timestamp = _naive(submission.arrived) or submitted.timestamp
        submitted.extension = self._penalties.extension(student, submitted.extension)
        with self._folders.draft(student) as draft:
            notebooks = self._graded_notebooks(submission, result, submitted)
            rows.write(self._session, self._released, submitted)
            late, score = self._write_penalties(submitted, list(notebooks))
            told = self._penalties.told(late)
            written = {name: text_with_head(text, told).encode() for name, text in notebooks.items()}
            self._folders.write(draft, self._files(submission) | written)
            with course_lock(self.course):
                if not is_current(self.course, submission):
                    raise NotEntered("something else was handed in meanwhile: run grade again")
                self._session.commit()
                self.late[student], self.scores[student] = late, score
                self._folders.take_place(draft, student)
                if self._coursedir.groupshared:
                    self._steps.converter.set_permissions(self.problem_set, student)
        paths = [str(self.course.submitted(student, self.problem_set) / name) for name in notebooks]
        self._steps.run_post_convert_hook(self.problem_set, student, paths)

    def enter_notebook(self, student: str, name: str, nb: NotebookNode, seconds: float) -> None:
        """Enter the grades and comments of a notebook that nbgrader itself autogrades, with its late penalty.

        nbgrader has made the rows of the submission before; name: of the notebook
        """
        rows.wait_at_most(self._session, seconds)
        submitted = rows.read(self._session, self._released, student)
        submitted.extension = self._penalties.extension(student, submitted.extension)
        notebook = next(notebook for notebook in self._released.notebooks if notebook.name == name)
        self._steps.save(nb, notebook, submitted.sheets[name])
        rows.write(self._session, self._released, submitted)
        self.late[student], self.scores[student] = self._write_penalties(submitted, [f"{name}.ipynb"])
        with_head(nb, self._penalties.told(self.late[student]))
        self._session.commit()

    def _files(self, submission: Submission) -> dict[str, bytes]:
        """The files that nbgrader copies beside the submitted notebook."""
        files = {f"attention/{name}": data for name, data in submission.files.items()}
        files |= {STAMP: submission.stamp.encode(), TICKET: submission.ticket.encode()}
        return {name: data for name, data in files.items() if data and not is_ignored(name, self._coursedir.ignore)}

    def _graded_notebooks(self, submission: Submission, result: Result, submitted: rows.Submitted) -> dict[str, str]:
        """The autograded notebooks by file name; the rows of `submitted` become what they hold."""
        texts = {self.problem_set: submission.notebook}
        written = {}
        for notebook in self._released.notebooks:
            if notebook.name not in submitted.sheets:
                raise NotEntered(f"the gradebook has no {notebook.name} of this student's: release it again")
            sheet, file = submitted.sheets[notebook.name], f"{notebook.name}.ipynb"
            if notebook.name in texts:
                marked = manual_marks.settled(sheet)
                graded = Graded(result, submission.files, self._resources(submission, notebook.name))
                text = self._steps.autograded(texts[notebook.name], notebook, sheet, graded)
                before = autograded(self.course, submission.student, self.problem_set) / file
                manual_marks.let_stand(sheet, marked, before, text)
                written[file] = text
                continue
            for grade in sheet.grades.values():
                grade.auto_score, grade.needs_manual_grade = 0, False
        if not written:
            raise NotEntered("no notebook of the problem set is there: release it again")
        return written

    def _resources(self, submission: Submission, notebook: str) -> dict[str, object]:
        """What nbgrader hands to every step."""
        names = {"student": submission.student, "assignment": self.problem_set, "notebook": notebook}
        return {
            "unique_key": notebook,
            "output_files_dir": f"{notebook}_files",
            "nbgrader": names | {"db_url": self._coursedir.db_url},
        }

    def _write_penalties(self, submitted: rows.Submitted, files: list[str]) -> tuple[penalty_facts.Facts, float]:
        """Write what is taken off each of these notebooks for being late; returns what explains it, and the points."""
        times = submitted.timestamp, self._released.due, submitted.extension
        sheets = [submitted.sheets[file.removesuffix(".ipynb")] for file in files]
        scores = [rows.score(self._session, sheet) for sheet in sheets]
        if not self._steps.penalises:
            return penalty_facts.facts(*times, self.late.get(submitted.student, {}).get("penalty")), sum(scores)
        seconds, total = penalty_facts.seconds_late(*times), 0.0
        for sheet, points in zip(sheets, scores, strict=True):
            penalty = self._steps.penalty(submitted.student, points, seconds)
            total += penalty or 0
            rows.write_penalty(self._session, sheet, penalty)
        if seconds > 0:
            return penalty_facts.facts(*times, total, self._steps.policy, sum(scores)), sum(scores)
        return penalty_facts.facts(*times, total), sum(scores)

    def enter_people(self, seconds: float) -> None:
        """Bring the names of the roster into nbgrader's list of students."""
        rows.wait_at_most(self._session, seconds)
        if enter_people(self._session, self.course.roster):
            self._session.commit()

    def grant(self, student: str, seconds: float) -> bool:
        """Enter the extension that somebody has now; False where the gradebook holds no submission of theirs."""
        rows.wait_at_most(self._session, seconds)
        submitted = rows.read(self._session, self._released, student)
        if not submitted.is_new:
            extension = self._penalties.extension(student, submitted.extension)
            rows.write_extension(self._session, submitted, extension)
        self._session.commit()
        return not submitted.is_new

    def undo(self) -> None:
        """Take back what is not committed."""
        self._session.rollback()

    def close(self) -> None:
        self._database.close()


def _naive(when: datetime | None) -> datetime | None:
    """A time as nbgrader's tables have it: UTC without its zone."""
    return when and when.astimezone(UTC).replace(tzinfo=None)
