"""Which draws of an exercise are answered otherwise than is due, and how."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from .arrays import Array
from .compare import Answer, Difference
from .diagnose import Key, first_difference
from .kept import Kept
from .trees import compare_trees, leaves

Differences = Sequence[tuple[int, Difference] | None]  # of each draw: the call that differs, and how

#: What a check may compare alone, and the words for where it asks.
BESIDE = {"gradient": "where gradients are recorded", "dtype": "where the dtype counts"}
#: By which numbers of half precision may be off, of 1 and their size: the reference is off by up to 0.014 in bfloat16,
#: and whoever computes in the precision of the arguments throughout by a few times as much.
HALF = 0.1


def differences_of(keys: Sequence[Key], answers: Sequence[list[Answer]]) -> Differences:
    """For each draw the first call whose answer differs from the expected one, and how; None where none does.

    Where nothing else differs, hidden draws tell whether the numbers are right, too, of a check that compares gradients
    or dtypes alone.
    """
    draws = list(zip(keys, answers, strict=True))
    found = [first_difference(key, key.expected, got, key.reveal) for key, got in draws]
    return found if any(found) else [None if key.reveal else _beside(key, got) for key, got in draws]


def _beside(key: Key, answers: list[Answer]) -> tuple[int, Difference] | None:
    """The first answer whose numbers differ though the check compares something else of it."""
    where = next((words for aspect, words in BESIDE.items() if aspect in key.check.compares), "")
    if not where or "values" in key.check.compares or key.check.view:
        return None
    for position, (want, came) in enumerate(zip(key.expected, answers, strict=True)):
        due = Kept.of(want).value
        tolerance = max(key.check.tolerance, HALF if _is_half(due) else 0.0)
        difference = compare_trees(due, Kept.of(came).value, tolerance, False, "")
        if difference:
            return position, replace(difference, text=f"{where}, {difference.text}")
    return None


def _is_half(value: Any) -> bool:
    return any(isinstance(leaf, Array) and leaf.dtype in ("float16", "bfloat16") for leaf in leaves(value))
