"""Which draws of an exercise are answered otherwise than is due, and how."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .compare import Answer, Difference
from .diagnose import Key, first_difference
from .kept import Kept
from .trees import compare_trees

Differences = Sequence[tuple[int, Difference] | None]  # of each draw: the call that differs, and how


def differences_of(keys: Sequence[Key], answers: Sequence[list[Answer]]) -> Differences:
    """For each draw the first call whose answer differs from the expected one, and how; None where none does.

    Where nothing else differs, hidden draws tell whether the numbers are right where gradients are recorded, too.
    """
    draws = list(zip(keys, answers, strict=True))
    found = [first_difference(key, key.expected, got, key.reveal) for key, got in draws]
    return found if any(found) else [None if key.reveal else _beside_gradients(key, got) for key, got in draws]


def _beside_gradients(key: Key, answers: list[Answer]) -> tuple[int, Difference] | None:
    """The first answer of which the check compares the gradients alone, and whose numbers differ."""
    if "gradient" not in key.check.compares or "values" in key.check.compares or key.check.view:
        return None
    for position, (want, came) in enumerate(zip(key.expected, answers, strict=True)):
        difference = compare_trees(Kept.of(want).value, Kept.of(came).value, key.check.tolerance, False, "")
        if difference:
            return position, replace(difference, text=f"where gradients are recorded, {difference.text}")
    return None
