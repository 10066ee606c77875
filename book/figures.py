"""The figures' shared style with the few drawings that several chapters need.

Importing the module loads `_static/attention.mplstyle`; in a notebook it also makes figures SVG.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import Normalize, to_rgb

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "BLUE",
    "GREEN",
    "GREY",
    "INK",
    "KEY",
    "ORANGE",
    "OUTPUT",
    "PINK",
    "QUERY",
    "VALUE",
    "WEIGHT",
    "Table",
    "heatmap",
    "mask",
    "panels",
    "table",
]

STYLE = Path(__file__).resolve().parent / "_static" / "attention.mplstyle"
BLUE, ORANGE, GREEN, PINK, INK, GREY = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#1c2430", "#e3e7ed"
#: One colour for each part of attention, the same in every figure: they differ in lightness too, for the colour-blind.
QUERY, KEY, VALUE, WEIGHT, OUTPUT = "#08357f", "#9a3e0d", "#17795f", "#b512d2", "#7300fa"
CELL = 0.62  # inches per matrix cell, wide enough for "-0.97" at 11 points


def _use_style() -> None:
    plt.style.use(STYLE)
    try:
        from matplotlib_inline.backend_inline import set_matplotlib_formats

        set_matplotlib_formats("svg", metadata={"Date": None})  # no date: the same page gives the same bytes
    except (ImportError, AttributeError):  # outside a notebook there is no shell to configure
        pass


def _numbers(matrix: Any) -> np.ndarray:
    """Anything array-like, a torch tensor included, as a 2-D NumPy array."""
    if hasattr(matrix, "detach"):
        matrix = matrix.detach().cpu()
        matrix = matrix.float() if matrix.is_floating_point() else matrix
    array = np.asarray(matrix)
    if array.ndim != 2:
        raise ValueError(f"expected a matrix (2 dimensions), got shape {array.shape}; pick one head or one batch entry")
    return array


def _text(value: float, fmt: str) -> str:
    if np.isnan(value):
        return "NaN"
    if np.isinf(value):
        return "∞" if value > 0 else "−∞"
    return fmt.format(value).replace("-", "−")


def _luminance(colour: Sequence[float]) -> float:
    """Relative luminance as WCAG 2 defines it, 0 (black) to 1 (white)."""
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _readable_on(colour: Sequence[float]) -> str:
    """Black or white, whichever contrasts more with `colour`: at least 4.5 : 1, as WCAG asks."""
    light = _luminance(colour) + 0.05
    return "white" if 1.05 / light > light / 0.05 else "black"


def _ticks(ax: Axes, shape: tuple[int, int], rows: Sequence[str] | None, columns: Sequence[str] | None) -> None:
    for labels, size, name in ((rows, shape[0], "rows"), (columns, shape[1], "columns")):
        if labels is not None and len(labels) != size:
            raise ValueError(f"{name} needs {size} labels for a matrix of shape {shape}, got {len(labels)}")
    ax.set_xticks(range(shape[1]), columns if columns is not None else [str(i) for i in range(shape[1])])
    ax.set_yticks(range(shape[0]), rows if rows is not None else [str(i) for i in range(shape[0])])
    ax.xaxis.tick_top()
    ax.xaxis.set_label_position("top")
    ax.tick_params(length=0)
    ax.set_xticks(np.arange(-0.5, shape[1]), minor=True)
    ax.set_yticks(np.arange(-0.5, shape[0]), minor=True)
    ax.grid(which="minor", color="white", linewidth=1.5)
    ax.tick_params(which="minor", length=0)
    ax.spines[:].set_visible(False)


def panels(
    *shapes: tuple[int, int],
    cell: float = CELL,
    per_row: int | None = None,
    width: float | None = None,
    height: float | None = None,
) -> tuple[Figure, list[Axes]]:
    """A figure with one panel per matrix shape, each cell of every matrix `cell` inches wide.

    shapes: (rows, columns) of each matrix
    per_row: how many panels stand side by side, by default all of them (a phone shows about seven columns well)
    width, height: the figure's size in inches, where the cells should not decide it
    Returns the figure and the list of axes (a list also for one panel).
    """
    per_row = per_row or len(shapes)
    lines = [shapes[start : start + per_row] for start in range(0, len(shapes), per_row)]
    widths = [max(line[k][1] for line in lines if k < len(line)) for k in range(len(lines[0]))]
    heights = [max(shape[0] for shape in line) for line in lines]
    size = (width or cell * sum(widths) + 0.9 * len(widths), height or cell * sum(heights) + 0.9 * len(heights))
    ratios = {"width_ratios": widths, "height_ratios": heights}
    figure, axes = plt.subplots(len(lines), per_row, figsize=size, squeeze=False, gridspec_kw=ratios)
    drawn, empty = axes.flat[: len(shapes)], axes.flat[len(shapes) :]
    for ax in empty:
        ax.set_visible(False)
    return figure, list(drawn)


def heatmap(
    ax: Axes,
    matrix: Any,
    rows: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    title: str = "",
    fmt: str = "{:.2f}",
    *,
    annotate: bool = True,
    vmin: float | None = None,
    vmax: float | None = None,
    cmap: str | None = None,
) -> None:
    """A matrix as coloured cells with each number written in its cell.

    matrix: (L, S), NumPy, lists or a tensor; rows, columns: L and S labels
    fmt: how a number is written; vmin, vmax: the colour scale's ends, by default those of the finite entries
    Entries that are not finite are grey and written NaN, ∞ or −∞. For a colour bar, take `ax.images[0]`.
    Raises ValueError where the labels do not fit the matrix.
    """
    values = _numbers(matrix).astype(float)
    finite = values[np.isfinite(values)]
    low = vmin if vmin is not None else (finite.min() if finite.size else 0.0)
    high = vmax if vmax is not None else (finite.max() if finite.size else 1.0)
    if high <= low:  # a constant matrix: put it in the middle of the scale
        low, high = low - 0.5, high + 0.5
    colours = plt.get_cmap(cmap).with_extremes(bad=GREY)
    image = ax.imshow(np.ma.masked_invalid(values), cmap=colours, norm=Normalize(low, high))
    _ticks(ax, values.shape, rows, columns)
    if annotate:
        for (i, j), value in np.ndenumerate(values):
            background = colours(image.norm(value)) if np.isfinite(value) else to_rgb(GREY)
            ax.text(j, i, _text(value, fmt), ha="center", va="center", color=_readable_on(background[:3]))
    ax.set_title(title)


def mask(
    ax: Axes,
    matrix: Any,
    rows: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    title: str = "",
    *,
    annotate: bool | None = None,
) -> None:
    """A boolean mask: blue where a query may attend, grey where it may not.

    matrix: bool (L, S), True = attend; annotate: write 1 and 0 in the cells, by default up to 12 columns
    Raises TypeError for a mask that is not boolean.
    """
    values = _numbers(matrix)
    if values.dtype != bool:
        raise TypeError(f"mask must be boolean, True = attend; got {values.dtype}. For numbers use heatmap()")
    picture = np.where(values[..., None], to_rgb(BLUE), to_rgb(GREY))
    ax.imshow(picture)
    _ticks(ax, values.shape, rows, columns)
    if annotate if annotate is not None else values.shape[1] <= 12:
        for (i, j), value in np.ndenumerate(values):
            ax.text(j, i, int(value), ha="center", va="center", color="white" if value else INK)
    ax.set_title(title)


class Table:
    """A matrix as a table of text, so that the numbers of a picture can be read, copied or heard."""

    def __init__(self, values: np.ndarray, rows: Sequence[str], columns: Sequence[str], caption: str, fmt: str) -> None:
        self.cells = [[_text(float(value), fmt) for value in row] for row in values]
        self.rows, self.columns, self.caption = list(rows), list(columns), caption

    def _repr_html_(self) -> str:
        head = "".join(f'<th scope="col">{html.escape(column)}</th>' for column in self.columns)
        body = "".join(
            f'<tr><th scope="row">{html.escape(row)}</th>' + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"
            for row, cells in zip(self.rows, self.cells, strict=True)
        )
        caption = f"<caption>{html.escape(self.caption)}</caption>" if self.caption else ""
        return f'<table class="numbers">{caption}<thead><tr><td></td>{head}</tr></thead><tbody>{body}</tbody></table>'

    def __repr__(self) -> str:
        lines = [["", *self.columns], *([row, *cells] for row, cells in zip(self.rows, self.cells, strict=True))]
        width = [max(map(len, column)) for column in zip(*lines, strict=True)]
        text = ["  ".join(cell.rjust(size) for cell, size in zip(line, width, strict=True)) for line in lines]
        return "\n".join(([self.caption] if self.caption else []) + text)


def table(
    matrix: Any,
    rows: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    caption: str = "",
    fmt: str = "{:.4f}",
) -> Table:
    """The numbers of `matrix` (L, S) as a table; leave it as the last line of a cell to show it."""
    values = _numbers(matrix)
    rows = rows if rows is not None else [str(i) for i in range(values.shape[0])]
    columns = columns if columns is not None else [str(j) for j in range(values.shape[1])]
    return Table(values, rows, columns, caption, fmt)


_use_style()
