"""The class report as one self-contained, script-free page of HTML."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from selfcheck.atomic_files import write_atomically
from selfcheck.verdict import FAILED, SKIPPED

from ..console import remarks_line
from ..course.printable import counted, printable, printable_line
from . import words
from .bins import binned
from .summary import ClassReport

MOST_PLOTTED = 10  # misconceptions
MOST_REASONS, MOST_REASON = 30, 400  # to look at one submission, and characters of each
SECTIONS = {
    "points": "Points",
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
            bins=binned([points for points, _ in report.totals.values()], report.max_points),
            passes=[
                (
                    f"{summary.number} {summary.exercise.title}",
                    summary.rate,
                    share_of(summary.passed, len(summary.points)),
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


def _environment() -> Environment:
    """Templates in which whatever stands in double braces is made printable and then escaped."""
    environment = Environment(
        loader=PackageLoader("autograder.report"),
        autoescape=True,
        finalize=_printable,
        undefined=StrictUndefined,
        trim_blocks=True,
    )
    environment.filters |= {"one_line": lambda text: printable_line(text, MOST_REASON), "with_code": with_code}
    environment.globals |= {"words": words, "counted": counted, "share_of": share_of}
    environment.globals |= {"FAILED": FAILED, "SKIPPED": SKIPPED}
    return environment


def _printable(value: Any) -> Any:
    """Text in one line without control or direction characters; markup, which only templates make, as it is."""
    return printable(value, keep="") if isinstance(value, str) and not isinstance(value, Markup) else value


def with_code(message: str) -> Markup:
    """A message in which what stands between backticks is set as code."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(printable(message, keep="")))))


def share_of(count: int, whole: int) -> str:
    """ "3 of 4 (75 %)"."""
    return f"{count} of {whole} ({100 * count / whole:.0f} %)" if whole else "0 of 0"
