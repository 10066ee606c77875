"""Which arguments of a step lie in memory that a grader holds, and where: both sides compute the same.

Who holds that memory sees for himself whether an argument was changed: the process that was given it has no word in it.
"""

from __future__ import annotations

import base64
import os
import sys
from collections.abc import Iterator
from typing import Any

ALIGNMENT = 64  # bytes: each array begins at a multiple of it


def padded(size: int) -> int:
    """The bytes that an array takes, with what follows it."""
    return -(-size // ALIGNMENT) * ALIGNMENT


class Room:
    """A place in that memory, where arrays lie behind one another."""

    def __init__(self, memory: Any, at: int) -> None:
        self._memory, self._at = memory, at

    def put(self, data: bytes) -> memoryview:
        """Have an array's bytes lie there: their memory."""
        view = memoryview(self._memory)[self._at : self._at + len(data)]
        view[:] = data
        self._at += padded(len(data))
        return view


def map_without_descriptor(descriptor: int, size: int) -> Any:
    """A shared map of an open file, so many bytes or all of it, beside which no further descriptor is left."""
    import mmap  # which a browser has not

    if sys.version_info >= (3, 13):
        return mmap.mmap(descriptor, size, trackfd=False)
    number = os.dup(descriptor)  # the lowest that is free: the one that mmap's own duplicate gets
    os.close(number)
    memory = mmap.mmap(descriptor, size)
    os.close(number)
    return memory


def arrays_of(step: dict[str, Any]) -> dict[str, list[bytes]]:
    """The arrays of a step's arguments by the names that `steps.Given` has for these; of a module, none."""
    uses = step.get("uses", [])
    parts = [(f"{place}." if len(uses) > 1 else "", use) for place, use in enumerate(uses)]
    parts.insert(0, ("construct.", step["construct"]) if "construct" in step else ("", step))
    by_name: dict[str, list[bytes]] = {}
    for prefix, call in parts:
        named = [(f"{prefix}{place}", tree) for place, tree in enumerate(call["args"])]
        for name, tree in (*named, *((prefix + name, tree) for name, tree in call["kwargs"].items())):
            by_name |= _arrays_in(name, tree)
    return {name: arrays for name, arrays in by_name.items() if arrays}


def _arrays_in(name: str, tree: dict[str, Any]) -> dict[str, list[bytes]]:
    if tree["kind"] in ("tuple", "items", "tensor", "ndarray"):
        return {name: list(_data(tree))}
    by_name: dict[str, list[bytes]] = {}
    for number, item in enumerate(tree.get("items", [])):
        by_name |= _arrays_in(f"{name}[{number}]", item)
    return by_name


def _data(tree: dict[str, Any]) -> Iterator[bytes]:
    if tree["kind"] in ("tensor", "ndarray"):
        data = base64.b64decode(tree["data"])
        if data:
            yield data
    elif tree["kind"] in ("tuple", "items"):
        for item in tree["items"]:
            yield from _data(item)
