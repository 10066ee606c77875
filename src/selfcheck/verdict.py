"""Turns answers into verdicts: per check passed, failed or skipped, with points and the message a learner reads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from .catalogue import Exercise, Misconception
from .compare import Answer, Difference
from .diagnose import Key, diagnose
from .differences import Differences, differences_of
from .exceptions import explained_where_refused
from .generic import named_in_general
from .generic_sizes import taken_for_one
from .generic_state import with_unused
from .plan import Check
from .slip_sections import section_of

#: What a stub, whose argument checks stand, or an answer that looks at nothing gets right.
GIVEN = {"error", "dtype", "unchanged", "kept", "generator", "memory"}
MOST_MESSAGE = 1500  # characters
#: All that a learner reads of a check that passes for the inputs shown and fails for others. How it fails is the choice
#: of the code that met these inputs: every word of that, and every difference in kind, could tell of them.
UNSEEN = (
    "This fails for inputs that are not shown: other numbers, sizes, dtypes or edge cases than those of the visible "
    "checks, or a model in training."
)
#: The same where every check does so: one that is too slow, or takes too much memory, has no answer at all.
ALL_UNSEEN = f"{UNSEEN} All checks do: the grader may have stopped your code, whose time and memory have limits there."
NO_ANSWER = ("not started", "missing", "import", "stopped")  # kinds of difference: why there is nothing to compare
PASSED, FAILED, SKIPPED, GRADER_ERROR = "passed", "failed", "skipped", "grader_error"


@dataclass(frozen=True)
class CheckResult:
    """The verdict of one check.

    kind: the kind of difference (see compare.Difference), "unseen" where only inputs fail that are not shown, "" where
        it passed
    shown: for a visible check that failed, the call, the expected answer and the learner's, to draw beside each other
    printed: what a learner's code printed meanwhile, on the learner's own machine alone
    untold: of what fails for inputs that are not shown, kind and text, for the instructor alone
    misconception: what explains the failure: one of the exercise's, or a slip of any code (see generic_slips.py)
    remedy: what to do about it, which a learner gets as the next hint
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
    printed: str = ""
    untold: tuple[str, str] | None = None
    remedy: str = ""

    @property
    def whole_message(self) -> str:
        """Message and remedy, as graded feedback tells them."""
        return f"{self.message} {self.remedy}".strip()


@dataclass(frozen=True)
class ExerciseResult:
    """The verdicts of one exercise; remark: what they leave open, for the instructor."""

    exercise: Exercise
    checks: tuple[CheckResult, ...]
    remark: str = ""

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
        return not all(
            check.kind == "not started" or (check.verdict == SKIPPED and not check.kind) for check in self.checks
        )

    @property
    def misconceptions(self) -> list[str]:
        return list(dict.fromkeys(result.misconception for result in self.checks if result.misconception))


def judge(
    exercise: Exercise,
    keys: Sequence[Key],
    answers: Sequence[list[Answer]],
    forbidden: tuple[str, int] | None = None,
    differences: Differences | None = None,
    forbidden_unseen: str = "",
) -> ExerciseResult:
    """The verdicts of an exercise, from the learner's answers to each draw of each of its checks.

    keys and answers run in parallel; a check with several draws passes only if every one does.
    forbidden: a forbidden function that the answers come from, and its line, or 0: it costs every check.
    differences: of these keys and answers, where they are known
    forbidden_unseen: the name of one that only answers to draws that are not shown come from: they fail
    What a learner may read follows from the answers to the draws that are shown, and from one bit for each check:
    whether it fails for a draw that is not.
    """
    differences = differences_of(keys, answers) if differences is None else differences
    every = list(zip(keys, answers, differences, strict=True))
    untold: dict[str, tuple[str, str]] = {}
    for key, _, difference in every:
        if difference and not key.reveal:
            untold.setdefault(key.check.name, (difference[1].kind, difference[1].text[:MOST_MESSAGE]))
        elif forbidden_unseen and not key.reveal:
            untold.setdefault(key.check.name, ("forbidden", f"its answers come from {forbidden_unseen}"))
    results = _told(exercise, keys, [item for item in every if item[0].reveal], set(untold), forbidden)
    return ExerciseResult(exercise, tuple(replace(result, untold=untold.get(result.check)) for result in results))


def _told(
    exercise: Exercise,
    keys: Sequence[Key],
    shown: list[tuple[Key, list[Answer], tuple[int, Difference] | None]],
    unseen: set[str],
    forbidden: tuple[str, int] | None,
) -> list[CheckResult]:
    """What a learner reads, which no answer to a draw that is not shown has a word in.

    shown: of the draws that are shown, the key, the answers to it and how they differ
    unseen: names of the checks that fail for a draw that is not
    """
    causes = diagnose([item[0] for item in shown], [item[1] for item in shown], [bool(item[2]) for item in shown])
    broken: dict[str, list[CheckResult]] = {}
    pairs = [pair for key, answers, _ in shown for pair in zip(key.expected, answers, strict=True)]
    raising = {got["error"].get("line") for due, got in pairs if "value" in due and "error" in got}
    for (key, answers, difference), cause in zip(shown, causes, strict=True):
        if difference:
            at, found = difference
            if "error" in answers[at] and answers[at]["error"].get("line") not in raising:
                found = explained_where_refused(exercise.id, found, key.expected[at], answers[at])
            difference = at, found
            broken.setdefault(key.check.name, []).append(_failed(exercise, key, answers, difference, cause))
    earned = {key.check.name for key, _, _ in shown if not _is_given(key.check)}
    alike = _alike([result for some in broken.values() for result in some]) if earned <= set(broken) else None
    results = []
    checks = {key.check.name: key.check for key in keys}
    for check in checks.values():
        most = check.points or exercise.points.get(check.name, 0)
        passed = CheckResult(check.name, check.sees, PASSED, most, most, hidden=bool(check.points))
        failed = replace(passed, verdict=FAILED, points=0, section=exercise.section)
        if check.name in broken:
            result = next((result for result in broken[check.name] if result.misconception), broken[check.name][0])
        elif check.name in unseen and alike:
            result = replace(failed, message=alike.message, kind=alike.kind)
        elif check.name in unseen:
            result = replace(failed, message=UNSEEN if broken or checks.keys() - unseen else ALL_UNSEEN, kind="unseen")
        elif forbidden is not None:
            call, line = forbidden
            spot = f"Line {line} calls {call}" if line else f"Your answer comes from {call}"
            message = f"{spot}: this exercise asks you to write that step yourself."
            result = replace(failed, message=message, section="", kind="forbidden")
        else:
            result = passed
        results.append(result)
    results = _with_sizes(with_unused(_of_large_numbers(results, exercise)), shown)
    return _nothing_for_given_checks(results, keys)


def _of_large_numbers(results: list[CheckResult], exercise: Exercise) -> list[CheckResult]:
    """The verdicts, where NaN is put down to large numbers only if no check of others gives NaN unexplained."""
    if not any(result.kind == "nan" and not result.misconception for result in results):
        return results
    plain = partial(replace, misconception=None, section=exercise.section, remedy="")
    cut = [plain(result, message=result.message.partition(" In detail: ")[2]) for result in results]
    pairs = zip(results, cut, strict=True)
    return [other if result.misconception == "generic.overflow" else result for result, other in pairs]


def _with_sizes(
    results: list[CheckResult], shown: list[tuple[Key, list[Answer], tuple[int, Difference] | None]]
) -> list[CheckResult]:
    """The verdicts, the first that has no cause with the two sizes that are taken for one, where that explains all."""
    compared = [item for item in shown if "values" in item[0].check.compares]
    failing = [key.calls[difference[0]] for key, _, difference in compared if difference]
    whole = [key for key, _, difference in compared if not (difference or key.check.view)]  # a view hides much
    passing = [call for key in whole for call in key.calls]
    place = next((at for at, result in enumerate(results) if result.shown and not result.misconception), None)
    text = "" if place is None else taken_for_one(passing, failing)
    if place is None or not text:
        return results
    message = f"{text}. In detail: {results[place].message}"[:MOST_MESSAGE]
    cause = "generic.coinciding"
    section = section_of(cause, results[place].section)
    named = replace(results[place], message=message, misconception=cause, section=section)
    return [*results[:place], named, *results[place + 1 :]]


def _is_given(check: Check) -> bool:
    return check.given or set(check.compares) <= GIVEN


def _alike(failed: list[CheckResult]) -> CheckResult | None:
    """The first of these, where all say that nothing came to an answer, and of one reason."""
    same = len({(result.kind, result.message) for result in failed}) == 1
    return failed[0] if same and failed[0].kind in NO_ANSWER else None


def _nothing_for_given_checks(results: list[CheckResult], keys: Sequence[Key]) -> list[CheckResult]:
    """Checks that a stub or a constant passes are skipped where nothing else passes: they are given, not earned."""
    calls: dict[str, list[list[dict[str, Any]]]] = {}
    for key in keys:
        calls.setdefault(key.check.name, []).append(key.calls)
    given = {key.check.name for key in keys if _is_given(key.check)}
    # The same question in every draw, whose answer every learner can read: it may be known by heart.
    given |= {name for name, draws in calls.items() if len(draws) > 1 and all(draw == draws[0] for draw in draws)}
    if any(result.verdict == PASSED and result.check not in given for result in results):
        return results
    message = "Counts as soon as another check of this exercise passes."
    return [
        replace(result, verdict=SKIPPED, points=0, message=message) if result.verdict == PASSED else result
        for result in results
    ]


def _failed(
    exercise: Exercise, key: Key, answers: list[Answer], broken: tuple[int, Difference], cause: str | None
) -> CheckResult:
    """The verdict of a check that an input draw fails which is shown."""
    position, difference = broken
    if not cause:
        difference = named_in_general(key, answers, position, difference)
    slip = cause or difference.cause
    entry = exercise.message_of(slip) if slip else Misconception("", "", exercise.section)
    message = entry.message if cause else difference.text[:MOST_MESSAGE]
    return CheckResult(
        key.check.name,
        key.check.sees,
        FAILED,
        points=0,
        max_points=key.check.points or exercise.points.get(key.check.name, 0),
        message=message,
        misconception=slip or None,
        section=entry.section,
        hidden=bool(key.check.points),
        kind=difference.kind,
        shown=(key.calls[position], key.expected[position], answers[position]),
        remedy=entry.remedy,
    )


def skip_where_dependencies_fail(
    results: list[ExerciseResult],
    passed: Callable[[str], bool],
    builds_on: Callable[[Exercise, str], bool],
) -> list[ExerciseResult]:
    """Failed checks become skipped where the learner's function builds on another exercise's that fails.

    passed: whether the exercise of an id passes; builds_on: whether an exercise's function uses that of an id
    What passes on its own feet keeps its points, what was not started stays so, and a function that does not use the
    other exercise's is judged for itself.
    """

    def broken(exercise: Exercise) -> list[str]:
        failing = (name for name in exercise.depends_on if not passed(name))
        return [name for name in failing if builds_on(exercise, name)]

    return [_skip(result, broken(result.exercise)) for result in results]


def _skip(result: ExerciseResult, broken: list[str]) -> ExerciseResult:
    if not broken or not result.started:
        return result
    does = "does" if len(broken) == 1 else "do"
    message = f"Skipped: it builds on {', '.join(broken)}, which {does} not pass yet."
    return replace(
        result,
        checks=tuple(
            replace(check, verdict=SKIPPED, points=0, message=message, misconception=None, shown=None, remedy="")
            if check.verdict == FAILED
            and check.kind not in ("not started", "left over", "missing", "import", "forbidden")
            else check
            for check in result.checks
        ),
    )
