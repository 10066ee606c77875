"""Folds the misconceptions' answers to a check into one short text, and unfolds them where they are asked for.

Most of a file of recorded answers are these; a learner whose answers are right never needs them. They are compressed,
and numbers stand in float32 where that is nothing beside what the check lets pass.
"""

from __future__ import annotations

import base64
import json
import math
import struct
import zlib
from collections.abc import Iterator, Mapping
from typing import Any

SHORT = "short"  # instead of "data": a float64 array, its numbers as float32
NOTHING = 0.01  # the share of a check's tolerance that a number may be moved by


def folded(answers: Mapping[str, list[dict[str, Any]]], tolerance: float) -> str:
    """The answers by name as a text: compressed JSON in base64. tolerance: of their check"""
    table = {name: [_shortened(answer, tolerance) for answer in some] for name, some in answers.items()}
    text = json.dumps(table, separators=(",", ":"))
    return base64.b64encode(zlib.compress(text.encode("utf-8"), 9)).decode("ascii")


def unfolded(text: str, wide: bool = True) -> dict[str, list[dict[str, Any]]]:
    """The answers by name that a folded text holds; wide: whether float64 arrays are such again, or float32."""
    return {name: [_widened(answer, wide) for answer in some] for name, some in json.loads(_plain(text)).items()}


class Folded(Mapping[str, list[dict[str, Any]]]):
    """The answers that a folded text holds, unfolded when they are first asked for."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._answers: dict[str, list[dict[str, Any]]] | None = None

    def _unfolded(self) -> dict[str, list[dict[str, Any]]]:
        if self._answers is None:
            self._answers = unfolded(self._text)
        return self._answers

    def __getitem__(self, name: str) -> list[dict[str, Any]]:
        return self._unfolded()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._unfolded())

    def __len__(self) -> int:
        return len(self._unfolded())


def _plain(text: str) -> bytes:
    return zlib.decompress(base64.b64decode(text))


def _shortened(tree: Any, tolerance: float) -> Any:
    if isinstance(tree, list):
        return [_shortened(part, tolerance) for part in tree]
    if not isinstance(tree, dict):
        return tree
    if tree.get("dtype") != "float64" or not isinstance(tree.get("data"), str):
        return {name: _shortened(part, tolerance) for name, part in tree.items()}
    numbers = struct.unpack(f"<{len(base64.b64decode(tree['data'])) // 8}d", base64.b64decode(tree["data"]))
    try:
        short = struct.pack(f"<{len(numbers)}f", *numbers)
    except OverflowError:
        return tree
    nearby = struct.unpack(f"<{len(numbers)}f", short)
    if not all(_is_near(a, b, NOTHING * tolerance) for a, b in zip(numbers, nearby, strict=True)):
        return tree
    rest = {name: part for name, part in tree.items() if name != "data"}
    return rest | {SHORT: base64.b64encode(short).decode("ascii")}


def _is_near(number: float, short: float, bound: float) -> bool:
    """Whether a number may stand for another: what is no number, infinite, zero or negative stays so."""
    if math.isnan(number) or math.isinf(number):
        return number == short or (math.isnan(number) and math.isnan(short))
    if (number == 0.0) != (short == 0.0) or math.isinf(short):
        return False
    return abs(number - short) <= bound * (1.0 + abs(number))


def _widened(tree: Any, wide: bool) -> Any:
    if isinstance(tree, list):
        return [_widened(part, wide) for part in tree]
    if not isinstance(tree, dict):
        return tree
    if SHORT not in tree:
        return {name: _widened(part, wide) for name, part in tree.items()}
    if not wide:
        return {name: part for name, part in tree.items() if name != SHORT} | {"dtype": "float32", "data": tree[SHORT]}
    short = base64.b64decode(tree[SHORT])
    data = struct.pack(f"<{len(short) // 4}d", *struct.unpack(f"<{len(short) // 4}f", short))
    rest = {name: part for name, part in tree.items() if name != SHORT}
    return rest | {"data": base64.b64encode(data).decode("ascii")}
