"""The class report as one page of HTML that asks nobody for anything and runs nothing."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from selfcheck.verdict import FAILED, SKIPPED

from ..console import remarks_line
from ..course.printable import counted, printable, printable_line
from .plots import binned, histogram, horizontal_bars
from .summary import ClassReport, Met
from .words import alike, how_compared, no_proof, slowest, time_told, what_is_timed, who_is_published

MOST_PLOTTED = 10  # misconceptions
MOST_REASONS, MOST_REASON = 30, 400  # to look at one submission, and characters of each
STYLE = """
:root{color-scheme:light}
body{font:1rem/1.5 system-ui,sans-serif;max-width:64rem;margin:0 auto;padding:1rem;color:#1c1c1c;background:#fff}
h1{font-size:1.7rem;line-height:1.2}h2{font-size:1.3rem;margin-top:2.5rem;border-bottom:2px solid #1f6f8b}
a{color:#0b5394}a:focus-visible,.wide:focus-visible{outline:3px solid #0b5394;outline-offset:2px}
nav ul{padding:0;list-style:none;display:flex;flex-wrap:wrap;gap:.3rem 1.2rem}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.2rem 1rem}dt{font-weight:600}dd{margin:0}
figure{margin:1rem 0}figcaption,caption{font-weight:600;text-align:left;padding:.3rem 0}
svg{width:100%;max-width:30rem;height:auto}svg text{font:12px system-ui,sans-serif;fill:#1c1c1c}
svg .middle{text-anchor:middle}svg .small{font-size:10px}svg .bar{fill:#1f6f8b}svg .track{fill:#e4e9eb}
svg line{stroke:#1c1c1c}
.wide{overflow-x:auto}table{border-collapse:collapse;margin:.5rem 0 1rem;min-width:15rem}
th code{overflow-wrap:anywhere}
th,td{border:1px solid #8a9499;padding:.25rem .6rem;text-align:left;vertical-align:top}
thead th{background:#e4e9eb}tbody th{font-weight:400}th.group{background:#f3f6f7;font-weight:600}
td.number,th.number{text-align:right;white-space:nowrap}
.note{border-left:4px solid #8a5a00;padding-left:.8rem}
@media(max-width:30rem){th,td{padding:.2rem .35rem;font-size:.88rem}}
@media print{body{max-width:none;font-size:10pt;padding:0}nav{display:none}.wide{overflow:visible}
tr,figure{break-inside:avoid}h2{break-after:avoid}a{color:inherit}}
"""
PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Class report {name}</title>
<style>{style}</style>
</head>
<body>
<main>
<h1>Class report {name}</h1>
{content}
</main>
</body>
</html>
"""


def write_html(report: ClassReport, target: Path) -> None:
    """Write the page; everything in it that came from a learner is made printable and escaped."""
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(page(report), encoding="utf-8")


def page(report: ClassReport) -> str:
    """The page's text."""
    parts = [
        ("points", "Points", _points(report)),
        ("exercises", "Exercises", _exercises(report)),
        ("misconceptions", "Misconceptions", _misconceptions(report)),
        ("look", "To look at", _to_look_at(report)),
        ("alike", "Code that is alike", _alike(report)),
        ("mechanisms", "Mechanisms", _mechanisms(report)),
        ("time", "Time", _time(report)),
        ("learners", "Learners", _learners(report)),
    ]
    links = "".join(f'<li><a href="#{name}">{title}</a></li>' for name, title, _ in parts)
    sections = "\n".join(
        f'<section><h2 id="{name}">{title}</h2>\n{content}</section>' for name, title, content in parts
    )
    content = f'{_summary(report)}\n<nav aria-label="Contents"><ul>{links}</ul></nav>\n{sections}'
    return PAGE.format(name=_text(report.problem_set), style=STYLE, content=content)


def _summary(report: ClassReport) -> str:
    isolation = ", ".join(sorted(report.isolation)) or "unknown"
    facts = [
        ("graded", f"{counted(len(report.totals), 'submission')}, isolation: {isolation}"),
        ("points for code", f"mean {report.mean:.1f}, median {report.median:g}, of {report.max_points}"),
        ("to look at", counted(len(report.to_look_at()), "submission")),
    ]
    rows = "".join(f"<dt>{name}</dt><dd>{_text(told)}</dd>" for name, told in facts)
    warning = ""
    if len(report.graders) > 1:
        warning = (
            f'<p class="note">These grades come from {len(report.graders)} versions of the grader: '
            "run <code>grade</code> to bring them to one.</p>"
        )
    return (
        f"<dl>{rows}</dl>{warning}<p>For instructors: the page names learners, and says what hidden checks see. "
        "Written questions are not in it.</p>"
    )


def _points(report: ClassReport) -> str:
    if not report.totals:
        return "<p>Nobody has points yet.</p>"
    bins = binned([points for points, _ in report.totals.values()], report.max_points)
    figure = histogram("plot-points", f"Learners by points, of {report.max_points}", bins)
    table = _table("Learners by points", ("points", "learners"), ((label, _number(count)) for label, count in bins))
    return f"{_figure(figure, 'How many learners have so many points')}{table}"


def _exercises(report: ClassReport) -> str:
    rows = [
        (f"{one.number} {one.exercise.title}", one.rate, _of(one.passed, len(one.points))) for one in report.exercises
    ]
    figure = horizontal_bars("plot-exercises", "Learners who pass every check, by exercise", rows)
    table = _table(
        "Passes and points by exercise",
        ("exercise", "pass every check", "mean points", "of"),
        (
            (
                f"{one.number} {_text(one.exercise.title)} (<code>{_text(one.exercise.symbol)}</code>)",
                _number(_of(one.passed, len(one.points))),
                _number(f"{one.mean:.1f}"),
                _number(one.max_points),
            )
            for one in report.exercises
        ),
    )
    return f"{_figure(figure, 'Learners who pass every check')}{table}"


def _mechanisms(report: ClassReport) -> str:
    bodies = []
    for one in report.exercises:
        rows = [
            (
                _text(check.sees) + (" <em>(hidden)</em>" if check.hidden else ""),
                _number(f"{100 * check.rate:.0f} %"),
                *(_number(check.verdicts[verdict]) for verdict in (FAILED, SKIPPED)),
            )
            for check in one.checks.values()
        ]
        title = f"{one.number} {_text(one.exercise.title)}"
        bodies.append(
            f'<tbody><tr><th class="group" colspan="4" scope="rowgroup">{title}</th></tr>{_rows(rows)}</tbody>'
        )
    about = (
        "<p>Each check sees one mechanism. It is skipped where it builds on something else that fails; the pass rate "
        "is that of all learners.</p>"
    )
    heads = ("what the check sees", "pass", "fail", "skipped")
    return about + _wrapped("Checks by exercise", f"{_head(heads)}{''.join(bodies)}")


def _misconceptions(report: ClassReport) -> str:
    met = report.met
    if not met:
        return "<p>No answer was one of the wrong answers that have a name.</p>"
    top, most = met[:MOST_PLOTTED], met[0].count
    rows = [(f"{one.exercise.number} {one.id}", one.count / most, str(one.count)) for one in top]
    title = "Learners with a misconception" + (f", the {len(top)} most frequent" if len(met) > len(top) else "")
    figure = horizontal_bars("plot-misconceptions", title, rows)
    heads = ("misconception", "learners", "what a learner reads, and where to reread")
    table = _table("Misconceptions by frequency", heads, map(_met_row, met))
    return f"{_figure(figure, title)}{table}"


def _met_row(one: Met) -> tuple[str, ...]:
    message = re.sub(r"`([^`]+)`", r"<code>\1</code>", _text(one.message))
    if one.reread:
        message += f' <a href="{html.escape(one.reread.address)}">{_text(one.reread.name)}</a>'
    return (f"{one.exercise.number} <code>{_text(one.id)}</code>", _number(one.count), message)


def _to_look_at(report: ClassReport) -> str:
    found = report.to_look_at()
    if not found:
        return "<p>Nothing was odd.</p>"
    rows = (
        (_learner(student), _text(remarks_line(reasons, MOST_REASONS, MOST_REASON)))
        for student, reasons in found.items()
    )
    return _table("Submissions that need a look", ("learner", "why"), rows)


def _alike(report: ClassReport) -> str:
    parts = [f"<p>{_text(text)}</p>" for text in (how_compared(report.similar), no_proof())]
    rows = (
        (f"<code>{_text(group.module)}.py</code>", ", ".join(map(_learner, group.students)), _text(alike(group)))
        for group in report.similar.groups
    )
    if report.similar.groups:
        parts.append(_table("Modules that are alike", ("module", "learners", "how alike"), rows))
    else:
        parts.append("<p>No two modules are alike.</p>")
    if report.similar.published:
        parts.append(f"<p>{_text(who_is_published())}</p>")
        named = (
            (f"<code>{_text(name)}.py</code>", ", ".join(map(_learner, who))) for name, who in report.similar.published
        )
        parts.append(_table("Modules that are the published solution", ("module", "learners"), named))
    if report.similar.unread:
        parts.append(
            f"<p>Not compared, for Python cannot read a module, or it is too long: "
            f"{', '.join(map(_learner, report.similar.unread))}.</p>"
        )
    return "".join(parts)


def _time(report: ClassReport) -> str:
    parts = [f"<p>{_text(time_told(report))}</p>"]
    if report.seconds:
        rows = ((_learner(one), _number(f"{seconds:.1f}"), *_used(report, one)) for one, seconds in slowest(report))
        heads = ("learner", "seconds", "of the processor", "MiB at most")
        parts.append(_table("The submissions that took longest", heads, rows))
    timed = [one for one in report.exercises if one.seconds]
    if timed:
        rows = (
            (
                f"{one.number} {_text(one.exercise.title)}",
                _number(f"{sum(one.seconds) / len(one.seconds):.2f}"),
                _number(f"{max(one.seconds):.2f}"),
            )
            for one in timed
        )
        parts.append(f"<p>{_text(what_is_timed())}</p>")
        parts.append(_table("Seconds per exercise", ("exercise", "mean", "longest"), rows))
    return "".join(parts)


def _used(report: ClassReport, student: str) -> tuple[_Number, _Number]:
    """What the submission itself took, as cells; empty where its record does not say."""
    if student not in report.used:
        return _number(""), _number("")
    seconds, mib = report.used[student]
    return _number(f"{seconds:.1f}"), _number(f"{mib:.0f}")


def _learners(report: ClassReport) -> str:
    rows = (
        (
            _learner(student),
            _number(points),
            _number(most),
            _number(f"{report.seconds[student]:.1f}") if student in report.seconds else "",
        )
        for student, (points, most) in sorted(report.totals.items())
    )
    return _table("Points for code", ("learner", "points", "of", "seconds"), rows)


class _Number(str):
    """A cell that is set to the right."""


def _number(value: object) -> _Number:
    return _Number(value)


def _text(text: str) -> str:
    return html.escape(printable(text, keep=""))


def _learner(student: str) -> str:
    return f"<bdi>{_text(printable_line(student, MOST_REASON))}</bdi>"


def _of(count: int, whole: int) -> str:
    return f"{count} of {whole} ({100 * count / whole:.0f} %)" if whole else "0 of 0"


def _figure(drawing: str, caption: str) -> str:
    return f"<figure><figcaption>{_text(caption)}</figcaption>{drawing}</figure>\n"


def _table(caption: str, heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return _wrapped(caption, f"{_head(heads)}<tbody>{_rows(rows)}</tbody>")


def _head(heads: Sequence[str]) -> str:
    return "<thead><tr>" + "".join(f'<th scope="col">{_text(one)}</th>' for one in heads) + "</tr></thead>"


def _rows(rows: Iterable[Sequence[str]]) -> str:
    """Rows of cells that are HTML already: the first of each names it."""
    return "\n".join(
        f'<tr><th scope="row">{first}</th>'
        + "".join(f'<td class="number">{one}</td>' if isinstance(one, _Number) else f"<td>{one}</td>" for one in others)
        + "</tr>"
        for first, *others in rows
    )


def _wrapped(caption: str, content: str) -> str:
    """A table that scrolls by itself where it is too wide; a keyboard reaches it."""
    label = _text(caption)
    return (
        f'<div class="wide" role="group" tabindex="0" aria-label="{label}">'
        f"<table><caption>{label}</caption>{content}</table></div>\n"
    )
