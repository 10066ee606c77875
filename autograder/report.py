"""The class report of a problem set: how each exercise went, which misconceptions were met, who needs a look."""

from __future__ import annotations

import html
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from selfcheck.catalogue import in_problem_set

from .course import Course
from .printable import printable_line
from .records import read_record
from .tables import MOST_REMARK, remarks_line


@dataclass
class ExerciseSummary:
    """How a class did on one exercise."""

    id: str
    number: str
    title: str
    max_points: int
    points: list[int] = field(default_factory=list)
    failed: Counter = field(default_factory=Counter)  # what a check sees → learners who failed it
    misconceptions: Counter = field(default_factory=Counter)

    @property
    def full_marks(self) -> int:
        return sum(one == self.max_points for one in self.points)

    @property
    def mean(self) -> float:
        return sum(self.points) / len(self.points) if self.points else 0.0


@dataclass
class ClassReport:
    """A problem set over the whole class."""

    problem_set: str
    exercises: list[ExerciseSummary]
    totals: dict[str, tuple[int, int]]  # student → points, maximum
    looks: dict[str, list[str]]  # student → why the instructor should look
    isolation: set[str]


def class_report(course: Course, problem_set: str) -> ClassReport:
    """The report, from the verdicts on file; FileNotFoundError where nothing was graded yet."""
    found = {path.stem: read_record(path) for path in sorted((course.root / "results" / problem_set).glob("*.json"))}
    records = [record for record in found.values() if record]
    if not records:
        raise FileNotFoundError(f"nothing of {problem_set} is graded in {course.root}: run grade {problem_set} first")
    summaries = {
        one.id: ExerciseSummary(one.id, one.number, one.title, one.max_points) for one in in_problem_set(problem_set)
    }
    totals = {}
    looks = {student: ["the record is damaged: run grade again"] for student, record in found.items() if not record}
    for record in records:
        student = record["student"]
        for exercise in record["exercises"]:
            _count(summaries[exercise["id"]], exercise)
        totals[student] = (
            sum(exercise["points"] for exercise in record["exercises"]),
            sum(exercise["max_points"] for exercise in record["exercises"]),
        )
        reasons = list(record["remarks"])
        if record["grader_error"]:
            reasons.append("the grader failed: not graded")
        if reasons:
            looks[student] = reasons
    return ClassReport(
        problem_set, list(summaries.values()), totals, looks, {record["isolation"] for record in records}
    )


def _count(summary: ExerciseSummary, exercise: dict[str, Any]) -> None:
    summary.points.append(exercise["points"])
    for check in exercise["checks"]:
        if check["verdict"] == "failed":
            summary.failed[check["sees"]] += 1
    summary.misconceptions.update({one["misconception"] for one in exercise["checks"] if one["misconception"]})


def as_text(report: ClassReport) -> str:
    """The report for a terminal."""
    lines = [f"{report.problem_set}: {len(report.totals)} submissions, isolation {', '.join(sorted(report.isolation))}"]
    for one in report.exercises:
        full = f"{one.full_marks} of {len(one.points)} full marks"
        lines.append(f"  {one.number} {one.id}: {full}, mean {one.mean:.1f} of {one.max_points}")
        lines += [f"      {count} × {name}" for name, count in one.misconceptions.most_common()]
    if report.looks:
        lines.append("  to look at:")
        lines += [
            f"      {printable_line(student, MOST_REMARK)}: {remarks_line(reasons)}"
            for student, reasons in sorted(report.looks.items())
        ]
    return "\n".join(lines)


def write_html(report: ClassReport, target: Path) -> None:
    """The report as one self-contained page; everything in it that came from a learner is escaped."""
    target.parent.mkdir(parents=True, exist_ok=True)
    rows = "".join(_exercise_row(one) for one in report.exercises)
    scores = "".join(
        f"<tr><th scope='row'>{html.escape(printable_line(student, MOST_REMARK))}</th><td>{points}</td><td>{most}</td>"
        f"<td>{html.escape(remarks_line(report.looks.get(student, [])))}</td></tr>"
        for student, (points, most) in sorted(report.totals.items())
    )
    isolation = html.escape(", ".join(sorted(report.isolation)))
    target.write_text(
        f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Class report {html.escape(report.problem_set)}</title>
<style>body{{font:16px/1.5 sans-serif;max-width:70em;margin:2em auto;padding:0 1em;color:#222;background:#fff}}
table{{border-collapse:collapse;margin:1em 0}}
th,td{{border:1px solid #aaa;padding:.3em .6em;text-align:left;vertical-align:top}}
meter{{width:6em}} .wide{{overflow-x:auto}} summary{{cursor:pointer}}</style></head><body>
<h1>Class report {html.escape(report.problem_set)}</h1>
<p>{len(report.totals)} submissions, graded with isolation: {isolation}.</p>
<div class="wide"><table><caption>Exercises</caption><tr><th scope="col">exercise</th><th scope="col">full marks</th>
<th scope="col">mean</th><th scope="col">misconceptions met</th><th scope="col">checks failed</th></tr>
{rows}</table></div>
<div class="wide"><table><caption>Submissions</caption><tr><th scope="col">student</th><th scope="col">points</th>
<th scope="col">of</th><th scope="col">to look at</th></tr>{scores}</table></div>
</body></html>
""",
        encoding="utf-8",
    )


def _exercise_row(one: ExerciseSummary) -> str:
    wrong = "<br>".join(f"{count} × {html.escape(name)}" for name, count in one.misconceptions.most_common())
    failed = "<br>".join(f"{count} × {html.escape(sees)}" for sees, count in one.failed.most_common())
    if failed:
        failed = f"<details><summary>{len(one.failed)} checks</summary>{failed}</details>"
    share = one.full_marks / len(one.points) if one.points else 0
    label = f"{one.full_marks} of {len(one.points)}"
    return (
        f"<tr><th scope='row'>{one.number} {html.escape(one.title)}</th>"
        f"<td><meter value='{share:.3f}' aria-label='{label} full marks'></meter> {label}</td>"
        f"<td>{one.mean:.1f} of {one.max_points}</td><td>{wrong}</td><td>{failed}</td></tr>"
    )
