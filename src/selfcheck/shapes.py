"""Says what an answer of a wrong shape is a sign of."""

from __future__ import annotations

import math


def shape_advice(want: tuple[int, ...], part: tuple[int, ...]) -> str:
    """A remark in brackets on a shape that is typical of a slip."""
    remark = _slip_and_remark(want, part)[1]
    return f" ({remark})" if remark else ""


def shape_slip(want: tuple[int, ...], part: tuple[int, ...]) -> str:
    """The id of the slip (see generic_slips.py) that a wrong shape is typical of; "" where it could be many."""
    return _slip_and_remark(want, part)[0]


def _slip_and_remark(want: tuple[int, ...], part: tuple[int, ...]) -> tuple[str, str]:
    if want and math.prod(want) > 1 and not part:
        return "generic.one_number", "one number for all: does a sum or mean run over every axis, or return end a loop?"
    if part == want[::-1] and len(want) > 1:
        return "generic.transposed_shape", "its transpose"
    # Before axes of length 1: what holds one row of several has lost rows, and squeeze would not bring them back.
    if len(want) > 1 and part == (1, *want[1:]):
        return "generic.first_row", "the first row alone: does the return stand inside the loop?"
    if len(want) > 1 and want[0] > 1 and part == want[1:]:
        return "generic.one_row", "its first axis is missing: is each row kept, or does the next one replace it?"
    if len(want) > 2 and sorted(want) == sorted(part):
        return "generic.axes_order", "its axes stand in another order"
    long_axes = [[length for length in shape if length != 1] for shape in (want, part)]
    if long_axes[0] == long_axes[1]:
        return "generic.axis_of_one", f"axes of length 1 differ: {_axes_of_one(want, part)}"
    if part == (math.prod(want),):
        return "generic.flat", "all entries in one row"
    if want and part[:-2] == want[:-1] and math.prod(part[-2:]) == want[-1]:
        return "generic.axes_apart", "its last two axes are to be one"
    if len(want) > 2 and _joined_in_front(want, part):
        return "generic.joined_in_front", "joined along the first axis"
    return "", ""


def _axes_of_one(want: tuple[int, ...], part: tuple[int, ...]) -> str:
    """What is wrong with the axes of length 1, where the others are right."""
    missing = want.count(1) - part.count(1)
    if missing == 0:
        return "they stand in other places"
    if missing < 0:
        return f"{-missing} too many"
    if 1 not in part and missing > 1:
        return "all of them are missing, as after squeeze() without dim, which removes each"
    return f"{missing} missing, as after squeeze() without dim, or a sum without keepdim"


def _joined_in_front(want: tuple[int, ...], part: tuple[int, ...]) -> bool:
    """Whether parts that belong beside each other along one axis stand below each other along the first."""
    if len(want) != len(part) or not want[0] or part[0] % want[0]:
        return False
    times = part[0] // want[0]
    apart = [axis for axis in range(1, len(want)) if want[axis] != part[axis]]
    return times > 1 and len(apart) == 1 and want[apart[0]] == times * part[apart[0]]
