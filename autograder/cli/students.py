"""The commands on who takes a course: roster, extend."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from ..console import console, plain, show
from ..course.extensions import NONE, grant, read_extension
from ..course.folder import Course
from ..course.printable import counted, printable_name
from ..course.roster import ROSTER_FILE, Person, write_roster
from ..course.roster_import import CANVAS_IDS, MOODLE_IDS, joined, read_export
from ..course.student_ids import student_id
from .user_errors import user_errors

MOST_NAMED = 5
IDS = tuple(dict.fromkeys((*CANVAS_IDS, *MOODLE_IDS)))
COURSE = click.option(
    "--course", "folder", default="course", type=click.Path(path_type=Path), show_default=True, help="The course."
)


@click.command()
@click.argument("source", required=False, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--gradebook", is_flag=True, help="Take the students that the course's own gradebook knows.")
@click.option("--identify-by", type=click.Choice(IDS), help="The column that has the ids. Default: the first filled.")
@COURSE
def roster(source: Path | None, gradebook: bool, identify_by: str | None, folder: Path) -> None:
    """Read who takes the course into students.csv.

    SOURCE is a grade book that Canvas or Moodle exported (CSV), or an nbgrader database (.db). Who is in students.csv
    already stays, with section and extensions. Without SOURCE the roster is counted.
    """
    with user_errors("roster"):
        course = _course(folder)
        known = course.roster.people.values() if course.roster else []
        if source is None and not gradebook:
            sections = sorted({person.section for person in known if person.section})
            told = f", in {counted(len(sections), 'section')}: {', '.join(sections)}" if sections else ""
            show(f"the roster has {counted(len(known), 'student')}{told}")
            return
        if course.settings.students is not None:
            raise ValueError("the roster stands in course.toml: move it to students.csv, or add people there")
        left_out: tuple[str, ...] | list[str]
        if gradebook or (source and source.suffix == ".db"):
            from ..gradebook.nbgrader import gradebook as opened
            from ..gradebook.people import people_in_file, people_of

            if source:
                people, left_out = people_in_file(source)
            else:
                with opened(course) as book:
                    people, left_out = people_of(book)
            by = "nbgrader's id"
        else:
            assert source is not None
            export = read_export(source, identify_by)
            people, left_out, by = list(export.people), export.left_out, export.identified_by
        ids = {person.id for person in people}
        everybody = joined(known, people)
        path = write_roster(course.root, everybody)
        console.print(plain(f"{counted(len(people), 'student')} by {by}, written: {path}"))
        absent = [person.id for person in known if person.id not in ids]
        if absent:
            more = f" and {len(absent) - MOST_NAMED} more" if len(absent) > MOST_NAMED else ""
            show(f"  still on the roster, and not there: {', '.join(map(printable_name, absent[:MOST_NAMED]))}{more}")
        for line in (*left_out, *_doubled(everybody)):
            show(f"  {line}")


@click.command()
@click.argument("student", metavar="ID")
@click.argument("problem_set", metavar="PS")
@click.argument("extension", metavar="EXTENSION")
@COURSE
def extend(student: str, problem_set: str, extension: str, folder: Path) -> None:
    """Give somebody more time for PS.

    EXTENSION is as 3d, 12h or "1d 12h" after the deadline, a date as 2030-12-04T23:59+01:00, or none, which takes an
    extension back. It replaces what the person had.
    """
    from selfcheck.catalogue import in_problem_set

    with user_errors(f"extend {problem_set}"):
        in_problem_set(problem_set)
        course, student = _course(folder), student_id(student)
        people = course.roster
        if people is not None and student not in people.people:
            raise ValueError(f"{student} is not on the roster: mend the id, or add a line to {ROSTER_FILE}")
        given = read_extension(extension)
        due = course.settings.deadline(problem_set)
        if due and given.until and given.until <= due:
            raise ValueError(f"{given} is not after the deadline, {due.isoformat()}")
        grant(course.root, student, problem_set, given)
        entered = _entered(course, student, problem_set)
        what = "no extension" if str(given) == NONE else f"an extension: {given}"
        console.print(plain(f"{student} has {what} for {problem_set}"))
        again = f"run grade {problem_set}, for the late penalty to follow" if entered else "it counts once it is graded"
        show(f"  {'in the gradebook too; ' if entered else 'nothing of theirs is graded yet; '}{again}")


def _doubled(people: list[Person]) -> Iterator[str]:
    """A line on ids that share an address or a number: one person twice, who would be exported twice."""
    for name, told in (("email", "e-mail address"), ("lms_id", "LMS number")):
        ids: dict[str, list[str]] = {}
        for person in people:
            ids.setdefault(getattr(person, name).casefold(), []).append(printable_name(person.id))
        for text, same in ids.items():
            if text and len(same) > 1:
                yield f"{', '.join(same)} have one {told}: if that is one person, take a line out of {ROSTER_FILE}"


def _entered(course: Course, student: str, problem_set: str) -> bool:
    """Bring an extension into the gradebook; False where nothing of this person is in it."""
    from ..gradebook.errors import NotEntered
    from ..gradebook.sync import GradebookSync

    if not course.release(problem_set).is_dir():
        return False
    try:
        with GradebookSync(course, problem_set) as sync:
            return sync.grant(student)
    except NotEntered as error:
        raise RuntimeError(f"the extension is written down, and not in the gradebook: {error}") from error


def _course(folder: Path) -> Course:
    if not Course(folder.resolve()).secret_file.exists():
        raise FileNotFoundError(f"there is no course in {folder}: release a problem set there, or give --course")
    return Course.open(folder)
