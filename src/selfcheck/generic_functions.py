"""Finds an answer that is a simple function of the one that is due: taken once more, scaled or reduced on one axis."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from .arrays import Array
from .generic_pairs import FEWEST, Found, Pair, coarse

FUNCTIONS: dict[str, Callable[[float], float]] = {
    "logarithm": math.log,
    "exponential": math.exp,
    "square": lambda number: number * number,
    "root": math.sqrt,
    "absolute value": abs,
    "hyperbolic tangent": math.tanh,
    "reciprocal": lambda number: 1.0 / number,
}
REDUCED: dict[str, Callable[[list[float]], float]] = {
    "sum": math.fsum,
    "mean": lambda numbers: math.fsum(numbers) / len(numbers),
    "largest": max,
}
LEAST_LINES = 2  # rows or columns, each with a factor of its own
LEAST_ENTRIES = 2  # of a line: any one number is another one times a factor


def function(pair: Pair, call: dict[str, Any]) -> Found | None:
    """Each entry is one function of the one that is due."""
    if not pair.want.floating or coarse(pair) or len(pair.due) < FEWEST or pair.want.shape != pair.part.shape:
        return None
    for name, apply in FUNCTIONS.items():
        try:
            wanted = [apply(number) for number in pair.due]
        except (ValueError, OverflowError, ZeroDivisionError):
            continue
        if pair.same(wanted, pair.given):
            return Found("function", f"Each entry is the {name} of the one that is due")
    return None


def nan_where_negative(pair: Pair, call: dict[str, Any]) -> Found | None:
    """NaN where a negative number is due, and nowhere else."""
    negative = [number < 0 for number in pair.due]
    if not all(map(math.isfinite, pair.due)) or not FEWEST <= sum(negative) < len(negative):
        return None
    if negative != [math.isnan(number) for number in pair.given]:
        return None
    return Found("nan_where_negative", "NaN stands where a negative number is due: it has no root and no logarithm")


def line_factors(pair: Pair, call: dict[str, Any]) -> Found | None:
    """Each row, or each column, is the one that is due times, or plus, a number of its own."""
    if len(pair.want.shape) < 2 or not pair.want.floating or coarse(pair) or pair.want.shape != pair.part.shape:
        return None
    if not all(map(math.isfinite, (*pair.due, *pair.given))):
        return None
    width = pair.want.shape[-1]
    rows = [
        (pair.due[start : start + width], pair.given[start : start + width]) for start in range(0, len(pair.due), width)
    ]
    lines = {"row": rows}
    if len(pair.want.shape) == 2:
        lines["column"] = list(zip(pair.slices(pair.want, 1), pair.slices(pair.part, 1), strict=True))
    for name, some in lines.items():
        if len(some) < LEAST_LINES or min(len(due) for due, _ in some) < FEWEST - 1:
            continue
        if sum(max(due) - min(due) > pair.tolerance for due, _ in some) < LEAST_LINES:
            continue  # where a line's entries are all alike, any other such line is that line times a number
        factors = [_factor(due, given) for due, given in some]
        if all(
            factor is not None and pair.same([factor * number for number in due], given)
            for factor, (due, given) in zip(factors, some, strict=True)
        ):
            listed = ", ".join(f"{factor:.4g}" for factor in factors[:3] if factor is not None)
            return Found("line_factor", f"Each {name} is right but for a factor of its own ({listed}, …)")
        offsets = [given[0] - due[0] for due, given in some]
        if all(
            pair.same([number + offset for number in due], given)
            for offset, (due, given) in zip(offsets, some, strict=True)
        ):
            listed = ", ".join(f"{offset:.4g}" for offset in offsets[:3])
            return Found("line_offset", f"Each {name} is right but for a number that was added to it ({listed}, …)")
    return None


def _factor(due: list[float], given: list[float]) -> float | None:
    """By how much a line is too large, by its largest entry; None where less than two entries are due, or none came."""
    if sum(number != 0 for number in due) < LEAST_ENTRIES:
        return None
    place = max(range(len(due)), key=lambda at: abs(due[at]))
    return given[place] / due[place] if due[place] and given[place] else None


def reduced(pair: Pair, call: dict[str, Any]) -> Found | None:
    """One axis is gone, or has length 1: the answer is what is due added up along it, averaged, or its largest."""
    want, part = pair.want.shape, pair.part.shape
    if not pair.want.floating or not part or len(pair.given) < 2 or coarse(pair):
        return None
    for axis, length in enumerate(want):
        if length < 2 or part not in ((*want[:axis], *want[axis + 1 :]), (*want[:axis], 1, *want[axis + 1 :])):
            continue
        lines = list(zip(*pair.slices(pair.want, axis), strict=True))
        if all(max(line) - min(line) < pair.tolerance for line in lines):
            continue
        for name, reduce in REDUCED.items():
            if pair.same([reduce(list(line)) for line in lines], pair.given):
                said = "the largest numbers" if name == "largest" else f"the {name}"
                return Found("reduced", f"Your answer is {said} along axis {axis} of what is due")
    return None


def whole_numbers(pair: Pair, call: dict[str, Any]) -> Found | None:
    """Whole numbers alone, where fractions are due."""
    whole = [number == int(number) for number in pair.due if math.isfinite(number)]
    if len(whole) < FEWEST or 2 * sum(whole) > len(whole) or len(set(pair.given)) < 2:
        return None
    if not all(math.isfinite(number) and number == int(number) for number in pair.given) or set(pair.given) <= {
        0.0,
        1.0,
    }:
        return None
    return Found(
        "whole",
        "Every number of your answer is whole, where fractions are due: do integers hold them, or does // cut off?",
    )


def counted(expected: Any, got: Any, tolerance: float) -> Found | None:
    """Results that are right, and more or fewer than are due."""
    if not isinstance(expected, tuple) or not isinstance(got, (tuple, list)) or len(expected) == len(got):
        return None
    pairs = list(zip(expected, got, strict=False))
    if len(pairs) < 2 or not all(isinstance(a, Array) and isinstance(b, Array) for a, b in pairs):
        return None
    if not all(a.shape == b.shape and Pair(a, b, tolerance, "").same(a.values(), b.values()) for a, b in pairs):
        return None
    rest = f"{len(got) - len(expected)} more than are due" if len(got) > len(expected) else "the others are missing"
    return Found("counted", f"Your first {len(pairs)} results are right, and {rest}")
