"""Releases every problem set, grades the sample class, writes feedback and reports, as `make course` shows it."""

from __future__ import annotations

import hashlib
import tempfile
from pathlib import Path

import click
from rich.table import Table

from selfcheck.catalogue import problem_sets

from ..authoring.samples import table, write_submission
from ..console import plain, remarks_line
from ..course.folder import Course
from ..course.paths import ROOT
from ..intake import archive, store
from ..pipeline import Line, grade
from ..report.page import write_html
from ..report.summary import class_report
from ..version import grader_version
from .phases import Phases

DONE = "demonstration.txt"  # in the course folder: what the sample class was graded with; empty until all of it was


def somebodys_own(course: Course) -> str:
    """Why the sample class must not enter a course, one that `demo` has not made, and what to do; else ""."""
    taken = any((course.root / name).is_dir() for name in ("release", "submitted"))
    if not taken or (course.root / DONE).exists():
        return ""
    return (
        f"{course.root} holds a course that demo has not made, and the sample class would be among its students: "
        "give another folder, with --course"
    )


def demonstrate(course: Course, isolation: str, phases: Phases) -> dict[str, dict[str, Line]]:
    """Release ps1 to the last, grade the sample class, write feedback and the class reports.

    What is there already, made from the same sources by the same grader, is left as it is. isolation: of the sandbox
    Returns problem set → student → line.
    """
    done = course.root / DONE
    version = f"{grader_version()} {_table_version()} {_settings_version(course)}"
    fresh = done.exists() and done.read_text() == version
    if not fresh:
        done.write_text("")
    lines: dict[str, dict[str, Line]] = {}
    for problem_set in problem_sets():
        phases.console.print(plain(f"{problem_set}:"))
        with phases.phase("release and hand in", problem_set):
            if not fresh:
                _prepare(course, problem_set)
                phases.console.print(plain(f"  released {course.release(problem_set)}"))
        with phases.phase("grade", problem_set):
            graded = grade(course, problem_set, isolation, lambda text: phases.console.print(plain(f"  {text}")))
        lines[problem_set] = {line.student: line for line in graded}
        with phases.phase("feedback", problem_set):
            new = _write_feedback(course, problem_set)
            if new:
                phases.console.print(plain(f"  feedback for {new}"))
        with phases.phase("report", problem_set):
            write_html(class_report(course, problem_set), report_file(course, problem_set))
    done.write_text(version)
    return lines


STEPS = 4  # per problem set, in `demonstrate`


def _prepare(course: Course, problem_set: str) -> None:
    from ..release.bundle import release

    release(course, problem_set)
    for row in table():
        if row.problem_set == problem_set:
            with tempfile.TemporaryDirectory() as place:
                write_submission(row, course, Path(place))
                store.store(course, row.student, problem_set, archive.read_folder(Path(place), problem_set))


def _write_feedback(course: Course, problem_set: str) -> int:
    from ..gradebook.feedback.writing import write_pages

    pages = write_pages(course, problem_set, course.students(problem_set))
    for page in pages:
        if page.trouble:
            raise click.ClickException(f"no feedback for {page.student}: {page.trouble}")
    return sum(page.is_new for page in pages)


def _table_version() -> str:
    from ..authoring.samples import FOLDER

    digest = hashlib.sha256()
    for path in sorted(FOLDER.rglob("*")):
        if path.is_file():
            digest.update(path.relative_to(FOLDER).as_posix().encode() + path.read_bytes())
    for path in sorted((ROOT / "book" / "problem-sets").glob("*.md")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def _settings_version(course: Course) -> str:
    return hashlib.sha256(repr((course.settings, course.policy.digest)).encode()).hexdigest()[:12]


def report_file(course: Course, problem_set: str) -> Path:
    """Where the class report of a problem set lies."""
    return course.root / "reports" / f"{problem_set}.html"


def summary(lines: dict[str, dict[str, Line]]) -> Table:
    """Points by student and problem set: narrow, so that ten problem sets fit a terminal of 80 columns."""
    shown = Table(title="The sample class", show_edge=False)
    shown.add_column("student")
    for problem_set, graded in lines.items():
        most = max((line.max_points for line in graded.values()), default=0)
        shown.add_column(f"{problem_set}\n/{most:g}", justify="right")
    for student in sorted({student for graded in lines.values() for student in graded}):
        shown.add_row(plain(student), *(_score(graded.get(student)) for graded in lines.values()))
    return shown


def to_look_at(lines: dict[str, dict[str, Line]]) -> list[str]:
    """Who needs a look, and why: a line for each submission with a remark."""
    return [
        f"  {problem_set} {student}: {remarks_line(line.remarks)}"
        for problem_set, graded in lines.items()
        for student, line in sorted(graded.items())
        if line.remarks
    ]


def _score(line: Line | None) -> str:
    if line is None:
        return ""
    return "not graded" if line.points is None else f"{line.points:g}"
