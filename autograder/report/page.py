"""The class report as one self-contained, script-free page of HTML."""

from __future__ import annotations

from pathlib import Path

from jinja2 import Environment

from selfcheck.atomic_files import write_atomically
from selfcheck.verdict import FAILED, PASSED, SKIPPED

from ..console import remarks_line
from ..course.printable import printable_line
from ..gradebook.html_templates import environment
from . import words
from .attempts import BLANK, MISPACKED
from .bins import binned
from .statistics import Distribution, discrimination, distribution, sections
from .summary import ClassReport

MOST_PLOTTED = 10  # misconceptions
MOST_REASONS, MOST_REASON = 30, 400  # to look at one submission, and characters of each
SECTIONS = {
    "handed-in": "Who handed in",
    "points": "Points",
    "late": "Lateness",
    "sections": "Sections",
    "exercises": "Exercises",
    "misconceptions": "Misconceptions",
    "look": "To look at",
    "alike": "Code that is alike",
    "mechanisms": "Mechanisms",
    "time": "Time",
    "learners": "Learners",
}


def write_html(report: ClassReport, target: Path) -> None:
    """Write the page; everything in it that came from a learner is made printable and escaped."""
    write_atomically(target, page(report))


def page(report: ClassReport) -> str:
    """The page's text."""
    met = report.met
    return (
        _environment()
        .get_template("page.html.jinja")
        .render(
            report=report,
            sections=SECTIONS,
            looks={
                student: remarks_line(reasons, MOST_REASONS, MOST_REASON)
                for student, reasons in report.to_look_at().items()
            },
            points=_points(report),
            parts=sections(report),
            discriminations={summary.id: discrimination(report, summary) for summary in report.exercises},
            passes=[
                (
                    f"{summary.number} {summary.exercise.title}",
                    summary.rate,
                    share_of(len(summary.passed), len(summary.points)),
                )
                for summary in report.exercises
            ],
            frequent=[
                (
                    f"{misconception.exercise.number} {misconception.id}",
                    misconception.count / met[0].count,
                    str(misconception.count),
                )
                for misconception in met[:MOST_PLOTTED]
            ],
            timed=[summary for summary in report.exercises if summary.seconds],
        )
    )


def _points(report: ClassReport) -> list[tuple[str, str, float, list[tuple[str, int]], Distribution | None]]:
    """What there is to plot of points: a name, which they are, the most, how many in each bin, the figures."""
    figures = []
    most = max((score.max_points for score in report.scores.values()), default=0.0)
    for name, told, values, top in (
        (
            "code",
            "for code, of those who started",
            [float(points) for points in report.started.values()],
            report.max_points,
        ),
        ("final", "that count, of everybody graded", report.finals, most),
    ):
        if values:
            bins = binned([min(value, top) for value in values], round(top))
            figures.append((name, told, top, bins, distribution(values)))
    return figures


def _environment() -> Environment:
    made = environment("autograder.report")
    made.filters["one_line"] = lambda text: printable_line(text, MOST_REASON)
    made.globals |= {"words": words, "share_of": share_of, "BLANK": BLANK, "MISPACKED": MISPACKED}
    made.globals |= {"PASSED": PASSED, "FAILED": FAILED, "SKIPPED": SKIPPED}
    return made


def share_of(count: int, whole: int) -> str:
    """ "3 of 4 (75 %)"."""
    return f"{count} of {whole} ({100 * count / whole:.0f} %)" if whole else "0 of 0"
