"""Finds where an answer's entries stand: turned, shifted, missing, right in one part alone."""

from __future__ import annotations

import math
from typing import Any

from .arrays import Array
from .generic_pairs import FEWEST, Found, Pair, booleans, coarse
from .trees import close

LEAST_COARSE = 9  # entries of a few values that agree, or all differ, by no chance
MANY = 12  # whole numbers that agree by no chance


def transposed(pair: Pair, call: dict[str, Any]) -> Found | None:
    """Two axes have changed places: as a shape, or within a square."""
    axes = range(len(pair.want.shape))
    for first in axes:
        for second in axes[first + 1 :]:
            swapped = list(pair.want.shape)
            swapped[first], swapped[second] = swapped[second], swapped[first]
            if tuple(swapped) != pair.part.shape or len(set(pair.due)) < FEWEST and not booleans(pair):
                continue
            if pair.same(_swapped(pair.want, first, second), pair.given):
                return Found(
                    "transposed", f"Your answer is right but for axes {first} and {second}, which have changed places"
                )
    return None


def _swapped(of: Array, first: int, second: int) -> list[float]:
    """The entries of an array whose axes first and second have changed places."""
    strides = [math.prod(of.shape[axis + 1 :]) for axis in range(len(of.shape))]
    order = list(range(len(of.shape)))
    order[first], order[second] = order[second], order[first]
    values, places = of.values(), [0]
    for axis in order:
        places = [place + at * strides[axis] for place in places for at in range(of.shape[axis])]
    return [values[place] for place in places]


def missing(pair: Pair, call: dict[str, Any]) -> Found | None:
    """The first or the last along one axis is not there."""
    want, part = pair.want.shape, pair.part.shape
    apart = [axis for axis in range(len(want)) if len(want) == len(part) and want[axis] != part[axis]]
    if len(apart) != 1 or part[apart[0]] != want[apart[0]] - 1 or not pair.given:
        return None
    (axis,) = apart
    slices = pair.slices(pair.want, axis)
    if any(entries == slices[0] for entries in slices[1:]):
        return None
    rest = pair.slices(pair.part, axis)
    for cause, due in (("last", slices[:-1]), ("first", slices[1:])):
        if all(pair.same(a, b) for a, b in zip(due, rest, strict=True)):
            return Found(f"{cause}_missing", f"The {cause} along axis {axis} is missing; all others are right")
    return None


def inverted(pair: Pair, call: dict[str, Any]) -> Found | None:
    """Each of two values stands where the other is due: True and False, or 0 and minus infinity."""
    kinds = set(pair.due)
    if len(kinds) != 2 or len(pair.due) < LEAST_COARSE or not (booleans(pair) or kinds == {0.0, -math.inf}):
        return None
    other = dict(zip(kinds, reversed(list(kinds)), strict=True))
    if [other[place] for place in pair.due] == pair.given:
        names = "True and False" if booleans(pair) else "0 and minus infinity"
        return Found("inverted", f"{names} have changed places in every entry")
    return None


def masked_rows(pair: Pair, call: dict[str, Any]) -> Found | None:
    """Where all is right but rows that are zero because nothing may be attended."""
    width = pair.want.shape[-1] if pair.want.shape else 0
    if width < 2 or not pair.want.floating:
        return None
    starts = range(0, len(pair.due), width)
    rows = [(pair.due[start : start + width], pair.given[start : start + width]) for start in starts]
    wrong = [(due, given) for due, given in rows if not pair.same(due, given)]
    if not wrong or any(any(due) for due, _ in wrong) or len(wrong) == len(rows):
        return None
    if all(math.isnan(number) for _, given in wrong for number in given):
        return Found("masked_nan", "All rows are right but those that should be zero: these are NaN")
    if all(close(1 / width, number, pair.tolerance) for _, given in wrong for number in given):
        return Found(
            "masked_uniform", f"All rows are right but those that should be zero: there every weight is 1/{width}"
        )
    return None


def equal_rows(pair: Pair, call: dict[str, Any]) -> Found | None:
    """Every row is the same, which the expected ones are not."""
    if len(pair.want.shape) < 2 or pair.want.shape[0] < 2:
        return None
    want, rows = pair.slices(pair.want, 0), pair.slices(pair.part, 0)
    alike = all(pair.same(rows[0], row) for row in rows[1:]) and not any(map(math.isnan, rows[0]))
    if not alike or all(pair.same(want[0], row) for row in want[1:]) or len(set(rows[0])) < 2:
        return None
    last = (
        ", the one due in the last: do they share one list, `[[…] * n] * m`, or one tensor?"
        if pair.same(want[-1], rows[0])
        else ""
    )
    return Found("equal_rows", f"Every part of your answer along axis 0 is the same{last}")


def order(pair: Pair, call: dict[str, Any]) -> Found | None:
    """Along one axis the answer stands in reverse order, or shifted by one."""
    for axis in range(len(pair.want.shape)):
        want, part = (pair.slices(array, axis) for array in (pair.want, pair.part))
        if len({tuple(row) for row in want}) < 3 or (coarse(pair) and len(pair.due) < LEAST_COARSE):
            continue
        if all(pair.same(a, b) for a, b in zip(reversed(want), part, strict=True)):
            return Found("reversed", f"Along {pair.axis(axis)} your answer stands in reverse order")
        for step, (due, given) in {1: (want[:-1], part[1:]), -1: (want[1:], part[:-1])}.items():
            if all(pair.same(a, b) for a, b in zip(due, given, strict=True)):
                side = "late" if step > 0 else "early"
                return Found("shifted", f"Along {pair.axis(axis)} everything stands one position too {side}")
    return None


def parts(pair: Pair, call: dict[str, Any]) -> Found | None:
    """Along one axis one part alone is right, or one alone is wrong: the first, the last, another."""
    for axis in range(len(pair.want.shape)):
        length = pair.want.shape[axis]
        entries = len(pair.due) // max(length, 1)  # of one part; a few whole numbers agree by chance
        if length < 2 or entries < (FEWEST if coarse(pair) else 2):
            continue
        parts = zip(pair.slices(pair.want, axis), pair.slices(pair.part, axis), strict=True)
        right = [at for at, (a, b) in enumerate(parts) if pair.same(a, b)]
        if len(right) == 1 and coarse(pair) and entries < MANY:
            continue
        if right == [0]:
            return Found("first_alone", f"Along {pair.axis(axis)} only the first part of your answer is right")
        if len(right) == 1 and length > 2:
            return Found("one_alone", f"Along {pair.axis(axis)} only number {right[0]} (counted from 0) is right")
        if length > 2 and right == list(range(length - 1)):
            return Found("last_wrong", f"Along {pair.axis(axis)} everything is right but the last")
        if length > 2 and right == list(range(1, length)):
            return Found("first_wrong", f"Along {pair.axis(axis)} everything is right but the first")
    return None
