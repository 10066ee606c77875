"""Draws matrices as rows of cells in the hue of what they hold, for figures that place several of them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, to_rgb
from matplotlib.patches import Rectangle

from figures import INK

__all__ = ["cells", "one_hue", "tint"]


def tint(colour: str, share: float) -> tuple[float, float, float]:
    """The colour mixed into white: a share of 0 is white, 1 is the colour itself."""
    red, green, blue = (1 - share * (1 - part) for part in to_rgb(colour))
    return red, green, blue


def one_hue(colour: str) -> LinearSegmentedColormap:
    """White to the colour: more of it is more of what the matrix holds."""
    return LinearSegmentedColormap.from_list(colour, ["white", colour])


def cells(
    ax: Axes,
    matrix: Any,
    corner: tuple[float, float],
    colour: str,
    *,
    size: tuple[float, float] = (1.0, 1.0),
    fmt: str = "{:.0f}",
    title: str = "",
    rows: Sequence[str] = (),
    columns: Sequence[str] = (),
    lit: Collection[tuple[int, int]] = (),
    fontsize: float = 10,
) -> None:
    """One matrix with its upper left corner at `corner`; y grows upwards, a cell is `size` wide and high.

    rows, columns: labels on the left and above; lit: the cells (row, column) that stand out, all others are pale
    """
    values = np.asarray(matrix, dtype=float)
    (left, top), (width, height) = corner, size
    for (i, j), value in np.ndenumerate(values):
        x, y, strong = left + j * width, top - (i + 1) * height, (i, j) in lit
        face, edge = tint(colour, 0.35 if strong else 0.1), colour if strong else "white"
        ax.add_patch(Rectangle((x, y), width, height, fc=face, ec=edge, lw=1.6, zorder=3 if strong else 2))
        text = fmt.format(value).replace("-", "−")
        weight = "bold" if strong else "normal"
        at = (x + width / 2, y + height / 2)
        ax.text(*at, text, ha="center", va="center", color=INK, fontsize=fontsize, weight=weight, zorder=4)
    for i, label in enumerate(rows):
        y = top - (i + 0.5) * height
        ax.text(left - 0.15, y, label, ha="right", va="center", color=colour, fontsize=fontsize)
    for j, label in enumerate(columns):
        ax.text(left + (j + 0.5) * width, top + 0.12, label, ha="center", va="bottom", color=colour, fontsize=fontsize)
    if title:
        above = top + (0.95 if columns else 0.2)
        middle = left + values.shape[1] * width / 2
        ax.text(middle, above, title, ha="center", va="bottom", color=colour, weight="bold", fontsize=fontsize)
