"""The class report for a terminal."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from selfcheck.verdict import PASSED

from ..console import plain, remarks_line
from ..course.printable import counted, printable_line
from .summary import ClassReport, ExerciseSummary
from .words import alike, finals_told, handed_in_told, lateness, no_proof, time_told

MOST_LISTED = 12
MOST_NAMED, MOST_BEHIND = 6, 3  # learners in a list, behind a misconception
MOST_ID = 40  # characters of a learner's id
BAR = 8


def rendered(report: ClassReport) -> RenderableType:
    """What rich prints: a table of exercises, then lists, the longest of them cut short."""
    parts: list[RenderableType] = [*_first_lines(report), _exercises(report)]
    if report.met:
        parts.append(_misconceptions(report))
    looks = [
        f"{printable_line(student, MOST_ID)}: {remarks_line(reasons)}"
        for student, reasons in report.to_look_at().items()
    ]
    parts += _list("Handed in nothing:", [_names(tuple(report.missing))] if report.missing else [])
    parts += _list(
        "Late:", [f"{_names((score.student,))} {lateness(score)}, {score.final:g} count" for score in report.late]
    )
    parts += _list("To look at:", looks)
    groups = [f"{group.module}.py: {_names(group.students)} ({alike(group)})" for group in report.similar.groups]
    parts += _list("Code that is alike:", groups)
    if groups:
        parts.append(_indented(no_proof()))
    published = [f"{module}.py: {_names(students)}" for module, students in report.similar.published]
    parts += _list("The published solution, names aside:", published)
    parts.append(plain(time_told(report)))
    return Group(*parts)


def _first_lines(report: ClassReport) -> list[RenderableType]:
    isolation = ", ".join(sorted(report.isolation)) or "unknown"
    points = f"mean {report.mean:.1f}, median {report.median:g} of {report.max_points} points for code"
    lines = [f"{report.problem_set}: {counted(len(report.totals), 'submission')}, isolation {isolation}"]
    if len(report.started) < len(report.totals) or report.absent:
        lines.append(handed_in_told(report))
        points += ", of those who started"
    lines.append(points)
    lines += filter(None, [finals_told(report)])
    if len(report.graders) > 1:
        lines.append(f"graded by {len(report.graders)} versions of the grader: run grade")
    stale = [Text(f"Not up to date: {report.stale}", style="bold red")] if report.stale else []
    return [*stale, *(plain(line) for line in lines)]


def _exercises(report: ClassReport) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("exercise", no_wrap=True, overflow="ellipsis", max_width=24)
    table.add_column("pass all", no_wrap=True)
    table.add_column("mean", justify="right", no_wrap=True)
    table.add_column("least passed")
    for summary in report.exercises:
        filled = round(BAR * summary.rate)
        bar = "█" * filled + "░" * (BAR - filled)
        table.add_row(
            plain(f"{summary.number} {summary.exercise.symbol}"),
            f"{bar} {len(summary.passed)}/{len(summary.points)}",
            f"{summary.mean:.1f}/{summary.max_points}",
            plain(_hardest(summary)),
        )
    return table


def _hardest(summary: ExerciseSummary) -> str:
    """The mechanism that fewest pass; "" where everybody passes all."""
    worst = min(summary.checks.values(), key=lambda check: check.rate, default=None)
    if worst is None or worst.rate == 1:
        return ""
    return f"{worst.verdicts[PASSED]}/{worst.of} {worst.sees}"


def _misconceptions(report: ClassReport) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("learners", justify="right")
    table.add_column("misconception")
    table.add_column("reread")
    table.add_column("who")
    for met in report.met[:MOST_LISTED]:
        who = _names(met.students, MOST_BEHIND)
        table.add_row(str(met.count), plain(f"{met.exercise.number} {met.id}"), plain(met.reread), plain(who))
    if len(report.met) > MOST_LISTED:
        table.add_row("", plain(f"and {len(report.met) - MOST_LISTED} more: on the page"), "", "")
    return table


def _list(title: str, lines: list[str]) -> list[RenderableType]:
    if not lines:
        return []
    more = [f"and {len(lines) - MOST_LISTED} more: on the page"] if len(lines) > MOST_LISTED else []
    return [Text(title), *map(_indented, lines[:MOST_LISTED] + more)]


def _indented(line: str) -> RenderableType:
    return Padding.indent(plain(line), 2)


def _names(students: tuple[str, ...], most: int = MOST_NAMED) -> str:
    more = [f"and {len(students) - most} more"] if len(students) > most else []
    return ", ".join([*(printable_line(student, MOST_ID) for student in students[:most]), *more])
