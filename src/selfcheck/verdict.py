"""Turns answers into verdicts: per check passed, failed or skipped, with points and the message a learner reads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .catalogue import Exercise
from .compare import Answer, Difference
from .diagnose import Key, diagnose, first_difference
from .reach import builds_on

#: What a stub, whose argument checks stand, or an answer that looks at nothing gets right.
GIVEN = {"error", "dtype", "unchanged", "kept", "generator", "memory"}
MOST_MESSAGE = 1500  # characters
#: What a learner reads of a draw that is not shown, by kind of difference: the code that met its inputs has no word in
#: it, or it would tell them.
UNTOLD = {
    "missing": "it is not there",
    "not started": "not started yet",
    "import": "the module cannot be imported",
    "raised": "your code raised an exception for inputs that are not shown: try others than the visible ones",
    "no error": "this call cannot be answered and should raise an exception, but an answer came back",
    "structure": "the answer has not the expected form",
    "shape": "the answer has not the expected shape",
    "dtype": "the answer has not the expected dtype",
    "nan": "there is NaN in the answer",
    "values": "the values differ",
    "facts": "this does not hold",
    "gradient": "a gradient differs, or does not arrive",
    "changed": "your code changed what it was given: work on a copy",
    "parameters": "the parameters are not those that are asked for",
    "state": "what became of a module that was handed over differs",
    "kept": "a module that was handed over has not kept its own parameters",
    "memory": "a tensor far larger than needed was made on the way",
}
Differences = Sequence[tuple[int, Difference] | None]  # of each draw: the call that differs, and how
PASSED, FAILED, SKIPPED, GRADER_ERROR = "passed", "failed", "skipped", "grader_error"


@dataclass(frozen=True)
class CheckResult:
    """The verdict of one check.

    kind: the kind of difference (see compare.Difference), "" where it passed
    shown: for a visible check that failed, the call, the expected answer and the learner's, to draw beside each other
    """

    check: str
    sees: str
    verdict: str
    points: int
    max_points: int
    message: str = ""
    misconception: str | None = None
    section: str = ""
    hidden: bool = False
    kind: str = ""
    shown: tuple[dict[str, Any], Answer, Answer] | None = None


@dataclass(frozen=True)
class ExerciseResult:
    """The verdicts of one exercise."""

    exercise: Exercise
    checks: tuple[CheckResult, ...]

    @property
    def points(self) -> int:
        return sum(result.points for result in self.checks)

    @property
    def max_points(self) -> int:
        return sum(result.max_points for result in self.checks)

    @property
    def passed(self) -> bool:
        return all(result.verdict == PASSED for result in self.checks)

    @property
    def started(self) -> bool:
        # A check that is skipped for another exercise's sake keeps its kind; one whose pass was given has none.
        return not all(one.kind == "not started" or (one.verdict == SKIPPED and not one.kind) for one in self.checks)

    @property
    def misconceptions(self) -> list[str]:
        return list(dict.fromkeys(result.misconception for result in self.checks if result.misconception))


def differences_of(keys: Sequence[Key], answers: Sequence[list[Answer]]) -> Differences:
    """For each draw the first call whose answer differs from the expected one, and how; None where none does."""
    return [first_difference(key, key.expected, got, key.reveal) for key, got in zip(keys, answers, strict=True)]


def judge(
    exercise: Exercise,
    keys: Sequence[Key],
    answers: Sequence[list[Answer]],
    forbidden: tuple[str, int] | None = None,
    differences: Differences | None = None,
) -> ExerciseResult:
    """The verdicts of an exercise, from the learner's answers to each draw of each of its checks.

    keys and answers run in parallel; a check with several draws passes only if every one does.
    forbidden: a forbidden function that the answers come from, and its line, or 0: it costs every check.
    differences: of these keys and answers, where they are known
    """
    differences = differences_of(keys, answers) if differences is None else differences
    causes = diagnose(keys, answers, [one is not None for one in differences])
    told = {one[1].text for key, one in zip(keys, differences, strict=True) if one and key.reveal}
    places: dict[str, list[int]] = {}
    for place, key in enumerate(keys):
        places.setdefault(key.check.name, []).append(place)
    results = []
    for name, group in places.items():
        check = keys[group[0]].check
        most = check.points or exercise.points.get(name, 0)
        passed = CheckResult(name, check.sees, PASSED, most, most, hidden=bool(check.points))
        broken = {place: difference for place in group if (difference := differences[place])}
        if not broken and forbidden is None:
            results.append(passed)
        elif forbidden is not None and not broken:
            call, line = forbidden
            spot = f"Line {line} calls {call}" if line else f"Your answer comes from {call}"
            message = f"{spot}: this exercise asks you to write that step yourself."
            results.append(replace(passed, verdict=FAILED, points=0, message=message, kind="forbidden"))
        else:
            place = next((place for place in broken if causes[place]), min(broken))
            results.append(_failed(exercise, keys[place], answers[place], broken[place], causes[place], told, most))
    return ExerciseResult(exercise, tuple(_nothing_for_given_checks(results, keys)))


def _nothing_for_given_checks(results: list[CheckResult], keys: Sequence[Key]) -> list[CheckResult]:
    """Checks that a stub or a constant passes are skipped where nothing else passes: they are given, not earned."""
    calls: dict[str, list[list[dict[str, Any]]]] = {}
    for key in keys:
        calls.setdefault(key.check.name, []).append(key.calls)
    given = {key.check.name for key in keys if key.check.given or set(key.check.compares) <= GIVEN}
    # The same question in every draw, whose answer every learner can read: it may be known by heart.
    given |= {name for name, draws in calls.items() if len(draws) > 1 and all(one == draws[0] for one in draws)}
    if any(one.verdict == PASSED and one.check not in given for one in results):
        return results
    message = "Counts as soon as another check of this exercise passes."
    return [
        replace(one, verdict=SKIPPED, points=0, message=message) if one.verdict == PASSED else one for one in results
    ]


def _failed(
    exercise: Exercise,
    key: Key,
    answers: list[Answer],
    broken: tuple[int, Difference],
    cause: str | None,
    told: set[str],
    most: int,
) -> CheckResult:
    """The verdict of a check, out of `most` points, that an input draw fails; told: texts that shown draws gave."""
    position, difference = broken
    # Of a draw that is not shown, nothing that was not said of a shown one: by then its inputs were in nobody's reach.
    own_words = key.reveal or difference.text in told or difference.kind not in UNTOLD
    message, section = (difference.text if own_words else UNTOLD[difference.kind])[:MOST_MESSAGE], exercise.section
    if cause:
        entry = exercise.message_of(cause)
        message, section = entry.message.strip(), entry.section
    shown = (key.calls[position], key.expected[position], answers[position]) if key.reveal else None
    return CheckResult(
        key.check.name,
        key.check.sees,
        FAILED,
        points=0,
        max_points=most,
        message=message,
        misconception=cause,
        section=section,
        hidden=bool(key.check.points),
        kind=difference.kind,
        shown=shown,
    )


def skip_where_dependencies_fail(
    results: list[ExerciseResult], passed: Callable[[str], bool], source_of: Callable[[str], str]
) -> list[ExerciseResult]:
    """Failed checks become skipped where the learner's function builds on another exercise's that fails.

    passed: whether the exercise of an id passes; source_of: the text of a learner's module, by its name
    What passes on its own feet keeps its points, what was not started stays so, and a function that does not use the
    other exercise's is judged for itself.
    """
    return [_skip(result, _broken_dependencies(result.exercise, passed, source_of)) for result in results]


def _broken_dependencies(
    exercise: Exercise, passed: Callable[[str], bool], source_of: Callable[[str], str]
) -> list[str]:
    failing = [name for name in exercise.depends_on if not passed(name)]
    return [name for name in failing if builds_on(source_of(exercise.module), exercise.symbol, name.rpartition(".")[2])]


def _skip(result: ExerciseResult, broken: list[str]) -> ExerciseResult:
    if not broken or not result.started:
        return result
    message = f"Skipped: it builds on {', '.join(broken)}, which does not pass yet."
    return ExerciseResult(
        result.exercise,
        tuple(
            replace(one, verdict=SKIPPED, points=0, message=message, misconception=None, shown=None)
            if one.verdict == FAILED and one.kind not in ("not started", "missing", "import", "forbidden")
            else one
            for one in result.checks
        ),
    )
