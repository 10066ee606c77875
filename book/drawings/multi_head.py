"""The figures of chapter 5: heads that look at different things, the split of the queries, the whole layer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, to_hex, to_rgb
from torch import Tensor

import figures
from figures import BLUE, INK, KEY, ORANGE, OUTPUT, QUERY, VALUE, WEIGHT

__all__ = ["WEIGHTS", "head_split", "layer", "maps", "runs"]

#: One hue for weights: 0 is white, 1 the colour of weights.
WEIGHTS = LinearSegmentedColormap.from_list("weights", ["white", WEIGHT])


def maps(shown: Mapping[str, Tensor], names: Sequence[str]) -> None:
    """shown: title → weights (L, L) over the tokens `names`; two maps a row: where each head looks."""
    figure, axes = plt.subplots((len(shown) + 1) // 2, 2, figsize=(5.0, 2.75 * ((len(shown) + 1) // 2)), squeeze=False)
    for ax, (title, weights) in zip(axes.flat, shown.items(), strict=True):
        ax.imshow(weights, cmap=WEIGHTS, vmin=0, vmax=1)
        ax.set_xticks(range(len(names)), names, fontsize=8, color=KEY)
        ax.set_yticks(range(len(names)), names, fontsize=8, color=QUERY)
        ax.tick_params(length=0, pad=1)
        ax.set_title(title, fontsize=11)
        ax.set_xlabel("key", fontsize=10)
        ax.set_ylabel("query", fontsize=10)
    plt.show()


def runs(found: Mapping[str, Sequence[Mapping[str, Any]]], here: Mapping[str, Mapping[str, Any]]) -> None:
    """The share of right answers on the worse of two questions, a dot for each run of the study and of this build."""
    figure, ax = plt.subplots(figsize=(4.8, 0.62 * len(found) + 0.9))
    for row, (name, seeds) in enumerate(found.items()):
        shares = sorted(min(one["accuracy"]) for one in seeds)
        lifts = [0.0]  # runs that end alike stand above each other
        for before, share in zip(shares, shares[1:], strict=False):
            lifts.append(lifts[-1] + 0.055 if share - before < 0.012 else 0.0)
        heights = [row + 0.3 - lift for lift in lifts]
        ax.plot(shares, heights, "o", color=BLUE, ms=5, alpha=0.7, label="one of 12 seeds" if row == 0 else None)
        if name in here:
            at = min(here[name]["accuracy"])
            ax.plot(at, row + 0.42, "^", color=INK, ms=6, label="this build" if row == 0 else None)
    ax.axvline(1 / 8, color=ORANGE, ls=":", lw=1.5)
    ax.text(0.135, -0.62, "guessing", color=ORANGE, fontsize=9)
    ax.set_yticks(range(len(found)), list(found))
    ax.set(xlim=(0.08, 1.03), ylim=(len(found) - 0.4, -0.8), xlabel="right answers, worse of the two questions")
    ax.legend(loc="upper center", bbox_to_anchor=(0.4, -0.28 if len(found) < 4 else -0.2), ncols=2)
    plt.show()


def _token_colour(token: int) -> str:
    """Lighter and darker steps of the query's colour, one for each of three tokens."""
    share = (0.18, 0.5, 1.0)[token]
    return to_hex([1 - share * (1 - part) for part in to_rgb(QUERY)])


def _grid(ax: Axes, left: float, top: float, cells: Sequence[Sequence[tuple[str, int]]], gap: int = 0) -> None:
    """Unit cells (text, token) from the top left corner down; `gap`: a dashed line after that column."""
    for i, row in enumerate(cells):
        for j, (text, token) in enumerate(row):
            colour = _token_colour(token)
            ax.add_patch(plt.Rectangle((left + j, top - i - 1), 0.94, 0.94, fc=colour, ec="none"))
            ink = figures._readable_on(to_rgb(colour))
            ax.text(left + j + 0.47, top - i - 0.53, text, ha="center", va="center", color=ink, fontsize=11)
    if gap:
        ax.plot([left + gap - 0.03] * 2, [top - len(cells) - 0.15, top + 0.15], color=ORANGE, lw=2, ls="--")


def head_split(queries: Tensor) -> None:
    """queries (3, 6): the running example's, of both heads. Their split by reshape and transpose, and by reshape alone.

    A token has one shade. In the right split each head has a row of each shade; in the wrong one it has not.
    """
    cells = [[(f"{number:.0f}", token) for number in row] for token, row in enumerate(queries.tolist())]
    flat = [cell for row in cells for cell in row]
    right = [[row[:3] for row in cells], [row[3:] for row in cells]]
    wrong = [[flat[9 * h + 3 * i : 9 * h + 3 * i + 3] for i in range(3)] for h in (0, 1)]
    figure, ax = plt.subplots(figsize=(4.6, 5.6))
    _grid(ax, 1.9, 0, cells, gap=3)
    for token in range(3):
        ax.text(1.7, -token - 0.53, f"token {token + 1}", ha="right", va="center")
    ax.text(4.9, 0.45, "queries of both heads, (3, 6)", ha="center")
    for top, heads, title in ((-5.2, right, "reshape, then transpose"), (-10.6, wrong, "reshape alone: wrong")):
        ax.text(-0.1, top + 1.0, title, weight="bold", va="center")
        for h, head in enumerate(heads):
            left = 0.9 + 4.6 * h
            _grid(ax, left, top, head)
            ax.text(left + 1.5, top + 0.3, f"head {h + 1}", ha="center", va="center", fontsize=10)
    ax.set(xlim=(-0.4, 9.4), ylim=(-13.9, 1.1), aspect="equal")
    ax.axis("off")
    plt.show()


def _box(ax: Axes, x: float, y: float, text: str, colour: str, width: float = 1.7) -> None:
    ax.add_patch(plt.Rectangle((x - width / 2, y - 0.34), width, 0.68, fc=colour, ec="none", zorder=3))
    ink = figures._readable_on(to_rgb(colour))
    ax.text(x, y, text, ha="center", va="center", color=ink, fontsize=10, zorder=4)


def layer() -> None:
    """The layer from bottom to top: every projection reads all of x; what is cut into heads are q, k and v."""
    figure, ax = plt.subplots(figsize=(4.6, 5.8))
    columns = {"q_proj": (-2.1, QUERY), "k_proj": (0.0, KEY), "v_proj": (2.1, VALUE)}
    arrow = {"arrowstyle": "-|>", "color": INK, "shrinkA": 0, "shrinkB": 0}
    ax.text(0, -0.1, "x: all features of all tokens", ha="center", va="center")
    for name, (x, colour) in columns.items():
        ax.annotate("", (x, 1.0), (x * 0.55, 0.25), arrowprops=arrow)
        _box(ax, x, 1.35, name, colour)
        ax.annotate("", (x, 2.55), (x, 1.7), arrowprops=arrow)
        for h in (0, 1):  # the two halves that become heads
            _box(ax, x - 0.42 + 0.84 * h, 2.9, f"{name[0]}, {h + 1}", colour, width=0.78)
    ax.text(3.35, 2.9, "split", va="center", fontsize=10)
    for h, left in ((0, -1.55), (1, 1.55)):
        for name, (x, colour) in columns.items():
            top, at = (5.86, left + 0.8) if name == "v_proj" else (4.4, left)
            ax.plot([x - 0.42 + 0.84 * h, at], [3.26, top], color=colour, lw=1.2, zorder=1)
        _box(ax, left, 4.75, f"weights $A_{h + 1}$", WEIGHT, width=2.3)
        ax.annotate("", (left, 5.85), (left, 5.1), arrowprops=arrow)
        _box(ax, left, 6.2, f"$A_{h + 1}V_{h + 1}$", OUTPUT, width=2.3)
        ax.annotate("", (0.55 * (2 * h - 1), 7.3), (left, 6.55), arrowprops=arrow)
    ax.text(2.95, 4.75, "softmax,\neach its own", va="center", fontsize=10)
    _box(ax, -0.575, 7.65, "head 1", OUTPUT, width=1.1)
    _box(ax, 0.575, 7.65, "head 2", OUTPUT, width=1.1)
    ax.text(1.4, 7.65, "merge", va="center", fontsize=10)
    ax.annotate("", (0, 8.75), (0, 8.0), arrowprops=arrow)
    _box(ax, 0, 9.1, "out_proj: mixes the heads", OUTPUT, width=4.2)
    ax.annotate("", (0, 10.2), (0, 9.45), arrowprops=arrow)
    ax.text(0, 10.45, "y: as wide as x", ha="center", va="center", color=OUTPUT)
    ax.set(xlim=(-3.4, 4.9), ylim=(-0.5, 10.8))
    ax.axis("off")
    plt.show()
