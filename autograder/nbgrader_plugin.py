"""What nbgrader calls in a course: its settings, and the steps that take the place of execution.

nbgrader_config.py of every course folder, since the first version, imports `configure` from here.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from nbformat.notebooknode import NotebookNode
from nbgrader.preprocessors import CheckCellMetadata, LimitOutput
from traitlets.config import Config

from .course.folder import Course
from .gradebook.cells import put_result
from .gradebook.formgrader_scores import show_final_scores
from .gradebook.late_policy_plugin import configure_late_policy
from .gradebook.marks_given import record_marks
from .gradebook.nbgrader import configure_storage, course_of, inbound_folder, places_of
from .gradebook.steps import GradesStep, ResultStep
from .gradebook.sync import GradebookSync
from .intake import store
from .judge.cache import result_of
from .release.staleness import check_release
from .sandbox.sight import require_out_of_sight

Resources = dict[str, Any]

_refused: dict[tuple[str, str], Exception] = {}  # (problem set, student) whose submission could not be cleaned


class TrustedResults(ResultStep):
    """Puts each grade cell's verdict, reached in the sandbox, where execution would have put its output."""

    def preprocess(self, nb: NotebookNode, resources: Resources) -> tuple[NotebookNode, Resources]:
        course = course_of(self.config)
        names = resources["nbgrader"]
        refused = _refused.get((names["assignment"], names["student"]))
        if refused:
            raise RuntimeError("the submission could not be taken in: nothing is entered") from refused
        require_out_of_sight(places_of(self.config))
        check_release(course, names["assignment"])
        configure_late_policy(Config(), course.root, course.settings.late_policy)  # nbgrader goes on without one
        submission = store.take_in(course, names["student"], names["assignment"], partial(inbound_folder, course))
        result = result_of(course, submission)
        if result.grader_error:
            raise RuntimeError("the grader failed, not the submission: nothing is entered; run it again")
        put_result(nb, result, submission.files)
        return nb, resources


class EnteredGrades(GradesStep):
    """Enters grades, comments and the late penalty as `grade` does: by the one writer of the gradebook.

    nbgrader's converter, whose class no setting replaces, makes the empty rows of a submission before, and writes the
    notebook after.
    """

    def preprocess(self, nb: NotebookNode, resources: Resources) -> tuple[NotebookNode, Resources]:
        course = course_of(self.config)
        names = resources["nbgrader"]
        with GradebookSync(course, names["assignment"], self.config) as sync:
            sync.enter_notebook(names["student"], names["notebook"], nb)
        return nb, resources


#: What nbgrader does with a cleaned notebook: verdicts in place of execution, and one way into the gradebook.
STEPS = (TrustedResults, LimitOutput, EnteredGrades, CheckCellMetadata)


def configure(c: Config, root: Path) -> None:
    """The settings of a course in `root`: what nbgrader_config.py calls."""
    configure_storage(c, root)
    record_marks(root)
    show_final_scores(root)
    c.Autograde.autograde_preprocessors = list(STEPS)
    c.GenerateFeedback.exporter_class = "autograder.gradebook.feedback.exporter.FeedbackPage"
    c.Autograde.pre_convert_hook = lambda **names: take_in(root, **names)


def take_in(root: Path, assignment: str, student: str, notebooks: list[str]) -> None:
    """nbgrader's hook before it converts a submission: cleans what came through its exchange or by copying.

    nbgrader goes on where a hook fails; what was not cleaned is remembered, and `TrustedResults` refuses it.
    """
    course = Course.open(root)
    students = course.students(assignment)
    for name in [student] if student in students else students:  # "*" stands for everybody
        _refused.pop((assignment, name), None)
        try:
            store.take_in(course, name, assignment, partial(inbound_folder, course))
        except Exception as error:
            _refused[assignment, name] = error
