"""The answer key: the input draws that exercises are graded on, each with the answers that are due."""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from selfcheck.catalogue import Exercise
from selfcheck.compare import Answer
from selfcheck.diagnose import Key
from selfcheck.plan import Check
from selfcheck.recorded import visible_keys

from ..course.digest import digest_of_parts
from ..course.policy import GradingPolicy
from .checks import hidden_checks, hidden_seeds, seed_of, visible_checks
from .long_axes import long_places
from .varied import varied

PUBLIC_POLICY = GradingPolicy(b"attention by hand")  # of a judgement outside any course


@dataclass(frozen=True)
class AnswerKey:
    """What is due to a problem set under one grading policy: a value that whoever judges gets as an argument.

    policy: that of this problem set alone
    answers: by exercise id, the reference's to each hidden draw, in the order of `hidden_draws`
    Misconceptions are named by the recorded draws alone: no verdict says more of a hidden one than pass or fail.
    """

    problem_set: str
    policy: GradingPolicy
    answers: Mapping[str, Sequence[list[Answer]]] = field(repr=False)
    _keys: dict[Exercise, list[Key]] = field(default_factory=dict, init=False, repr=False, compare=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False, compare=False)

    @property
    def digest(self) -> str:
        """What tells it from another, for one version of the grader; 64 hexadecimal digits."""
        names = (self.problem_set, self.policy.digest, *self.answers)
        return digest_of_parts(name.encode() for name in names)

    @property
    def exercises(self) -> list[Exercise]:
        """The exercises that it has answers to, in order."""
        return [exercise for exercise in self.policy.exercises(self.problem_set) if exercise.id in self.answers]

    def keys_of(self, exercise: Exercise) -> list[Key]:
        """Every draw that an exercise is graded on: the recorded ones, then the hidden ones."""
        with self._lock:
            if exercise not in self._keys:
                draws = zip(hidden_draws(exercise, self.policy), self.answers[exercise.id], strict=True)
                hidden = [Key(check, check.calls(seed), due, {}, reveal=False) for (check, seed, _), due in draws]
                self._keys[exercise] = visible_keys(exercise) + hidden
            return self._keys[exercise]

    def __reduce__(self) -> tuple[Any, ...]:
        # To another machine go the answers alone: it has the checks.
        return AnswerKey, (self.problem_set, self.policy, self.answers)


def live_answer_key(problem_set: str, policy: GradingPolicy, exercises: Iterable[Exercise] | None = None) -> AnswerKey:
    """An answer key that the reference answers now.

    exercises: for which; None for all that count
    """
    policy = policy.of(problem_set)
    chosen = policy.exercises(problem_set) if exercises is None else exercises
    return AnswerKey(problem_set, policy, {exercise.id: _live_answers(exercise, policy) for exercise in chosen})


def hidden_draws(exercise: Exercise, policy: GradingPolicy) -> list[tuple[Check, int, bool]]:
    """The draws that only the grader makes: check, seed, whether misconceptions are tried on it.

    The last of several draws of a visible check asks otherwise, see `varied`. At the end stand those of checks that are
    measured from outside besides.
    """
    checks = visible_checks(exercise) + hidden_checks(exercise, policy.extra)
    seeds = [(check, hidden_seeds(policy.secret, check)) for check in checks]
    drawn = [
        (_asked(exercise, check, seed == drawn[-1] != drawn[0]), seed, seed == drawn[0])
        for check, drawn in seeds
        for seed in drawn
    ]
    measured = [check.measured for check in checks if check.measured]
    return [*drawn, *((check, seed_of(policy.secret, check, "measured"), False) for check in measured)]


def _asked(exercise: Exercise, check: Check, is_last: bool) -> Check:
    return asked_last(exercise, check) if is_last and check.name in exercise.points else check


def asked_last(exercise: Exercise, check: Check) -> Check:
    """A visible check as it is asked in the last of several hidden draws: otherwise, where that can be."""
    return varied(check, tuple(long_places(exercise).get(check.name, ()))) or check


def _live_answers(exercise: Exercise, policy: GradingPolicy) -> list[list[Answer]]:
    from .live import live_key  # it takes the reference

    return [live_key(check, seed, names=False).expected for check, seed, _ in hidden_draws(exercise, policy)]


@functools.lru_cache(maxsize=256)
def keys_of(exercise: Exercise, policy: GradingPolicy) -> list[Key]:
    """Every draw that one exercise is graded on, with answers computed now: what a proof of the exercise needs.

    What the misconceptions answer to the first hidden draw of each check is computed when it is first asked for.
    """
    from .live import WrongAnswers

    keys = live_answer_key(exercise.problem_set, policy, [exercise]).keys_of(exercise)
    shown, hidden = [key for key in keys if key.reveal], [key for key in keys if not key.reveal]
    tried = zip(hidden, hidden_draws(exercise, policy), strict=True)
    return shown + [replace(key, misconceptions=WrongAnswers(key)) if names else key for key, (_, _, names) in tried]


def trains_a_model(exercise: Exercise) -> bool:
    """Whether a visible check of an exercise trains what it builds: the misconceptions' answers then take minutes."""
    return any(step.get("lessons") for key in visible_keys(exercise) for step in key.calls)
