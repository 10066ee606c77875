"""What both forms of the class report say in the same words."""

from __future__ import annotations

from statistics import median

from ..course.durations import span
from ..course.printable import counted
from ..gradebook.scores import Score
from .attempts import BLANK, MISPACKED
from .similar import ALIKE, PUBLISHED, RUN, Group, Similarities
from .statistics import LEAST_LEARNERS, Distribution, interval
from .summary import ClassReport

SLOWEST = 5
#: What is told of a distribution, by its name there.
FIGURES = {
    "count": "learners",
    "mean": "mean",
    "deviation": "standard deviation",
    "least": "lowest",
    "lower": "lower quartile",
    "middle": "median",
    "upper": "upper quartile",
    "most": "highest",
}
TOKENS = 50  # about so many are needed for LEAST fingerprints


def how_compared(similar: Similarities) -> str:
    """What was compared, and what did not count."""
    return (
        "Compared is the structure of each module: names, comments, docstrings, annotations, imports and layout are "
        f"taken away. Passages of {RUN} tokens count unless they stand in the released stub, in the reference or with "
        f"more than {similar.common} learners; modules with fewer than about {TOKENS} tokens of their own are left "
        f"out. Alike are those where {ALIKE:.0%} of what the smaller one has of its own stands in the other too."
    )


def no_proof() -> str:
    """What it does not mean."""
    return (
        "That code is alike proves nothing: people who learn together, a page that several have read and an exercise "
        "with few ways to write it look the same, and code that was rewritten is not found. Read both, then ask."
    )


def who_is_published() -> str:
    """What the list of published answers means."""
    return (
        f"At least {PUBLISHED:.0%} of what these learners add to the stub stands, names aside, in the course's "
        "published solution."
    )


def alike(group: Group) -> str:
    """How alike the modules of a group are."""
    return "the same but for names and layout" if group.share == 1 else f"{group.share:.0%} or more"


def time_told(report: ClassReport) -> str:
    """What judging the class took."""
    if not report.seconds:
        return "The records hold no times."
    seconds = report.seconds.values()
    return (
        f"Judging took {median(seconds):.1f} s for the median submission, {max(seconds):.1f} s for the longest and "
        f"{sum(seconds):.0f} s for all, by the clock; several are judged side by side. It is the grader's time, "
        "not what learners spent."
    )


def what_is_timed() -> str:
    """Which exercises' seconds are known."""
    return (
        "Of the processor, counted for learners whose answers to the exercise had a process of their own: it trains a "
        "model, or something in it was not right."
    )


def handed_in_told(report: ClassReport) -> str:
    """How many handed in, and what of it says something about the exercises, in a line."""
    some = [f"{len(report.started)} started"]
    some += [f"{count} {kind}" for kind in (BLANK, MISPACKED) if (count := len(report.of_attempt(kind)))]
    some += [f"{len(report.ungraded)} not graded"] if report.ungraded else []
    came = counted(len(report.totals) + len(report.ungraded), "submission")
    absent = f"; {len(report.absent)} on the roster handed in nothing" if report.absent else ""
    return f"{came}: {', '.join(some)}{absent}"


def what_attempts_are() -> str:
    """What counts as blank and as mispackaged."""
    return (
        "Blank is a submission, or an exercise, that came back as it was handed out. Mispackaged is one whose module "
        "was not in what came, or whose code is in the notebook's cells. Both have no points, and no part in the pass "
        "rates, means and plots of points for code: they tell nothing of what is hard."
    )


def discrimination_told() -> str:
    """What the index of discrimination is, and where it is not given."""
    low, high = interval(0.3, LEAST_LEARNERS)
    return (
        "Discrimination is the point-biserial correlation between passing every check of an exercise and the points "
        "for code in all other exercises of the set, among those who started it (the exercise itself left out: "
        "Henrysson 1963, Psychometrika 28, 211–218). Near 0 or below: whoever passes did no better elsewhere, so "
        f"look at the exercise. It is not given for fewer than {LEAST_LEARNERS} learners, where chance decides (with "
        f"{LEAST_LEARNERS}, the 95 % interval of 0.30 reaches from {low:.2f} to {high:.2f}), nor where all or nobody "
        "pass."
    )


def figure(told: Distribution, name: str) -> str:
    """One of the figures of a distribution, with one digit behind the point where it is a mean."""
    value = getattr(told, name)
    if value is None:
        return "–"
    return f"{value:.1f}" if name in ("mean", "deviation") else f"{round(value, 2):g}"


def finals_told(report: ClassReport) -> str:
    """The points that count and who is late, in a line; "" where nothing is in the gradebook."""
    finals = report.finals
    if not finals:
        return ""
    most = max(score.max_points for score in report.scores.values())
    middle = f"mean {sum(finals) / len(finals):.1f}, median {median(finals):g} of {most:g} points that count"
    return f"{middle}; {len(report.late)} of {len(report.scores)} late"


def lateness(score: Score) -> str:
    """How late somebody was and what it cost; "" for nobody who was late."""
    taken = f"-{score.late_penalty:g}" if score.late_penalty else "nothing taken off"
    return f"{span(score.seconds_late)}: {taken}" if score.seconds_late > 0 else ""


def slowest(report: ClassReport) -> list[tuple[str, float]]:
    """The submissions that took longest to judge."""
    return sorted(report.seconds.items(), key=lambda item: (-item[1], item[0]))[:SLOWEST]
