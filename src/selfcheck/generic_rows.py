"""Finds what became of an answer's rows and numbers: added up, emptied, taken by the largest, put elsewhere."""

from __future__ import annotations

import math
from typing import Any

from .arrays import Array, unpack
from .generic_pairs import FEWEST, Found, Pair, coarse
from .trees import leaves
from .words import argument_name

DISTINCT = 6  # numbers that are the same in another order by no chance


def largest_takes_all(pair: Pair, call: dict[str, Any]) -> Found | None:
    """Each row is 1 at the place of its largest number and 0 elsewhere, where shares are due."""
    width = pair.want.shape[-1] if pair.want.shape else 0
    if width < 2 or not pair.want.floating or pair.want.shape != pair.part.shape or set(pair.given) != {0.0, 1.0}:
        return None
    for start in range(0, len(pair.due), width):
        due, given = (of[start : start + width] for of in (pair.due, pair.given))
        if sum(given) != 1.0 or due[given.index(1.0)] < max(due) or not pair.same([1.0], [sum(due)]):
            return None
    return Found("largest_alone", "In each row the largest share has become 1 and all others 0, as argmax has it")


def added_up(pair: Pair, call: dict[str, Any]) -> Found | None:
    """Each part along the first axis holds the sum of its own and all before it."""
    if not pair.want.shape or pair.want.shape[0] < 2 or not pair.want.floating:
        return None
    want, part = (pair.slices(array, 0) for array in (pair.want, pair.part))
    if len(want) * len(want[0]) < FEWEST:
        return None
    total = [0.0] * len(want[0])
    for due, given in zip(want, part, strict=True):
        total = [a + b for a, b in zip(total, due, strict=True)]
        if not pair.same(total, given):
            return None
    return Found(
        "added_up",
        "Along axis 0 each part of your answer holds all before it as well: is the sum set back to zero for each?",
    )


def rest_zero(pair: Pair, call: dict[str, Any]) -> Found | None:
    """Nothing but the first part along the first axis was written."""
    if len(pair.want.shape) < 2 or pair.want.shape[0] < 2 or pair.want.dtype == "bool":
        return None
    want, part = (pair.slices(array, 0) for array in (pair.want, pair.part))
    if any(any(row) for row in part[1:]) or not all(any(row) for row in want):
        return None
    if not pair.same(want[0], part[0]):
        return None
    return Found(
        "rest_zero",
        "Along axis 0 the first part of your answer is right, all others are zero: does return stand inside the loop?",
    )


def rearranged(pair: Pair, call: dict[str, Any]) -> Found | None:
    """The numbers that are due, in other places."""
    due, given = sorted(pair.due), sorted(pair.given)
    if len({round(number, 4) for number in due if math.isfinite(number)}) < DISTINCT or coarse(pair):
        return None
    if not pair.same(due, given) or pair.same(pair.due, pair.given):
        return None
    if pair.want.shape != pair.part.shape:
        return Found("rearranged", "Your answer holds all the right numbers, but in other places, and in another shape")
    return Found("rearranged", _order(pair) or "Your answer holds all the right numbers, but in other places")


def _order(pair: Pair) -> str:
    """A sentence on the order of the parts along an axis, where each part is a right one; "" where none is so."""
    for axis, length in enumerate(pair.want.shape):
        want, part = (pair.slices(array, axis) for array in (pair.want, pair.part))
        order = [next((at for at, due in enumerate(want) if pair.same(due, came)), -1) for came in part]
        if length > 2 and sorted(order) == list(range(length)):
            listed = ", ".join(map(str, order[:8])) + (", …" if length > 8 else "")
            return f"Along {pair.axis(axis)} each part of your answer is right, but they stand in the order {listed}"
    return ""


def joined(expected: Any, got: Any, tolerance: float) -> Found | None:
    """Several results stand beside each other in one array."""
    if not isinstance(expected, (tuple, list)) or not isinstance(got, Array) or not got.shape or len(expected) < 2:
        return None
    parts = [part for part in expected if isinstance(part, Array) and part.shape[:-1] == got.shape[:-1] and part.shape]
    width = got.shape[-1]
    if len(parts) < len(expected) or sum(part.shape[-1] for part in parts) != width or not width:
        return None
    rows = range(len(got.values()) // width)
    beside = [
        number
        for row in rows
        for part in parts
        for number in part.values()[row * part.shape[-1] : (row + 1) * part.shape[-1]]
    ]
    if not Pair(got, got, tolerance, "").same(beside, got.values()):
        return None
    return Found(
        "joined", f"Your {len(parts)} results stand beside each other in one array, where a tuple of them is due"
    )


def nan_gradient(expected: dict[str, Any], got: dict[str, Any]) -> Found | None:
    """A gradient that is no number, of an answer whose numbers are all finite."""
    try:
        numbers = [
            number for leaf in leaves(unpack(got["value"])) if isinstance(leaf, Array) for number in leaf.values()
        ]
        gradients = {name: unpack(tree) for name, tree in got.get("gradients", {}).items()}
        wanted = {name: unpack(tree) for name, tree in expected.get("gradients", {}).items()}
    except (KeyError, ValueError):
        return None
    if not numbers or not all(math.isfinite(number) for number in numbers):
        return None
    for name, gradient in gradients.items():
        due = wanted.get(name)
        if isinstance(gradient, Array) and isinstance(due, Array) and _has_nan(gradient) and not _has_nan(due):
            text = (
                f"The answer's numbers are all finite, and NaN stands in the gradient of {argument_name(name)}: where "
                "a step on the way is 0/0, -inf - (-inf) or the root of 0, its gradient is NaN, even if the result was "
                "replaced afterwards"
            )
            return Found("nan_gradient", text)
    return None


def _has_nan(numbers: Array) -> bool:
    return numbers.floating and any(math.isnan(number) for number in numbers.values())
