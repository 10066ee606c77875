"""The drawings of chapter 2: the whole example, one entry of a product, the shadow of a key, a mixture of values."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from drawings.matrix_cells import cells, tint
from figures import GREY, INK, KEY, OUTPUT, QUERY, VALUE, WEIGHT

__all__ = ["mixture", "overview", "projection", "shadows"]

ROWS = range(3)


def _label(letter: str) -> list[str]:
    return [f"${letter}_{i + 1}$" for i in ROWS]


def _arrow(ax: Axes, start: tuple[float, float], end: tuple[float, float]) -> None:
    ax.annotate("", end, start, arrowprops={"arrowstyle": "-|>", "color": INK, "lw": 1.3})


def overview(inputs: Any, matrices: dict[str, Any], scores: Any, weights: Any, outputs: Any) -> None:
    """All arrays of the unscaled example; Q, K and V stand where the rows of X meet the columns of their matrix.

    matrices: "Q", "K" and "V" with the pair (weight matrix, what it makes of the inputs)
    """
    figure, ax = plt.subplots(figsize=(5.2, 5.2))
    cells(ax, inputs, (0, 4.0), INK, title="$X$", rows=_label("x"))
    for number, (name, (weight, product)) in enumerate(matrices.items()):
        colour, left = (QUERY, KEY, VALUE)[number], 5.0 + 3.7 * number
        cells(ax, weight, (left, 9.0), colour, title=f"$W_{name}$")
        cells(ax, product, (left, 4.0), colour, title=f"${name} = X\\,W_{name}$")
    size, low = (1.3, 1.0), -1.9
    cells(ax, scores, (0.2, low), WEIGHT, size=size, title="$S = QK^\\top$", rows=_label("q"), columns=_label("k"))
    looks = {"size": size, "fmt": "{:.2f}"}
    cells(ax, weights, (5.9, low), WEIGHT, title="$A$, softmax of $S$", columns=_label("k"), **looks)
    cells(ax, outputs, (11.8, low), OUTPUT, title="$Y = A\\,V$", **looks)
    _arrow(ax, (5.6, 0.9), (2.4, 0.0))
    _arrow(ax, (9.2, 0.9), (4.2, -0.2))
    _arrow(ax, (4.2, low - 1.5), (5.8, low - 1.5))
    _arrow(ax, (9.9, low - 1.5), (11.7, low - 1.5))
    _arrow(ax, (13.9, 0.9), (13.9, -0.6))
    ax.set(xlim=(-0.9, 16.0), ylim=(-5.1, 10.2), aspect="equal")
    ax.axis("off")
    plt.show()


def projection(inputs: Any, weight: Any, row: int, column: int) -> None:
    """One entry of Q is one row of X with one column of W_Q, product by product; the lit cells are those of the sum."""
    x, w = np.asarray(inputs), np.asarray(weight)
    product = x @ w
    figure, ax = plt.subplots(figsize=(4.6, 4.0))
    cells(ax, x, (0, 4.0), INK, title="$X$", rows=_label("x"), lit=[(row, j) for j in range(4)], fontsize=11)
    cells(ax, w, (5.2, 9.4), QUERY, title="$W_Q$", lit=[(i, column) for i in range(4)], fontsize=11)
    cells(ax, product, (5.2, 4.0), QUERY, lit=[(row, column)], fontsize=11)
    ax.text(8.4, 2.5, "$Q = X\\,W_Q$", va="center", color=QUERY, fontsize=11, weight="bold")
    terms = " + ".join(f"{a:.0f}·{b:.0f}" for a, b in zip(x[row], w[:, column], strict=True))
    ax.text(0, 0.2, f"{terms} = {product[row, column]:.0f}", fontsize=12, va="center")
    ax.set(xlim=(-0.9, 11.2), ylim=(-0.4, 10.4), aspect="equal")
    ax.axis("off")
    plt.show()


def shadows(query: Any, keys: Any) -> None:
    """A score is the length of the key's shadow on the query, times the query's length: k2 is longer, k3 scores alike.

    Across: how far a key reaches in the query's direction. Up: the rest of its length. This is exact in any dimension.
    """
    q, k = np.asarray(query, dtype=float), np.asarray(keys, dtype=float)
    length = np.linalg.norm(q)
    along = k @ q / length
    across = np.sqrt((k**2).sum(1) - along**2)
    figure, ax = plt.subplots(figsize=(4.4, 4.6))
    arrow = {"arrowstyle": "-|>", "lw": 2.2, "shrinkA": 0, "shrinkB": 0}
    ax.axhline(0, color=GREY, lw=1)
    for at, side in zip(sorted(set(along.round(6))), ("right", "left"), strict=True):
        ax.plot([at, at], [0, 6], ls=":", color=INK, lw=1)
        ax.text(at, 6.08, f"score {at * length:.0f}", ha=side, va="bottom", fontsize=10)
    for i in ROWS:
        ax.annotate("", (along[i], across[i]), (0, 0), arrowprops=arrow | {"color": KEY})
        ax.text(along[i] + 0.1, across[i], f"$k_{i + 1}$", color=KEY, va="center")
    ax.annotate("", (length, 0), (0, 0), arrowprops=arrow | {"color": QUERY}, zorder=4)
    ax.text(length + 0.1, 0, "$q_1$", color=QUERY, va="center")
    ax.set(xlim=(-0.3, 3.1), ylim=(-0.4, 6.6), xlabel="along the query", ylabel="the rest of the key", aspect="equal")
    plt.show()


def mixture(values: Any, outputs: dict[str, Any]) -> None:
    """Features 2 and 3: every output lies in the triangle of the values. outputs: "unscaled" and "scaled"."""
    v = np.asarray(values, dtype=float)
    figure, ax = plt.subplots(figsize=(4.8, 3.6))
    ax.fill(v[:, 1], v[:, 2], color=tint(VALUE, 0.15))
    ax.plot(v[:, 1], v[:, 2], "s", color=VALUE, label="values")
    for (name, points), mark in zip(outputs.items(), ("o", "^"), strict=True):
        points = np.asarray(points)
        ax.plot(points[:, 1], points[:, 2], mark, color=OUTPUT, mfc="none" if mark == "o" else OUTPUT, label=name)
    for i, (_, x, y) in enumerate(v):
        ax.annotate(f"$v_{i + 1}$", (x, y), textcoords="offset points", xytext=(8, 4), color=VALUE)
    for i, ((_, x, y), shift) in enumerate(
        zip(np.asarray(outputs["scaled"]), ((-6, 8), (-22, -6), (-20, 4)), strict=True)
    ):
        ax.annotate(f"$y_{i + 1}$", (x, y), textcoords="offset points", xytext=shift, color=OUTPUT)
    ax.set(xlabel="feature 2", ylabel="feature 3", xlim=(1.5, 9), ylim=(-0.5, 3.6))
    ax.legend(loc="lower left")
    plt.show()
