"""The grading policy of a course: everything a verdict depends on beside the submission and the grader itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

from selfcheck.catalogue import Exercise, in_problem_set, modules_of
from selfcheck.verdict import ExerciseResult

from .digest import digest_of_parts
from .extra_checks import extra_checks


@dataclass(frozen=True)
class GradingPolicy:
    """What a grader needs to know of a course, on whatever machine it runs: it never sees the course folder.

    secret: decides the inputs of the hidden draws
    weights: exercise id and whole number, by which its points are multiplied: 1 where none is named, 0 leaves it out
    extra: module and source text of further hidden checks, in the form of those in autograder/answer_key/hidden
    """

    secret: bytes = field(repr=False)
    weights: tuple[tuple[str, int], ...] = ()
    extra: tuple[tuple[str, str], ...] = field(default=(), repr=False)

    @cached_property
    def digest(self) -> str:
        """Covers all of it, in hex; the order of weights and of modules makes no difference."""
        return digest_of_parts(self._parts())

    def _parts(self) -> Iterator[bytes]:
        yield self.secret
        weights = {name: weight for name, weight in self.weights if weight != 1}
        for name, weight in sorted(weights.items()):
            yield from (b"weight", name.encode(), str(weight).encode())
        for module, source in sorted(self.extra):
            yield from (b"extra", module.encode(), source.encode())

    def weight(self, exercise: Exercise) -> int:
        """What the points of an exercise are multiplied by."""
        return dict(self.weights).get(exercise.id, 1)

    def exercises(self, problem_set: str) -> list[Exercise]:
        """The exercises of a problem set that count, in order; KeyError where there is no such problem set."""
        return [exercise for exercise in in_problem_set(problem_set) if self.weight(exercise)]

    def of(self, problem_set: str) -> GradingPolicy:
        """The policy of one problem set: a change that concerns another one leaves it as it is."""
        ids, modules = {exercise.id for exercise in in_problem_set(problem_set)}, modules_of(problem_set)
        weights = tuple((name, weight) for name, weight in self.weights if name in ids)
        extra = tuple((module, source) for module, source in self.extra if module in modules)
        return replace(self, weights=weights, extra=extra)

    def with_points(self, exercise: Exercise) -> Exercise:
        """An exercise of the catalogue with its points under this policy."""
        weight = self.weight(exercise)
        if weight == 1 and not self.extra:
            return exercise
        hidden = exercise.hidden_points + sum(check.points for check in extra_checks(self.extra, exercise))
        points = {name: weight * most for name, most in exercise.points.items()}
        return replace(exercise, points=points, hidden_points=weight * hidden)

    def weigh(self, result: ExerciseResult) -> ExerciseResult:
        """The verdicts of an exercise with its points under this policy."""
        weight = self.weight(result.exercise)
        checks = result.checks
        weighed = (replace(check_result, points=check_result.points * weight, max_points=check_result.max_points * weight) for check_result in checks)
        return replace(result, checks=tuple(weighed))


DEFAULT_POLICY = GradingPolicy(b"")  # of what is made outside any course: every exercise counts once
