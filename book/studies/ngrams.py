"""Interpolated n-grams of characters, the baseline of a small language model."""

from __future__ import annotations

import numpy as np
from torch import Tensor

__all__ = ["bits_of_ngrams", "chosen"]

DISCOUNTS = (0.6, 0.75, 0.9)


def _counts(text: Tensor, asked: Tensor, length: int, symbols: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For each character of `asked`: how often it followed its last `length` characters in `text`, how often these
    stood there, and how many different characters followed them."""

    def contexts(ids: Tensor) -> tuple[np.ndarray, np.ndarray]:
        numbers = ids.numpy().astype(np.int64)
        code = np.zeros(len(numbers) - length, dtype=np.int64)
        for offset in range(length):
            code = code * symbols + numbers[offset : len(numbers) - length + offset]
        return code, numbers[length:]

    def look_up(codes: np.ndarray, counts: np.ndarray, wanted: np.ndarray) -> np.ndarray:
        at = np.searchsorted(codes, wanted).clip(max=len(codes) - 1)
        return np.where(codes[at] == wanted, counts[at], 0)

    (before, after), (asked_before, asked_after) = contexts(text), contexts(asked)
    both, both_counts = np.unique(before * symbols + after, return_counts=True)
    alone, alone_counts = np.unique(before, return_counts=True)
    kinds, kinds_counts = np.unique(both // symbols, return_counts=True)
    return (
        look_up(both, both_counts, asked_before * symbols + asked_after),
        look_up(alone, alone_counts, asked_before),
        look_up(kinds, kinds_counts, asked_before),
    )


def bits_of_ngrams(train: Tensor, asked: Tensor, longest: int, discount: float, symbols: int) -> list[float]:
    """Bits per character of interpolated n-grams, n = 1 … longest: each order leans on the next shorter one.

    discount: this much of every count, 0 to 1, goes to the shorter order; chosen on the validation text
    p(c | h) = (max(count(h c) - discount, 0) + discount · kinds(h) · p(c | shorter h)) / count(h)
    """
    kept = len(asked) - longest + 1
    probability, bits = np.full(kept, 1 / symbols), []
    for length in range(longest):
        joint, context, kinds = (counts[-kept:] for counts in _counts(train, asked, length, symbols))
        left = np.maximum(joint - discount, 0) + discount * kinds * probability
        probability = np.where(context > 0, left / np.maximum(context, 1), probability)
        bits.append(float(-np.log2(probability).mean()))
    return bits


def chosen(
    train: Tensor, validation: Tensor, test: Tensor, symbols: int, longest: int = 8
) -> dict[str, int | list[float]]:
    """Bits on both texts for n = 1 … longest, each with the discount that does best on the validation text.

    "best" is the n that does best there.
    """
    tried = [
        (
            bits_of_ngrams(train, validation, longest, discount, symbols),
            bits_of_ngrams(train, test, longest, discount, symbols),
        )
        for discount in DISCOUNTS
    ]
    of_each = [min((on[n], verdict[n]) for on, verdict in tried) for n in range(longest)]
    return {
        "validation": [round(on, 3) for on, _ in of_each],
        "test": [round(verdict, 3) for _, verdict in of_each],
        "best": 1 + min(range(longest), key=lambda n: of_each[n][0]),
    }
