"""Finds sizes that a learner's code takes for others: two for one, or a wrong one for the length of an axis."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from .arrays import as_array
from .generic_pairs import Found
from .generic_scale import named_arrays
from .trees import leaves
from .words import argument_name

FEWEST = 2  # inputs of each kind


def taken_for_one(passing: Sequence[dict[str, Any]], failing: Sequence[dict[str, Any]]) -> str:
    """A sentence on two sizes that are equal in every passing call and differ in every failing one; "" for none.

    passing, failing: packed calls whose answers are compared by their numbers
    Two axes of length 1 are equal in any code, so what passes there says nothing of the two.
    """
    well, ill = [_sizes(call) for call in passing], [_sizes(call) for call in failing]
    if len(well) < FEWEST or len(ill) < FEWEST:
        return ""
    everywhere = set(ill[0]).intersection(*well, *ill)
    for a, b in itertools.combinations([role for role in ill[0] if role in everywhere], 2):
        alike = [sizes[a] for sizes in well if sizes[a] == sizes[b]]
        if len(alike) == len(well) and max(alike) > 1 and all(sizes[a] != sizes[b] for sizes in ill):
            first, second = _text(a), _text(b)
            return f"Here your code is right wherever {first} is as long as {second}, and wrong wherever it is not"
    return ""


def another_size(call: dict[str, Any], expected: Any, got: Any) -> Found | None:
    """An answer whose shape is right but for one axis, which is as long as some other axis or number that was given.

    call: packed; expected, got: trees of arrays
    """
    wants, parts = ([as_array(leaf) for leaf in leaves(tree)] for tree in (expected, got))
    if len(wants) != len(parts):
        return None
    for want, part in zip(wants, parts, strict=True):
        if want is None or part is None or len(want.shape) != len(part.shape):
            return None
        astray = [axis for axis, length in enumerate(want.shape) if part.shape[axis] != length]
        if not astray:
            continue
        length = part.shape[astray[0]]
        named = next((text for size, text in _named_sizes(call) if size == length > 1), "")
        if len(astray) > 1 or not named:
            return None
        text = f"Axis {astray[0]} of your answer has length {length}, which is {named}; {want.shape[astray[0]]} is due"
        return Found("another_size", text)
    return None


def merged_axes(expected: Any, got: Any) -> Found | None:
    """An answer in which two neighbouring axes have become one."""
    for want, part in zip(leaves(expected), leaves(got), strict=False):
        due, came = as_array(want), as_array(part)
        if due is None or came is None:
            return None
        for axis, (a, b) in enumerate(itertools.pairwise(due.shape)):
            if a > 1 and b > 1 and came.shape == (*due.shape[:axis], a * b, *due.shape[axis + 2 :]):
                text = f"Axes {axis} and {axis + 1} of what is due, {a} and {b} long, are one axis of {a * b} in yours"
                return Found("axes_merged", text)
        if due.shape != came.shape:
            return None
    return None


def _named_sizes(call: dict[str, Any]) -> Iterator[tuple[int, str]]:
    """The sizes of a packed call, each with what it is: the numbers it gives, then the lengths of its axes."""
    made = call.get("construct") or {}
    for part, where in ((made, " that the object is made with"), ({} if made else call, "")):
        given = {**{str(place): one for place, one in enumerate(part.get("args", ()))}, **part.get("kwargs", {})}
        for name, value in given.items():
            if isinstance(value, dict) and value.get("kind") == "number" and value.get("type") == "int":
                yield int(value["value"]), argument_name(name) + where
    for (name, back), length in _sizes(call).items():
        yield length, f"the length of {_text((name, back))}"


def _sizes(call: dict[str, Any]) -> dict[tuple[str, int], int]:
    """The lengths of a call's axes, by array and by place from the end."""
    return {
        (name, back): length
        for name, array in named_arrays(call, "")
        for back, length in enumerate(reversed(array.shape), 1)
    }


def _text(role: tuple[str, int]) -> str:
    name, back = role
    return f"axis -{back} of {argument_name(name)}"
