"""Where nbgrader and the grader meet: the settings of a course, and the step that replaces execution."""

from __future__ import annotations

import os
import re
import sys
import textwrap
import warnings
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

from nbformat.notebooknode import NotebookNode, from_dict
from nbgrader.api import Gradebook
from nbgrader.apps.api import NbGraderAPI
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import (
    AssignLatePenalties,
    CheckCellMetadata,
    LimitOutput,
    NbGraderPreprocessor,
    SaveAutoGrades,
)
from nbgrader.utils import is_grade, is_solution
from sqlalchemy.exc import SAWarning
from traitlets.config import Config, PyFileConfigLoader

from selfcheck.catalogue import modules_of, problem_sets

from ..course.folder import Course
from ..course.settings import SettingsError
from ..intake import store
from ..judge.cache import result_of
from ..release.staleness import check_release
from .safe_html import source_text

COLUMNS = 100
_refused: dict[tuple[str, str], Exception] = {}  # (problem set, student) whose submission could not be cleaned
GRADE_CELL = re.compile(r'check\("([a-z_]+\.\w+)"\)')


class TrustedResults(NbGraderPreprocessor):
    """Puts each grade cell's verdict, reached in the sandbox, where execution would have put its output."""

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        course = Course.open(CourseDirectory(config=self.config).root)
        names = resources["nbgrader"]
        refused = _refused.get((names["assignment"], names["student"]))
        if refused:
            raise RuntimeError("the submission could not be taken in: nothing is entered") from refused
        check_release(course, names["assignment"])
        submission = store.take_in(course, names["student"], names["assignment"])
        result = result_of(course, submission)
        if result.grader_error:
            raise RuntimeError("the grader failed, not the submission: nothing is entered; run it again")
        put_results(nb, result.as_json(), submission.files)
        return nb, resources


def put_results(nb: NotebookNode, record: dict[str, Any], files: dict[str, bytes]) -> None:
    """Put the verdicts of a record, and the submitted text of the modules they are about, into a notebook's cells."""
    verdicts = {exercise["id"]: exercise for exercise in record["exercises"]}
    nb.cells = list(_with_sources(nb.cells, files))
    for cell in nb.cells:
        exercise = exercise_of(cell)
        if exercise and exercise not in verdicts:
            raise RuntimeError(f"there is no verdict on {exercise}: release the problem set again")
        if exercise:
            cell.outputs = _outputs(verdicts[exercise], record["isolation"])


def exercise_of(cell: NotebookNode) -> str | None:
    """The exercise that a grade cell checks; None for any other cell, ValueError for one that checks none."""
    if not is_grade(cell) or is_solution(cell) or cell.cell_type != "code":
        return None
    found = GRADE_CELL.fullmatch(cell.source.strip())
    if not found:
        raise ValueError(f"the grade cell {cell.metadata.nbgrader.grade_id} does not call check(...): release again")
    return found[1]


def _outputs(verdict: dict[str, Any], isolation: str) -> list[NotebookNode]:
    """The verdict as text, then the points as the number nbgrader reads; nothing on stderr, which would be zero."""
    points = f"{verdict['points']} of {verdict['max_points']} points (isolation: {isolation})"
    text = f"{_wrapped(verdict['text'])}\n\n{points}\n"
    return from_dict(
        [
            {"output_type": "stream", "name": "stdout", "text": text},
            {
                "output_type": "execute_result",
                "data": {"text/plain": str(float(verdict["points"]))},
                "metadata": {},
                "execution_count": 1,
            },
        ]
    )


def _wrapped(text: str) -> str:
    """The text in lines that a page shows without scrolling sideways, each kept at its indentation."""
    lines = []
    for line in text.splitlines():
        indent = " " * re.match(r" *(?:[^\w\s] )?", line).end()  # under the text, not under its mark
        lines += textwrap.wrap(line, COLUMNS, subsequent_indent=indent, break_on_hyphens=False) or [""]
    return "\n".join(lines)


def _with_sources(cells: list[NotebookNode], files: dict[str, bytes]):
    """The cells, with each module's submitted text in a cell before the first grade cell that is about it."""
    shown = set()
    for cell in cells:
        exercise = exercise_of(cell)
        module = exercise.partition(".")[0] if exercise else None
        if module and module not in shown:
            shown.add(module)
            text = source_text(files.get(f"{module}.py", b""))
            source = (
                f"# submitted: attention/{module}.py\n{text}" if text else f"# attention/{module}.py was not submitted"
            )
            yield from_dict(
                {
                    "cell_type": "code",
                    "id": f"submitted-{module}".replace("_", "-"),
                    "metadata": {},
                    "source": source,
                    "execution_count": None,
                    "outputs": [],
                }
            )
        yield cell


#: What nbgrader does with a cleaned notebook: its own steps, and the verdicts in place of execution.
STEPS = (TrustedResults, LimitOutput, SaveAutoGrades, AssignLatePenalties, CheckCellMetadata)


def configure(c: Config, root: Path) -> None:
    """The settings of a course in `root`: what nbgrader_config.py calls."""
    c.CourseDirectory.root = str(root)
    c.CourseDirectory.course_id = "attention-by-hand"
    c.Autograde.autograde_preprocessors = list(STEPS)
    c.Autograde.pre_convert_hook = lambda **names: _take_in(root, **names)
    # The learner's modules stay as submitted; everything else beside the notebook is the release's.
    c.Autograde.exclude_overwriting = {
        name: [f"attention/{module}.py" for other in problem_sets() for module in modules_of(other)]
        for name in problem_sets()
    }
    # A course.toml that cannot be read is told by `TrustedResults`: an error here would have nbgrader go on without
    # these settings, and run what was submitted.
    with suppress(SettingsError):
        policy = Course(root).settings.late_policy
        if policy:
            c.LateSubmissionPlugin.penalty_method = policy
    c.ExportApp.plugin_class = "autograder.gradebook.csv_export.QuotedCsv"
    c.HTMLExporter.sanitize_html = True
    # nbgrader's own templates do not clean Markdown: what a learner wrote would run as the instructor.
    c.HTMLExporter.filters = {
        "markdown2html": "autograder.gradebook.safe_html.answer_html",
        "strip_files_prefix": "autograder.gradebook.safe_html.unchanged",
    }


def _take_in(root: Path, assignment: str, student: str, notebooks: list[str]) -> None:
    """nbgrader's hook before it converts a submission: cleans what came through its exchange or by copying.

    nbgrader goes on where a hook fails; what was not cleaned is remembered, and `TrustedResults` refuses it.
    """
    course = Course.open(root)
    students = course.students(assignment)
    for one in [student] if student in students else students:  # "*" stands for everybody
        _refused.pop((assignment, one), None)
        try:
            store.take_in(course, one, assignment)
        except Exception as error:
            _refused[assignment, one] = error


def configuration(course: Course) -> Config:
    """What a course's nbgrader_config.py says, as `nbgrader autograde` reads it; RuntimeError for one that stops.

    Raises SettingsError for a course.toml that is not in order.
    """
    path = course.root / "nbgrader_config.py"
    return _configuration(course.root, path.stat().st_mtime_ns if path.exists() else None, course.settings.late_policy)


@lru_cache(maxsize=16)
def _configuration(root: Path, written: int | None, policy: str | None) -> Config:
    """written: when, for a file may change while a grader waits; policy: of course.toml, likewise"""
    c = Config()
    configure(c, root)
    if written is not None:
        try:
            c.merge(PyFileConfigLoader("nbgrader_config.py", path=str(root)).load_config())
        except Exception as error:  # it is a program
            raise RuntimeError(f"{root / 'nbgrader_config.py'} stops: {type(error).__name__}: {error}") from error
    return c


def gradebook(course: Course) -> Gradebook:
    """nbgrader's database of a course, to be used in a with statement."""
    return api(course).gradebook


def api(course: Course) -> NbGraderAPI:
    """nbgrader's own interface on a course."""
    prepare()
    config = configuration(course)
    return NbGraderAPI(CourseDirectory(config=config), config=config)


def prepare() -> None:
    """What nbgrader needs of this process."""
    # It starts `alembic` by name, which lies beside this Python and need not be on the path.
    programs = str(Path(sys.executable).parent)
    if programs not in os.environ.get("PATH", "").split(os.pathsep):
        os.environ["PATH"] = programs + os.pathsep + os.environ.get("PATH", os.defpath)
    # nbgrader's own queries flush half-built objects; its users need not read of it.
    warnings.filterwarnings("ignore", category=SAWarning, module="nbgrader")
