"""The commands that run a course: release, submit, grade, feedback, report, export."""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import click

from ..console import console, plain, remarks_line, show, working
from ..course import nbgrader_files
from ..course.faults import machine_fault
from ..course.folder import Course
from ..course.printable import counted, printable_line
from ..course.student_ids import student_id
from ..sandbox.bubblewrap import CHOICES, open_sandbox
from .interrupts import no_interrupt_lost
from .times import archives_word_lines, given_time, lateness_lines, the_clock

ISOLATION = click.Choice(CHOICES)
INTERRUPTED = 130  # the exit status after Ctrl-C
READING = ("feedback", "export")  # commands that pass on what was graded


def course_command(function: Callable[..., None], beforehand: Callable[..., None] | None = None) -> click.Command:
    """A command on a problem set of a course, which prints a user's error on one line and exits with 1.

    beforehand: given the same arguments before anything of the course is read
    """

    @wraps(function)
    def run(folder: Path, problem_set: str, **options: object) -> None:
        from selfcheck.catalogue import in_problem_set

        from ..course.releases import restore_interrupted
        from ..intake.store import recover_all

        name = function.__name__
        try:
            with no_interrupt_lost():
                if beforehand:
                    beforehand(Course(folder.resolve()), problem_set, **options)
                in_problem_set(problem_set)
                if name != "release" and not Course(folder.resolve()).secret_file.exists():
                    raise FileNotFoundError(
                        f"there is no course in {folder}: release a problem set there, or give --course"
                    )
                course = Course.open(folder)
                recover_all(course, problem_set)
                restore_interrupted(course, problem_set)
                renewed = nbgrader_files.renew(course.root)
                if renewed:
                    show(renewed)
                _tell_what_has_moved(course, problem_set, name)
                function(course, problem_set, **options)
        except KeyboardInterrupt:
            show(f"{name} {problem_set}: interrupted. What is done stays; run {name} again for the rest", style="red")
            sys.exit(INTERRUPTED)
        except Exception as error:
            own = isinstance(error, KeyError | ValueError | RuntimeError) or getattr(error, "errno", 0) is None
            fault = "" if own else machine_fault(error)
            if not own and not fault:
                raise
            text = error.args[0] if isinstance(error, KeyError) and error.args else error
            text = f"{fault}, and run {name} again; nothing is half done" if fault else text
            show(f"{name} {problem_set}: {text}", style="red")
            sys.exit(1)

    run = click.option("--course", "folder", default="course", type=click.Path(path_type=Path), show_default=True)(run)
    return click.command()(click.argument("problem_set", metavar="PS")(run))


def _tell_what_has_moved(course: Course, problem_set: str, command: str) -> None:
    """Say what has moved from the released set; SetMoved, unless the command only reads what was graded then."""
    from ..release.moved import moved_in, require_own_exercises

    if command not in READING:
        require_own_exercises(course, problem_set)
    elif told := moved_in(course, problem_set):
        show(f"This is of the set as it was released and graded: {told}", style="red")


def _require_current(course: Course, problem_set: str) -> None:
    """Stale where final scores are; a set that has moved is passed on as it was graded, for it is graded no more."""
    from ..gradebook.outdated import require_current
    from ..release.moved import moved_in

    if not moved_in(course, problem_set):
        require_current(course, problem_set)


def _why_stale(course: Course, problem_set: str) -> str:
    """Why final scores are not up to date, "" where they are, or the set has moved."""
    from ..gradebook.outdated import why_stale
    from ..release.moved import moved_in

    return "" if moved_in(course, problem_set) else why_stale(course, problem_set)


@course_command
@click.option("--with-answers", default="", help="Earlier problem sets to release with their solutions: ps1,ps2.")
def release(course: Course, problem_set: str, with_answers: str) -> None:
    """Make the student version of PS: notebook, stubs, selfcheck."""
    from ..release.bundle import release, unmarked

    with working(f"the answer key and the bundle of {problem_set}"):
        answers = [name for name in with_answers.split(",") if name]
        folder = release(course, problem_set, answers, lambda text: console.print(plain(text)))
    console.print(plain(f"released {problem_set}: {folder}"))
    for line in unmarked(course.policy, problem_set):
        show(f"  {line}")


@course_command
@click.option("--student", required=True, help="The student's id.")
@click.option("--time", "given", metavar="TIME", help="When it was handed in, as 2030-12-01T23:59+01:00.")
@click.option("--replace", is_flag=True, help="Also where it lacks what the student has handed in before.")
@click.argument("path", type=click.Path(exists=True, path_type=Path))
def submit(course: Course, problem_set: str, student: str, given: str | None, replace: bool, path: Path) -> None:
    """Take in a submission to PS.

    PATH is the zip that pack() makes, a folder, or the notebook or module alone; a class comes in by `collect`. Without
    --time, work that came before keeps its time, a zip came when its newest file was written, and a folder comes now.
    """
    from ..intake.hand_in import Options, hand_in

    when = given_time(given) if given else None
    student = student_id(student)
    if course.roster and student not in course.roster.people:
        show(f"  {student} is not on the roster: is the id right?", style="red")
    done = hand_in(course, student, problem_set, path, Options(when, the_clock(), replace))
    console.print(plain(f"{student}: {problem_set} {done.summary}"))
    show(f"  handed in {done.time}")
    for remark in done.remarks:
        show(f"  {remark}")


def _start_early(course: Course, problem_set: str, isolation: str, regrade: bool, scheduler: str | None) -> None:
    from ..pipeline import start_early

    if scheduler is None:
        start_early(course, problem_set, isolation, regrade)


@functools.partial(course_command, beforehand=_start_early)
@click.option("--isolation", default="bubblewrap", type=ISOLATION, show_default=True)
@click.option("--regrade", is_flag=True, help="Judge again what has not changed too; marks given by hand stay.")
@click.option("--scheduler", metavar="ADDRESS", help="Judge on this Dask cluster, tcp://… or tls://…; default: here.")
def grade(course: Course, problem_set: str, isolation: str, regrade: bool, scheduler: str | None) -> None:
    """Grade all submissions to PS.

    The points are entered into nbgrader's gradebook.
    """
    import gc

    from ..pipeline import grade

    gc.set_threshold(200_000, 20, 50)  # a collection walks through the answers that are being compared, or all modules
    isolation = _print_isolation(course, isolation, scheduler)
    lines = grade(course, problem_set, isolation, lambda text: console.print(plain(text)), regrade, scheduler)
    if not lines:
        raise FileNotFoundError(f"nobody has handed in {problem_set} in {course.root}: run submit {problem_set} first")
    late = [line for line in lines if line.seconds_late]
    by_archive = [line for line in lines if line.archives_word]
    troubled = [line for line in lines if line.remarks]
    if late or by_archive or troubled:
        console.print("To look at:")
        for text in lateness_lines(late, len(lines)):
            show(f"  {text}", style="bold red")
        for text in archives_word_lines(by_archive, len(lines)):
            show(f"  {text}", style="red")
        for line in troubled:
            show(f"  {printable_line(line.student, 100)}: {remarks_line(line.remarks)}")
    if any(line.points is None for line in lines):
        raise RuntimeError("some submissions could not be graded: see above, and run grade again")


def _print_isolation(course: Course, wanted: str, scheduler: str | None) -> str:
    """Print the level of isolation; returns the one to request of the workers."""
    if scheduler:
        console.print(plain(f"isolation: {wanted}, on each worker of {scheduler}; every grade records what it was"))
        return wanted
    sandbox = open_sandbox(wanted, private=course.private_places)
    if sandbox.level == "none":
        console.print("[bold red]No isolation: submitted code runs with your rights, and every grade records it.[/]")
    console.print(plain(f"isolation: {sandbox.description}"))
    return sandbox.level


@course_command
def feedback(course: Course, problem_set: str) -> None:
    """Write each student's feedback page for PS.

    Pages that are what they would be are left as they are.
    """
    from ..gradebook.quick_import import imported

    graded = [
        student
        for student in course.students(problem_set)
        if (course.root / "autograded" / student / problem_set).is_dir()
    ]
    if not graded:
        raise FileNotFoundError(f"nothing of {problem_set} is graded in {course.root}: run grade {problem_set} first")
    _require_current(course, problem_set)

    def say(page: Any) -> None:
        if page.trouble:
            show(f"no page for {printable_line(page.student, 100)}: {printable_line(page.trouble, 500)}")
        elif page.is_new:
            console.print(plain(str(page.path)))

    pages = imported("feedback.writing").write_pages(course, problem_set, graded, say)
    failed = sum(bool(page.trouble) for page in pages)
    new = sum(page.is_new for page in pages)
    console.print(plain(f"{counted(new, 'page')} written, {len(pages) - new - failed} as before"))
    if failed:
        raise RuntimeError(
            f"{failed} of {len(graded)} pages could not be written, see above; the others are there, and these "
            "are as they were. Run feedback again when that is mended"
        )


@course_command
@click.option("--section", help="Only who is in this section of the roster.")
@click.option("--hide-names", is_flag=True, help="A number in place of each learner's id and name.")
def report(course: Course, problem_set: str, section: str | None, hide_names: bool) -> None:
    """Print the class report of PS and write it as a page."""
    from ..report.anonymous import without_names
    from ..report.page import write_html
    from ..report.summary import class_report
    from ..report.terminal import rendered

    with working("the class report"):
        summary = class_report(course, problem_set, section)
        summary.stale = _why_stale(course, problem_set) if summary.scores else ""
    part = "" if section is None else re.sub(r"[^\w-]+", "-", f"-{section}")
    if hide_names:
        summary, part = without_names(summary), f"{part}-without-names"
    target = course.root / "reports" / f"{problem_set}{part}.html"
    write_html(summary, target)
    console.print(rendered(summary))
    console.print(plain(f"written: {target}"))


@course_command
@click.option("--format", "form", default="csv", type=click.Choice(["csv", "canvas", "moodle"]), show_default=True)
@click.option("--to", "target", type=click.Path(dir_okay=False, path_type=Path), help="Default: in the course folder.")
@click.option("--identify-by", help="canvas: login (default), sis, id. moodle: username (default), idnumber, email.")
@click.option("--column", help="The name of the column with the scores there. Default: PS.")
@click.option("--section", help="Only who is in this section of the roster.")
@click.option("--ungraded", is_flag=True, help="Include students whose written questions are not graded yet.")
def export(course: Course, problem_set: str, form: str, target: Path | None, **options: Any) -> None:
    """Write the scores of PS for another system.

    That is a table of everything (csv), or the file that Canvas or Moodle imports.
    """
    from ..gradebook.exports import export

    target = target or course.root / (f"{problem_set}.csv" if form == "csv" else f"{problem_set}-{form}.csv")
    _require_current(course, problem_set)
    done = export(course, problem_set, form, target, **options)
    console.print(plain(f"written: {target}, {counted(done.count, 'student')}"))
    for note in done.notes:
        show(f"  {note}")
