"""An expected array beside the one that came, and what may be found of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from .arrays import Array
from .trees import close

FEWEST = 4  # entries that must bear a statement out which many numbers could


@dataclass(frozen=True)
class Found:
    """A slip, by its id without "generic.", and the sentence about this case."""

    cause: str
    text: str


@dataclass(frozen=True)
class Pair:
    """An expected array and the one that came, with how close is equal, and where it stands in the answer."""

    want: Array
    part: Array
    tolerance: float
    where: str

    @property
    def due(self) -> list[float]:
        return self.want.values()

    @property
    def given(self) -> list[float]:
        return self.part.values()

    def same(self, due: Sequence[float], given: Sequence[float]) -> bool:
        return len(due) == len(given) and all(close(a, b, self.tolerance) for a, b in zip(due, given, strict=True))

    def slices(self, of: Array, axis: int) -> list[list[float]]:
        """The entries of an array at each position along an axis."""
        after = math.prod(of.shape[axis + 1 :])
        parts: list[list[float]] = [[] for _ in range(of.shape[axis])]
        for place, entry in enumerate(of.values()):
            parts[place // after % len(parts)].append(entry)
        return parts

    def axis(self, axis: int) -> str:
        names = {1: ("",), 2: ("rows", "columns")}.get(len(self.want.shape), ())
        name = f", the {names[axis]}" if len(names) > axis and names[axis] else ""
        return f"axis {axis} (length {self.want.shape[axis]}{name})" if len(self.want.shape) > 1 else "its only axis"


def coarse(pair: Pair) -> bool:
    """Whether an array holds truth values or whole numbers, of which a few agree by chance."""
    return booleans(pair) or all(number == int(number) for number in pair.due if math.isfinite(number))


def booleans(pair: Pair) -> bool:
    return pair.want.dtype == "bool" and pair.part.dtype == "bool"
