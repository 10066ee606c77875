"""What the reference and the misconceptions answer to the calls of a check."""

from __future__ import annotations

import functools
import hashlib
import hmac
import threading
from collections.abc import Iterator, Mapping
from dataclasses import replace

from selfcheck import runner
from selfcheck.catalogue import Exercise
from selfcheck.compare import Answer
from selfcheck.diagnose import Key, first_difference
from selfcheck.plan import Check, checks_in

from ..course.extra_checks import extra_checks
from ..course.policy import Terms
from .misconceptions import misconceptions_of
from .reference_package import reference

RECORDED_SEED = 20170612
DRAWS = 3  # hidden draws of each check

#: Exercise and digest of a course's terms → for each hidden draw, in order, the reference's answers and each
#: misconception's, None for those that are found out when they are needed: what `hidden_answers` has read.
KNOWN: dict[tuple[Exercise, str], list[tuple[list[Answer], dict[str, list[Answer]] | None]]] = {}

#: Held while the runner redirects standard output and seeds torch, for the whole process; whoever prints beside a
#: thread that grades holds it too, or the line may vanish.
ONE_AT_A_TIME = threading.RLock()


def seed_of(secret: bytes, check: Check, draw: int = 0) -> int:
    """The hidden seed of a check: the same in every run of a course, different between courses."""
    text = f"{check.exercise}/{check.name}/{draw}".encode()
    return int.from_bytes(hmac.new(secret, text, hashlib.sha256).digest()[:8], "big")


def visible_checks(exercise: Exercise) -> list[Check]:
    """The visible checks of an exercise, in the catalogue's order; KeyError for a name without a check."""
    known = {check.name: check for check in checks_in(f"selfcheck.checks.{exercise.module}")}
    return [known[name] for name in exercise.points]


def hidden_checks(exercise: Exercise, extra: tuple[tuple[str, str], ...] = ()) -> list[Check]:
    """The hidden checks of an exercise; where an id has two parts, those of the part's problem set.

    extra: module and source text of a course's further ones, which come last
    """
    return [
        check
        for check in checks_in(f"autograder.answer_key.hidden.{exercise.module}")
        if check.exercise == exercise.id and check.problem_set in (None, exercise.problem_set)
    ] + extra_checks(extra, exercise)


class _WrongAnswers(Mapping):
    """What the misconceptions answer to a draw, by name: found out when first asked for, which few grades need."""

    def __init__(self, key: Key) -> None:
        self._key = key

    @functools.cached_property
    def _found(self) -> dict[str, list[Answer]]:
        key, found = self._key, {}
        with ONE_AT_A_TIME:
            for name, symbol in misconceptions_of(key.check.exercise).items():
                wrong = runner.answer(symbol, key.calls, "gradient" in key.check.compares)
                if first_difference(key, key.expected, wrong):
                    found[name] = wrong
        return found

    def __getitem__(self, name: str) -> list[Answer]:
        return self._found[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)


def live_key(check: Check, seed: int, reveal: bool = False, names: bool = True) -> Key:
    """A key computed now: the reference's answers to one draw of a check, and each misconception's once it is needed.

    names: whether the draw may name misconceptions at all
    """
    calls = check.calls(seed)
    with ONE_AT_A_TIME:
        expected = runner.answer(reference(check.exercise), calls, "gradient" in check.compares)
    key = Key(check, calls, expected, {}, reveal)
    return replace(key, misconceptions=_WrongAnswers(key)) if names else key


def recorded_key(check: Check) -> Key:
    """The draw of a visible check that learners get."""
    return live_key(check, RECORDED_SEED + len(check.name), reveal=True)


def hidden_keys(exercise: Exercise, terms: Terms) -> list[Key]:
    """The draws that only the grader makes: several of each check, of which the first may name a misconception."""
    checks = visible_checks(exercise) + hidden_checks(exercise, terms.extra)
    draws = [(check, seed_of(terms.secret, check, draw), draw == 0) for check in checks for draw in range(DRAWS)]
    known = KNOWN.get((exercise, terms.digest))
    if known is None:
        return [live_key(check, seed, names=names) for check, seed, names in draws]
    return [_known_key(check, seed, *answers) for (check, seed, _), answers in zip(draws, known, strict=True)]


def _known_key(check: Check, seed: int, expected: list[Answer], wrong: dict[str, list[Answer]] | None) -> Key:
    """A key whose answers are known; wrong: None where those of the misconceptions are not."""
    key = Key(check, check.calls(seed), expected, wrong or {}, reveal=False)
    return replace(key, misconceptions=_WrongAnswers(key)) if wrong is None else key
