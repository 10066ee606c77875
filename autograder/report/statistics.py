"""The figures of a class: how points are distributed, and how an exercise tells learners apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import StatisticsError, correlation, mean, median, quantiles, stdev

from .summary import ClassReport, ExerciseSummary

LEAST_LEARNERS = 20  # below it, an index of discrimination says little: see words.discrimination_told


@dataclass(frozen=True)
class Distribution:
    """How points are distributed: count, mean, standard deviation (of a sample; None of one), and five numbers."""

    count: int
    mean: float
    deviation: float | None
    least: float
    lower: float
    middle: float
    upper: float
    most: float


def distribution(values: Sequence[float]) -> Distribution | None:
    """Of these points; None of none. Quartiles are those of the values themselves, interpolated ("inclusive")."""
    if not values:
        return None
    lower, middle, upper = quantiles(values, n=4, method="inclusive") if len(values) > 1 else [values[0]] * 3
    deviation = stdev(values) if len(values) > 1 else None
    return Distribution(len(values), mean(values), deviation, min(values), lower, median(values), upper, max(values))


def discrimination(report: ClassReport, summary: ExerciseSummary) -> float | None:
    """The point-biserial correlation between passing an exercise and the points for all other exercises.

    Of the learners who started the exercise. The exercise itself is left out of the points, or it would correlate with
    itself (Henrysson 1963). None for fewer than LEAST_LEARNERS, where all or nobody passes, and where the rest does not
    vary.
    """
    students = sorted(summary.points)
    if len(students) < LEAST_LEARNERS:
        return None
    rest = [report.totals[student][0] - summary.points[student] for student in students]
    passed = set(summary.passed)
    try:
        return correlation([float(student in passed) for student in students], [float(points) for points in rest])
    except StatisticsError:  # one of the two is the same for all
        return None


@dataclass(frozen=True)
class SectionFigures:
    """A section of the roster: who handed in, who late, and the points that count of whoever is graded."""

    name: str
    learners: int
    handed_in: int
    late: int
    finals: Distribution | None


def sections(report: ClassReport) -> list[SectionFigures]:
    """The sections of the roster; none where it names none."""
    names = sorted({score.section for score in [*report.scores.values(), *report.absent] if score.section})
    return [_section(report, name) for name in names]


def _section(report: ClassReport, name: str) -> SectionFigures:
    present = [score for score in report.scores.values() if score.section == name]
    absent = [score for score in report.absent if score.section == name]
    late = sum(score.seconds_late > 0 for score in present)
    finals = distribution([score.final for score in present if score.graded])
    return SectionFigures(name, len(present) + len(absent), len(present), late, finals)


def interval(r: float, count: int) -> tuple[float, float]:
    """The 95 % interval of a correlation among so many, by Fisher's transformation."""
    from math import atanh, tanh

    middle, width = atanh(r), 1.96 / sqrt(count - 3)
    return tanh(middle - width), tanh(middle + width)
