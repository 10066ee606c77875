"""`collect`: takes in the submissions of a whole class."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import click

from ..console import console, plain, show
from ..course.folder import Course
from ..course.printable import counted, printable_line
from .course import course_command
from .times import given_time, the_clock

MOST = 100  # characters of an id


@course_command
@click.option("--ids", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="A table: name there, id.")
@click.option("--time", "given", metavar="TIME", help="When all of it was handed in, as 2030-12-01T23:59+01:00.")
@click.option("--times", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="A table: who, and when.")
@click.option("--replace", is_flag=True, help="Also where it lacks what a student has handed in before.")
@click.option("--dry-run", is_flag=True, help="Say what would be taken in, and write nothing.")
@click.argument("download", type=click.Path(exists=True, path_type=Path))
def collect(
    course: Course,
    problem_set: str,
    ids: Path | None,
    given: str | None,
    times: Path | None,
    replace: bool,
    dry_run: bool,
    download: Path,
) -> None:
    """Take in a class's submissions to PS.

    DOWNLOAD is what Moodle or Canvas gives for all submissions, as a zip or unpacked, a folder of GitHub Classroom's
    clones, or a folder with a zip or a folder for each student. Whose it is, the course's roster says, or --ids.
    """
    from ..intake.collecting import collect
    from ..intake.hand_in import Options
    from ..intake.identities import Identities, read_ids
    from ..intake.lms_times import read_times
    from ..intake.time_stamps import stamp_text

    roster = getattr(course, "roster", None)
    identities = Identities(roster.people.values() if roster else None, read_ids(ids) if ids else {})
    due = course.settings.deadline(problem_set)
    said = read_times(times, due.tzinfo if due else None) if times else None
    if times and said is None:
        raise ValueError(
            f"{times} has no column of times: expected one named `submitted`, or Moodle's grading worksheet"
        )
    options = Options(given_time(given) if given else None, the_clock(), replace, dry_run)
    counts: dict[str, int] = {}
    sources: dict[str, list[str]] = {}  # whose word a time is → the students
    for collected in collect(course, problem_set, download, identities, options, said):
        name = (
            f"{collected.label} → {printable_line(collected.student, MOST)}" if collected.student else collected.label
        )
        if collected.done is None:
            show(f"{name}: refused: {collected.refusal}", style="red")
        else:
            show(f"{name}: {collected.done.summary}, handed in {stamp_text(collected.done.time.when)}")
            sources.setdefault(collected.done.time.source, []).append(printable_line(collected.student, MOST))
            for remark in (*collected.remarks, *collected.done.remarks):
                show(f"  {remark}")
        state = collected.done.state if collected.done else "refused"
        counts[state] = counts.get(state, 0) + 1
    console.print(plain(f"{problem_set}: " + ", ".join(f"{count} {state}" for state, count in counts.items())))
    for line in _times_lines(sources):
        show(line)
    if "refused" in counts:
        others = "nothing is written" if dry_run else "the others are taken in"
        raise RuntimeError(f"{counts['refused']} of {sum(counts.values())} refused, see above; {others}")


def _times_lines(sources: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """By whose word the times are, each once; with names where it is not the same for everybody."""
    from ..intake.arrivals import SOURCES

    for source, students in sources.items():
        who = f": {', '.join(students)}" if len(sources) > 1 else ""
        yield f"  {counted(len(students), 'time')} {SOURCES[source]}{who}"
