"""What chapter 2's tests share: the examples, and attention in plain Python."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from attention.worked_example import EXAMPLE

BOOK = Path(__file__).parents[2] / "book"
Matrix = Sequence[Sequence[float]]
FIRST = tuple(EXAMPLE[name] for name in ("inputs", "w_query", "w_key", "w_value"))
#: The second example of the page `testing-attention`: L = 4, d_in = 3, d_k = 2, d_v = 5.
SECOND = (
    [[1, 0, 2], [0, 1, 1], [2, 1, 0], [1, 1, 1]],
    [[1, 0], [0, 1], [1, 1]],
    [[0, 1], [2, 0], [1, 0]],
    [[1, 0, 0, 2, 1], [0, 1, 0, 1, 0], [0, 2, 1, 0, 1]],
)


def product(left: Matrix, right: Matrix) -> list[list[float]]:
    """A matrix product in plain Python."""
    columns = list(zip(*right, strict=True))
    return [[sum(a * b for a, b in zip(row, column, strict=True)) for column in columns] for row in left]


def transposed(matrix: Matrix) -> list[list[float]]:
    return [list(column) for column in zip(*matrix, strict=True)]


def plain_softmax(row: Sequence[float]) -> list[float]:
    exponentials = [math.exp(score) for score in row]
    return [e / sum(exponentials) for e in exponentials]


def plain_attention(
    example: Sequence[Matrix], scale: bool
) -> tuple[list[list[float]], list[list[float]], list[list[float]]]:
    """(scores, weights, outputs) of an example."""
    inputs, w_query, w_key, w_value = example
    queries, keys, values = product(inputs, w_query), product(inputs, w_key), product(inputs, w_value)
    scores = product(queries, transposed(keys))
    divisor = math.sqrt(len(keys[0])) if scale else 1
    weights = [plain_softmax([score / divisor for score in row]) for row in scores]
    return scores, weights, product(weights, values)
