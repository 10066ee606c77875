"""What the gradebook holds of one submission."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from . import late_penalty


@dataclass(frozen=True)
class GradebookEntry:
    """What the gradebook holds of one submission after it was entered: the log's line is made from it and the result.

    points, max_points: by the checks alone, before any penalty
    by_hand: marks given by hand, by the name of their cell; None where they cannot be seen
    late: what explains the late penalty (see late_penalty.KINDS); None where it cannot be seen
    """

    student: str
    problem_set: str
    points: float
    max_points: float
    by_hand: Mapping[str, float] | None = field(default_factory=dict)
    late: late_penalty.Facts | None = field(default_factory=dict)
