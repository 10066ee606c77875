"""Sorts the points of a class into the bins of a histogram."""

from __future__ import annotations

from collections.abc import Sequence

BINS = 10


def binned(points: Sequence[float], most: int) -> list[tuple[str, int]]:
    """How many have so many points, in about ten steps of whole points; the last holds full marks.

    most: the points to be had; returns a label, "5–9", and a count for each step
    """
    width = max(1, -(-(most + 1) // BINS))
    bins = []
    for start in range(0, most + 1, width):
        last = min(start + width - 1, most)
        label = f"{start}" if start == last else f"{start}–{last}"
        bins.append((label, sum(start <= value < start + width for value in points)))
    return bins
