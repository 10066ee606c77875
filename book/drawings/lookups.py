"""The drawings of the pages on soft lookups and on three matrices: temperature, and who attends to whom by kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import sqrt
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

import figures
from drawings.matrix_cells import one_hue
from figures import BLUE, GREEN, INK, ORANGE, WEIGHT

__all__ = ["by_kind", "temperature"]


def temperature(temperatures: Any, weights: Any, slopes: Sequence[float], scores: Sequence[float]) -> None:
    """Decided and blind at the left, blurred and blind at the right: a lookup learns in between."""
    _, (above, below) = plt.subplots(2, 1, figsize=(4.8, 5.2), sharex=True)
    for j, (colour, style) in enumerate(((GREEN, "-"), (ORANGE, "--"), (BLUE, "-."))):
        above.plot(temperatures, np.asarray(weights)[:, j], style, color=colour, label=f"key {j + 1}: {scores[j]:.0f}")
    above.set(xscale="log", ylabel="weight", title="Weights of query 3, by score")
    above.legend()
    below.plot(temperatures, slopes, color=WEIGHT)
    below.set(xlabel="temperature T", ylabel="slope", ylim=(0, None), title="Norm of ∂ lookup / ∂ query")
    for ax in (above, below):
        ax.axvline(1, color=INK, lw=0.8, ls=":")
        ax.axvline(sqrt(3), color=INK, lw=0.8)
    plt.show()


def by_kind(maps: Mapping[str, Any]) -> None:
    """Title → mean weights by kind (6, 6): without projections each kind finds itself, with them the next one."""
    _, axes = plt.subplots(len(maps), 1, figsize=(3.6, 3.5 * len(maps)))
    for ax, (title, matrix) in zip(axes, maps.items(), strict=True):
        labels = [str(kind) for kind in range(1, len(matrix) + 1)]
        shown = 100 * matrix
        figures.heatmap(ax, shown, labels, labels, title, "{:.0f}", vmin=0, vmax=100, cmap=one_hue(WEIGHT))
        ax.set(ylabel="kind that asks")
    plt.show()
