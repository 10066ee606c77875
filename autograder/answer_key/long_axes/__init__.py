"""Which axes of a check's arguments are long in its last hidden draw, so that each axis of an exercise is in some.

A check draws few entries, so that they can be read. An answer that is right for so few alone would pass: a mask for a
batch of eight, an encoding of ten positions. So a visible check is asked once with all axes of one length tiled to a
longer one. The lengths in a draw are told apart, so axes of one length are one dimension of the exercise; whatever
becomes of their entries, the reference answers to it. Which checks are asked so, and with which axis, stands in the
JSON files beside this one, by module, exercise and check: `build` chooses (autograder/build/choose_long_axes.py).
"""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from selfcheck.arrays import array, pack, unpack
from selfcheck.catalogue import Exercise

Step = dict[str, Any]
Place = str  # of an axis in a packed step, counted from the end, or of a number: "kwargs.query.-2", "args.0"
Places = Sequence[Place | None]  # of the first calls of a check

HERE = Path(__file__).parent
LONG = 15  # entries at least
SHRINKS = 0.1173  # from copy to copy; not by an eighth, which lets sums of numbers with two decimals meet a bound
GIVEN = ("args", "kwargs", "uses", "construct")  # where a step holds arguments


@functools.cache
def long_places(exercise: Exercise) -> dict[str, Places]:
    """By check, what is long in each of its calls; empty where `build` has not run."""
    path = HERE / f"{exercise.module}.json"
    chosen: dict[str, dict[str, Places]] = json.loads(path.read_text("utf-8")) if path.exists() else {}
    return chosen.get(exercise.number, {})


def sizes_in(step: Step) -> dict[Place, int]:
    """The length of each axis of each argument, and its whole numbers but for those that a module is built with.

    1 is left out: it broadcasts.
    """
    values = [found for name in GIVEN if name in step for found in _values(step[name], name)]
    axes = {
        f"{place}.-{axis}": size
        for place, value in values
        for axis, size in enumerate(reversed(value.get("shape", ())), 1)
    }
    numbers = {
        place: int(value["value"])
        for place, value in values
        if value.get("type") == "int" and not place.startswith("construct")
    }
    return {place: size for place, size in (axes | numbers).items() if size > 1}


def _values(tree: Any, place: Place) -> Iterator[tuple[Place, Step]]:
    """The packed values of a step; the items of a list of chunks, and the uses of an object, are one place."""
    if isinstance(tree, dict) and "kind" in tree and "items" not in tree:
        yield place, tree
    elif isinstance(tree, dict):
        for name, part in tree.items():
            yield from _values(part, f"{place}.{name}")
    elif isinstance(tree, list):
        is_positional = place.endswith("args")
        for number, part in enumerate(tree):
            yield from _values(part, f"{place}.{number}" if is_positional else place)


def lengthened(steps: Sequence[Step], places: Places) -> list[Step]:
    """The calls of a check; whatever is as long as the place that is chosen for a call has `LONG` entries or more."""
    rest = [None] * (len(steps) - len(places))
    return [_lengthened(step, place) for step, place in zip(steps, [*places[: len(steps)], *rest], strict=True)]


def _lengthened(step: Step, place: Place | None) -> Step:
    sizes = sizes_in(step)
    size = sizes.get(place or "", LONG)
    if size >= LONG:
        return step
    factor = math.ceil(LONG / size)
    while size * factor in sizes.values():
        factor += 1
    tiled: Step = _tiled(step, size, factor)
    return tiled


def _tiled(tree: Any, size: int, factor: int) -> Any:
    """A JSON tree whose axes and numbers of a size are so many times as large."""
    if isinstance(tree, list):
        return [_tiled(part, size, factor) for part in tree]
    if not isinstance(tree, dict):
        is_size = isinstance(tree, int) and not isinstance(tree, bool) and tree == size
        return tree * factor if is_size else tree
    if "shape" in tree and "data" in tree:
        given = unpack(tree)
        if size not in given.shape or 0 in given.shape:
            return tree
        entries = _repeated(given.nested(), given.shape, size, factor, given.floating)
        return pack(array(entries, given.kind, given.dtype))
    if tree.get("kind") == "number":
        return tree | {"value": str(size * factor)} if (tree["type"], tree["value"]) == ("int", str(size)) else tree
    return {name: _tiled(part, size, factor) for name, part in tree.items()}


def _repeated(entries: Any, shape: Sequence[int], size: int, factor: int, shrinks: bool, share: float = 1.0) -> Any:
    """Nested lists whose axes of a size are repeated.

    shrinks: whether the entries become smaller from copy to copy, so that no two are alike
    """
    if not shape:
        return entries * share if shrinks else entries
    return [
        _repeated(entry, shape[1:], size, factor, shrinks, share * (1 - copy % 8 * SHRINKS))
        for copy in range(factor if shape[0] == size else 1)
        for entry in entries
    ]
