"""Answers computed now, by the reference and by the misconceptions: where torch is needed, and time.

This is our own code and prints nothing: standard output stays as it is, and threads beside it go on printing. It draws
from torch's random generator, which belongs to the whole process: one computation at a time.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from selfcheck import runner
from selfcheck.compare import Answer
from selfcheck.diagnose import Key, first_difference
from selfcheck.plan import Check

from .checks import recorded_seed
from .misconceptions import misconceptions_of
from .reference_package import NAME, reference

OURS = rf"{NAME}|autograder\.answer_key\.misconceptions"  # modules: a wrong answer may divide by zero
_TORCH_GENERATOR = threading.Lock()


def answers_of(symbol: Callable[..., Any], key: Key) -> list[Answer]:
    """What trusted code answers to one input draw."""
    # A filter that stays, and no catch_warnings: that one restores what other threads have set meanwhile.
    warnings.filterwarnings("ignore", module=OURS)
    with _TORCH_GENERATOR:
        return runner.answer(symbol, key.calls, "gradient" in key.check.compares, contained=False)


def live_key(check: Check, seed: int, reveal: bool = False, names: bool = True) -> Key:
    """A key computed now: the reference's answers to one draw of a check, and each misconception's once it is needed.

    names: whether the draw may name misconceptions at all
    """
    key = Key(check, check.calls(seed), [], {}, reveal)
    key = replace(key, expected=answers_of(reference(check.exercise), key))
    return replace(key, misconceptions=WrongAnswers(key)) if names else key


def recorded_key(check: Check) -> Key:
    """The draw of a visible check that learners get."""
    return live_key(check, recorded_seed(check), reveal=True)


class WrongAnswers(Mapping[str, list[Answer]]):
    """What the misconceptions answer to a draw, by name: computed when first asked for, which few grades need.

    A misconception that answers as the reference does is left out.
    """

    def __init__(self, key: Key) -> None:
        self._key = key
        self._answers: dict[str, list[Answer]] | None = None
        self._lock = threading.Lock()  # others who need them wait, and have them

    def _computed(self) -> dict[str, list[Answer]]:
        with self._lock:
            if self._answers is None:
                key = self._key
                wrong = {name: answers_of(code, key) for name, code in misconceptions_of(key.check.exercise).items()}
                self._answers = {
                    name: answers for name, answers in wrong.items() if first_difference(key, key.expected, answers)
                }
            return self._answers

    def __getitem__(self, name: str) -> list[Answer]:
        return self._computed()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._computed())

    def __len__(self) -> int:
        return len(self._computed())
