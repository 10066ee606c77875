"""Finds two sizes that a learner's code takes for one: it passes wherever they are equal, and fails wherever not."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from .generic_scale import named_arrays
from .words import argument_name

FEWEST = 2  # inputs of each kind


def taken_for_one(passing: Sequence[dict[str, Any]], failing: Sequence[dict[str, Any]]) -> str:
    """A sentence on two sizes that are equal in every passing call and differ in every failing one; "" for none.

    passing, failing: packed calls whose answers are compared by their numbers
    """
    well, ill = [_sizes(call) for call in passing], [_sizes(call) for call in failing]
    if len(well) < FEWEST or len(ill) < FEWEST:
        return ""
    everywhere = set(ill[0]).intersection(*well, *ill)
    for a, b in itertools.combinations([role for role in ill[0] if role in everywhere], 2):
        if all(sizes[a] == sizes[b] for sizes in well) and all(sizes[a] != sizes[b] for sizes in ill):
            first, second = _text(a), _text(b)
            return f"Here your code is right wherever {first} is as long as {second}, and wrong wherever it is not"
    return ""


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
