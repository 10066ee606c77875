"""What the gradebook holds of one submission."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from . import penalty_facts
from .overrides import Override


@dataclass(frozen=True)
class GradebookEntry:
    """What the gradebook holds of one submission after it was entered: the log's line is made from it and the result.

    points, max_points: by the checks alone, before any penalty
    by_hand: marks given by hand, by the name of their cell; None where they cannot be seen
    late: what explains the late penalty (see penalty_facts.KINDS); None where it cannot be seen
    overrides: marks given by hand in place of an exercise's points
    score: by the gradebook, marks given by hand included, before the penalty; None where it cannot be seen
    """

    student: str
    problem_set: str
    points: float
    max_points: float
    by_hand: Mapping[str, float] | None = field(default_factory=dict)
    late: penalty_facts.Facts | None = field(default_factory=dict)
    score: float | None = None
    overrides: tuple[Override, ...] = ()

    @property
    def final(self) -> float:
        """The points that count: marks given by hand included, the late penalty taken off."""
        score = self.points if self.score is None else self.score
        return max(0.0, score - (self.late or {}).get("penalty", 0.0))
