"""Packs answers to arrays and nested lists, which may be whatever `numpy.asarray` understands."""

from __future__ import annotations

import importlib
from typing import Any

from .arrays import MOST_ENTRIES, pack


def packed(answer: Any, step: dict[str, Any]) -> dict[str, Any]:
    """An answer as a JSON tree, as `arrays.pack` makes it.

    Where the step hands over arrays or nested lists and no tensor, what `pack` does not know counts as the array that
    NumPy reads from it: a deque, a memoryview, fractions, an object with `__array__`, numbers of another width.
    """
    tree, kinds = pack(answer), {one["kind"] for one in (*step.get("args", ()), *step.get("kwargs", {}).values())}
    return _read(answer, tree) if kinds & {"ndarray", "list"} and "tensor" not in kinds else tree


def _read(value: Any, tree: dict[str, Any]) -> dict[str, Any]:
    """The tree with what is no plain value read by NumPy, where it can be read."""
    if tree["kind"] in ("tuple", "items"):
        return tree | {"items": [_read(item, one) for item, one in zip(value, tree["items"], strict=True)]}
    if tree["kind"] != "other":
        return tree
    try:
        numpy: Any = importlib.import_module("numpy")
        made = numpy.asarray(value)
        numbers = made.dtype.kind == "O" and all(hasattr(type(one), "__float__") for one in made.flat)
        if made.size <= MOST_ENTRIES and (numbers or made.dtype.kind in "biuf"):
            return pack(made.astype("float64"))
    except Exception:  # of a learner's object, or of a NumPy that does not know it
        pass
    return tree
