"""Draws the inputs of checks from a seed."""

from __future__ import annotations

import functools
import itertools
import random
from collections.abc import Callable, Collection
from typing import Any

from .arguments import tensor
from .arrays import Array

__all__ = ["Draw", "told_apart"]


class Draw(random.Random):
    """A seeded source of small, readable inputs: numbers with two decimals, sizes that differ."""

    def integer(self, low: int, high: int) -> int:
        """An int from low to high - 1."""
        return self.randrange(low, high)

    def sizes(self, count: int, low: int = 2, high: int = 10) -> list[int]:
        """Sizes from low to high - 1 of which none can be taken for another: see `told_apart`.

        Raises ValueError where the range has too few of them.
        """
        return self.sample(self.choice(_families(count, low, high)), count)

    def normal(self, *shape: int) -> Any:
        """Nested lists of standard normal numbers, rounded to two decimals."""
        return self._nested(shape, lambda: round(self.gauss(0.0, 1.0), 2))

    def integers(self, *shape: int, low: int = 0, high: int = 10) -> Any:
        """Nested lists of ints from low to high - 1."""
        return self._nested(shape, lambda: self.randrange(low, high))

    def booleans(self, *shape: int, share: float = 0.6) -> Any:
        """Nested lists of booleans, each True with probability `share`."""
        return self._nested(shape, lambda: self.random() < share)

    def tensor(self, *shape: int, dtype: str = "float64") -> Array:
        """A tensor of standard normal numbers, rounded to two decimals."""
        return tensor(self.normal(*shape), dtype)

    def state(self, shapes: dict[str, tuple[int, ...]], dtype: str = "float64", scale: float = 1.0) -> dict[str, Array]:
        """Parameters of a module by their names: normal numbers of deviation `scale`, rounded to two decimals."""

        def draw() -> float:
            return round(self.gauss(0.0, scale), 2)

        return {name: tensor(self._nested(shape, draw), dtype) for name, shape in shapes.items()}

    def _nested(self, shape: tuple[int, ...], draw: Callable[[], Any]) -> Any:
        if not shape:
            return draw()
        return [self._nested(shape[1:], draw) for _ in range(shape[0])]


def told_apart(sizes: Collection[int]) -> bool:
    """Whether no size is another one, its neighbour, its half or double, or the sum of two others.

    Then an axis, a bound or a width that is taken for another gives an error or another answer.
    """
    sums = {a + b for a, b in itertools.combinations(sizes, 2)}
    near = any(abs(a - b) < 2 or 2 * a == b or 2 * b == a for a, b in itertools.combinations(sizes, 2))
    return not near and not sums & set(sizes)


@functools.cache
def _families(count: int, low: int, high: int) -> list[tuple[int, ...]]:
    found = [sizes for sizes in itertools.combinations(range(low, high), count) if told_apart(sizes)]
    if not found:
        raise ValueError(f"no {count} sizes from {low} to {high - 1} can be told apart; widen the range")
    return found
