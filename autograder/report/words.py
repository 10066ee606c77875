"""What both forms of the class report say in the same words."""

from __future__ import annotations

from statistics import median

from ..course.durations import span
from ..gradebook.scores import Score
from .similar import ALIKE, PUBLISHED, RUN, Group, Similarities
from .summary import ClassReport

SLOWEST = 5
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
    return f"{span(score.seconds_late)}: -{score.late_penalty:g}" if score.seconds_late > 0 else ""


def slowest(report: ClassReport) -> list[tuple[str, float]]:
    """The submissions that took longest to judge."""
    return sorted(report.seconds.items(), key=lambda item: (-item[1], item[0]))[:SLOWEST]
