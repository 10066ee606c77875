"""The command that shows the log of a course."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from ..console import console, plain, show
from ..course.faults import unforeseen
from ..course.folder import Course
from ..course.printable import counted, printable_line
from .course import course_command

if TYPE_CHECKING:
    from ..gradebook.log_chain import Chain, Event, Line

MOST = 300  # characters of a text
MOST_WHYS, MOST_WHY = 40, 3000  # reasons and changes of one event, and characters of each
MINUTE = len("2030-01-01T12:00")


@course_command
@click.option("--student", help="Only what concerns this one.")
@click.option("--check", is_flag=True, help="Look for lines that were changed or lost; exit with 1 if there are.")
def log(course: Course, problem_set: str, student: str | None, check: bool) -> None:
    """Show who got what for PS, when, and why it changed."""
    from ..gradebook.audit_log import read_log

    lines, chain = read_log(course)
    events = [line.event for line in lines if line.event and line.event["problem_set"] == problem_set]
    chosen = [event for event in events if student in (None, event["student"])]
    if chosen:
        _show(problem_set, chosen)
        for run in dict.fromkeys(map(_run, chosen)):
            show(run)
    else:
        show(f"nothing is logged of {printable_line(student, MOST) + ' in ' if student else ''}{problem_set}")
    for line in lines:
        if line.trouble:
            show(line.trouble, style="red")
    if check:
        _check(course, problem_set, lines, chain)


def _show(problem_set: str, events: list[Event]) -> None:
    """A line on each event, and below it why; an id is never broken where the terminal has room for it."""
    show(f"{problem_set}: {counted(len(events), 'event')}, times in UTC")
    for event in events:
        try:
            head, whys = _head(event), [*event["why"], *_changes(event), *_mistakes(event)]
        except Exception as error:  # what nobody foresaw in one event hides no other
            head, whys = printable_line(event["student"], MOST), [f"this event cannot be shown: {unforeseen(error)}"]
        more = [f"and {len(whys) - MOST_WHYS} more"] if len(whys) > MOST_WHYS else []
        show(head)
        show("    " + "; ".join([*(printable_line(why, MOST_WHY) for why in whys[:MOST_WHYS]), *more]))


def _head(event: Event) -> str:
    """When somebody got how many points, and in which run."""
    when = event["time"][:MINUTE].replace("T", " ")
    return printable_line(f"{when}  {event['student']}  {_points(event)}  run {event['run']}", MOST)


def _run(event: Event) -> str:
    """Who graded by what in the event's run."""
    by = f"grader {event['grader']}, secret {event['secret']}, {event['isolation']}"
    return printable_line(f"run {event['run']} of {event['user']}: {by}", MOST)


def _points(event: Event) -> str:
    before, after = event["points"]
    final = event["final"]
    counts = "" if final in (None, after) else f"; {final:g} count"
    return f"{'' if before is None else f'{before:g} → '}{after:g} of {event['of']:g}{counts}"


def _changes(event: Event) -> Iterator[str]:
    """What became of each exercise and each mark, where there was something before."""
    if event["points"][0] is None:
        return
    for name, (before, after) in [*event["exercises"].items(), *event["by_hand"].items()]:
        yield f"{name} {_value(before)} → {_value(after)}"


def _mistakes(event: Event) -> Iterator[str]:
    """Which misconceptions the verdicts named."""
    for name, mistakes in event["mistakes"].items():
        yield f"{name}: named {', '.join(mistakes)}"


def _value(value: Any) -> str:
    return "none" if value is None else f"{value:g}" if isinstance(value, int | float) else "?"


def _unlogged(course: Course, problem_set: str, chain: Chain) -> Iterator[str]:
    """Results on file that are not what was logged last."""
    from ..judge.cache import read_result

    for path in sorted((course.root / "results" / problem_set).glob("*.json")):
        result = read_result(path)
        if result is None or result.grader_error:
            continue
        standing = chain.standings.get((result.student, problem_set))
        if standing is None or not standing.holds(result):
            name = printable_line(result.student, MOST)
            yield f"{name}: the record on file is not what was logged last; run grade, and compare if it stays so"


def _check(course: Course, problem_set: str, lines: list[Line], chain: Chain) -> None:
    """RuntimeError where lines were changed or lost, or a record is not logged."""
    unlogged = list(_unlogged(course, problem_set, chain))
    for trouble in unlogged:
        show(trouble, style="red")
    breaks = sum(line.breaks for line in lines)
    if breaks or unlogged:
        counts = counted(breaks, "break"), counted(len(lines), "line"), counted(len(unlogged), "record")
        raise RuntimeError("{} in the {} of the log, {} not in it".format(*counts))
    console.print(plain(f"the log is whole: {counted(len(lines), 'line')}, the digest of the last is {chain.digest}"))
