"""What `make course` shows: releases every problem set, grades the sample class, writes feedback and reports."""

from __future__ import annotations

import hashlib
import tempfile
from pathlib import Path

import click
from rich.table import Table

from selfcheck.catalogue import problem_sets

from ..authoring.samples import table, write_submission
from ..console import console, plain, remarks_line, show
from ..course.folder import Course
from ..course.paths import ROOT
from ..intake import archive, store
from ..pipeline import Line, grade
from ..report.page import write_html
from ..report.summary import class_report
from ..sandbox.bubblewrap import open_sandbox
from ..version import grader_version


@click.command()
@click.option("--course", "folder", default=ROOT / "course", type=click.Path(path_type=Path))
def main(folder: Path) -> None:
    """Release ps1 to the last, grade the sample class, write feedback and the class report."""
    course = Course.open(folder)
    sandbox = open_sandbox("auto")  # the sample class is our own code
    if sandbox.level == "none":
        console.print("[bold red]No bubblewrap or no user namespaces here: the sample class runs without isolation.[/]")
    done = course.root / "demonstration.txt"
    version = f"{grader_version()} {_table_version()} {_settings_version(course)}"
    fresh = done.exists() and done.read_text() == version
    lines: dict[str, dict[str, Line]] = {}
    for problem_set in problem_sets():
        console.print(plain(f"{problem_set}:"))
        if not fresh:
            _prepare(course, problem_set)
        graded = grade(course, problem_set, sandbox.level, lambda text: console.print(plain(f"  {text}")))
        lines[problem_set] = {line.student: line for line in graded}
        _write_feedback(course, problem_set, [line.student for line in graded if line.again])
        write_html(class_report(course, problem_set), _report_file(course, problem_set))
    done.write_text(version)
    console.print(_summary(lines))
    console.print("To look at:")
    for text in _to_look_at(lines):
        show(text)
    for problem_set in problem_sets():
        console.print(plain(f"report    {_report_file(course, problem_set)}"))
    console.print(plain(f"course    {course.root} (nbgrader's own; formgrader: cd there and run jupyter lab)"))
    console.print(plain(f"feedback  {course.root / 'feedback'}"))


def _prepare(course: Course, problem_set: str) -> None:
    from ..release.bundle import release

    release(course, problem_set)
    for one in table():
        if one.problem_set == problem_set:
            with tempfile.TemporaryDirectory() as place:
                write_submission(one, course, Path(place))
                store.store(course, one.student, problem_set, archive.read_folder(Path(place), problem_set))
    console.print(plain(f"  released {course.release(problem_set)}"))


def _write_feedback(course: Course, problem_set: str, students: list[str]) -> None:
    from ..gradebook.nbgrader import api

    for student in students:
        done = api(course).generate_feedback(problem_set, student, force=True)
        if not done["success"]:
            raise click.ClickException(f"no feedback for {student}: {done.get('error') or done.get('log')}")
    if students:
        console.print(plain(f"  feedback for {len(students)}"))


def _table_version() -> str:
    from ..authoring.samples import FOLDER

    found = hashlib.sha256()
    for path in sorted(FOLDER.rglob("*")):
        if path.is_file():
            found.update(path.relative_to(FOLDER).as_posix().encode() + path.read_bytes())
    for path in sorted((ROOT / "book" / "problem-sets").glob("*.md")):
        found.update(path.read_bytes())
    return found.hexdigest()[:12]


def _settings_version(course: Course) -> str:
    return hashlib.sha256(repr((course.settings, course.policy.digest)).encode()).hexdigest()[:12]


def _report_file(course: Course, problem_set: str) -> Path:
    return course.root / "reports" / f"{problem_set}.html"


def _summary(lines: dict[str, dict[str, Line]]) -> Table:
    """Points by student and problem set: narrow, so that nine problem sets fit a terminal of 80 columns."""
    shown = Table(title="The sample class")
    shown.add_column("student")
    for problem_set, graded in lines.items():
        most = max((line.max_points for line in graded.values()), default=0)
        shown.add_column(f"{problem_set}\n/{most:g}", justify="right")
    for student in sorted({student for graded in lines.values() for student in graded}):
        shown.add_row(plain(student), *(_score(graded.get(student)) for graded in lines.values()))
    return shown


def _to_look_at(lines: dict[str, dict[str, Line]]) -> list[str]:
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


if __name__ == "__main__":
    main(prog_name="python -m autograder.cli.demo")
