"""The drawings of chapter 11: shared heads, a GPU's memories, tiles, a cache beside weights, memory, and roofs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb

import figures
from figures import BLUE, GREEN, GREY, INK, KEY, ORANGE, PINK, QUERY, VALUE, WEIGHT

__all__ = [
    "cache_against_weights",
    "memory_curves",
    "memory_levels",
    "misses",
    "predicted_and_measured",
    "roofs",
    "shared_heads",
    "tiles",
]

DIM = "#5b6472"  # what is said aside
PALE = "#f0c9f7"  # a tile of weights that has been used


def _box(ax: Axes, x: float, y: float, size: tuple[float, float], colour: str, text: str = "", **how: Any) -> None:
    ax.add_patch(plt.Rectangle((x, y), *size, fc=colour, ec=how.pop("edge", "white"), lw=1, **how))
    ink = figures._readable_on(to_rgb(colour))
    ax.text(x + size[0] / 2, y + size[1] / 2, text, ha="center", va="center", color=ink, fontsize=10)


def shared_heads(rows: Sequence[tuple[str, int, str]], heads: int = 8) -> None:
    """rows: (name, G, what the cache holds per token). Which query head reads which head of keys and values."""
    figure, axes = plt.subplots(len(rows), 1, figsize=(4.6, 1.9 * len(rows)))
    for (name, groups, note), ax in zip(rows, axes, strict=True):
        for h in range(heads):
            _box(ax, h, 2.0, (0.84, 0.7), QUERY, f"$q_{h}$")
        for g in range(groups):
            middle = (g + 0.5) * heads / groups - 0.08
            for h in range(g * heads // groups, (g + 1) * heads // groups):
                ax.plot([h + 0.42, middle], [2.0, 1.3], color=DIM, lw=1, zorder=0)
            _box(ax, middle - 0.42, 0.65, (0.84, 0.65), KEY, f"$k_{g}$")
            _box(ax, middle - 0.42, 0.0, (0.84, 0.65), VALUE, f"$v_{g}$")
        ax.text(0, 3.1, name, weight="bold", va="center")
        ax.text(heads, 3.1, note, ha="right", va="center", color=DIM)
        ax.set(xlim=(-0.1, heads + 0.1), ylim=(-0.1, 3.5))
        ax.axis("off")
    plt.show()


def cache_against_weights(per_token: Mapping[int, float], weights: float) -> None:
    """per_token: G → GiB of cache per token; weights: GiB. Where a line crosses the weights, the cache is larger."""
    figure, ax = plt.subplots(figsize=(4.6, 3.6))
    tokens = [2**k for k in range(9, 21)]
    for (groups, size), (colour, style) in zip(
        per_token.items(), ((BLUE, "-"), (ORANGE, "--"), (GREEN, ":")), strict=True
    ):
        ax.plot(tokens, [size * n for n in tokens], style, color=colour, label=f"cache, G = {groups}", lw=2)
        ax.plot([weights / size], [weights], "o", color=colour)
    ax.axhline(weights, color=INK, lw=1.5)
    ax.text(512, 1.2 * weights, f"weights, {weights:.1f} GiB", va="bottom")
    ax.set(xscale="log", yscale="log", xlabel="tokens held: batch × length", ylabel="GiB read per step")
    ax.set_xticks([2**10, 2**13, 2**16, 2**19], ["1k", "8k", "64k", "512k"])
    ax.minorticks_off()
    ax.legend(loc="lower right")
    plt.show()


#: An H100 SXM5 (Shah et al. 2024, table 1): where, how much in all, bytes per second, and what lies there.
LEVELS = (
    ("registers", "33 MiB", "", "$q$ block, $m$, $\\ell$, $a$, the tile"),
    ("shared memory", "29 MiB", "31 TB/s", "$k$ and $v$ blocks in use"),
    ("L2 cache", "50 MiB", "12 TB/s", "$k$ and $v$ of a head, read again"),
    ("HBM", "80 GiB", "3.35 TB/s", "$Q$, $K$, $V$, output: all of it"),
)


def memory_levels() -> None:
    """Memories of an H100 from small and fast to large and slow, with what blockwise attention keeps in each."""
    figure, ax = plt.subplots(figsize=(4.6, 4.4))
    fills = ("#cfe3f1", "#dbeaf4", "#e8f0f6", GREY)
    for level, ((name, size, rate, holds), fill) in enumerate(zip(LEVELS, fills, strict=True)):
        half, top = 2.7 + 0.75 * level, 8.0 - 2.15 * level
        ax.add_patch(plt.Rectangle((-half, top), 2 * half, 1.45, fc=fill, ec=DIM, lw=1))
        ax.text(0, top + 1.03, f"{name}, {size}", ha="center", va="center", weight="bold", fontsize=10.5)
        ax.text(0, top + 0.42, holds, ha="center", va="center", fontsize=10)
        if rate:
            ax.annotate("", (0, top + 2.15), (0, top + 1.45), arrowprops={"arrowstyle": "<->", "color": INK})
            ax.text(0.3, top + 1.8, rate, va="center", fontsize=10, bbox={"fc": "white", "ec": "none", "pad": 1})
    ax.axhline(3.35, color=ORANGE, ls="--", lw=1, zorder=0)
    ax.text(-5.2, 3.35, "edge of the chip", color=ORANGE, va="center", bbox={"fc": "white", "ec": "none", "pad": 2})
    ax.set(xlim=(-5.3, 5.3), ylim=(-0.1, 9.6))
    ax.axis("off")
    plt.show()


def tiles(n: int = 6, row: int = 3, column: int = 2) -> None:
    """The tiles of causal attention: used, in use, to come, and never made; beside them what each query keeps."""
    figure, ax = plt.subplots(figsize=(4.6, 4.2))
    for i in range(n):
        for j in range(n):
            used = i < row or (i == row and j < column)
            colour = GREY if j > i else WEIGHT if (i, j) == (row, column) else PALE if used else "white"
            hatch = "////" if i == j else None
            ax.add_patch(plt.Rectangle((j, i), 0.92, 0.92, fc=colour, ec=DIM, lw=0.8, hatch=hatch))
    ax.text(column + 0.46, row + 0.46, "now", ha="center", va="center", color="white")
    for start, width, name in ((0.4, 0.5, "m"), (0.95, 0.5, "ℓ"), (1.5, 1.2, "a")):
        ax.add_patch(plt.Rectangle((n + start, row), width, 0.92, fc="white", ec=INK, lw=1.5))
        ax.text(n + start + width / 2, row + 0.46, name, ha="center", va="center")
    ax.text(n + 0.4, row - 0.15, "kept per query", va="bottom")
    for y, name, colour in ((n + 0.25, "keys", KEY), (n + 0.95, "values", VALUE)):
        ax.add_patch(plt.Rectangle((column, y), 0.92, 0.5, fc=colour, ec="none"))
        ax.text(column + 1.1, y + 0.25, f"{name} in use", va="center", color=colour)
    ax.add_patch(plt.Rectangle((-0.7, row), 0.5, 0.92, fc=QUERY, ec="none"))
    ax.text(-0.95, row + 0.46, "queries in use", rotation=90, ha="center", va="center", color=QUERY)
    ax.text(n / 2, -0.2, "blocks of keys", ha="center", va="bottom")
    ax.set(xlim=(-1.3, n + 3.1), ylim=(n + 1.6, -0.8), aspect="equal")
    ax.axis("off")
    plt.show()


def memory_curves(study: Sequence[Sequence[Any]], here: Sequence[Sequence[Any]] = ()) -> None:
    """study, here: rows of form, length, with backward, MiB. Crosses are what this build measured."""
    figure, axes = plt.subplots(2, 1, figsize=(4.6, 5.6), sharex=True)
    styles = {
        "naive": (ORANGE, "o-"),
        "one pass, autograd": (PINK, "s--"),
        "blockwise": (BLUE, "o-"),
        "SDPA": (GREEN, "^--"),
    }
    for ax, backward in zip(axes, (False, True), strict=True):
        for form, (colour, style) in styles.items():
            points = [(n, found) for name, n, back, found in study if (name, back) == (form, backward)]
            ax.plot(*zip(*points, strict=True), style, color=colour, label=form)
            again = [(n, found) for name, n, back, found in here if (name, back) == (form, backward)]
            if again:
                ax.plot(*zip(*again, strict=True), "x", color=INK, zorder=5)
        ax.set(xscale="log", yscale="log", ylabel="MiB above the inputs")
        ax.set_title("forward and backward" if backward else "forward")
        ax.set_xticks([1024, 2048, 4096, 8192], ["1k", "2k", "4k", "8k"])
        ax.minorticks_off()
    axes[1].set_xlabel("length L")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    plt.show()


def predicted_and_measured(found: Mapping[str, Any]) -> None:
    """found: what `studies.efficient.forward` gives. Bars of each form's parts above its measured time."""
    figure, ax = plt.subplots(figsize=(4.6, 3.6))
    colours = {
        "Q Kᵀ": BLUE,
        "weights · V": "#56B4E9",
        "products": BLUE,
        "scale": ORANGE,
        "softmax": PINK,
        "exponentials": GREEN,
    }
    shown: set[str] = set()
    for y, (name, parts) in enumerate(found["predicted"].items()):
        start = 0.0
        for part, seconds in parts.items():
            label = None if part in shown else part
            ax.barh(3 * y, 1000 * seconds, left=start, color=colours[part], height=0.8, label=label)
            shown.add(part)
            start += 1000 * seconds
        ax.barh(3 * y + 1, 1000 * found["measured"][name], color=DIM, height=0.8, label=None if y else "measured")
    ax.set_yticks([3 * y + 0.5 for y in range(len(found["predicted"]))], list(found["predicted"]))
    ax.invert_yaxis()
    ax.set_xlabel("milliseconds")
    figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    plt.show()


def misses(rows: Mapping[str, Mapping[str, float]]) -> None:
    """rows: form → seconds predicted by the benchmark, predicted with what it left out, and measured."""
    figure, ax = plt.subplots(figsize=(4.6, 4.8))
    parts = (
        ("benchmark", "simple prediction", "#56B4E9"),
        ("counted", "with what it left out", BLUE),
        ("measured", "measured", DIM),
    )
    for shift, (part, label, colour) in enumerate(parts):
        places = [4 * y + shift for y in range(len(rows))]
        bars = ax.barh(places, [1000 * row[part] for row in rows.values()], color=colour, height=0.9, label=label)
        ax.bar_label(bars, fmt="%.0f", padding=3)
    ax.set_yticks([4 * y + 1 for y in range(len(rows))], list(rows))
    ax.invert_yaxis()
    ax.margins(x=0.12)
    ax.set_xlabel("milliseconds")
    figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    plt.show()


def roofs(rows: Mapping[str, Mapping[str, float]], peak: float) -> None:
    """rows: width → roof → TFLOP/s; peak: of the matrix products. Bars for each width, the peak as a line."""
    figure, ax = plt.subplots(figsize=(4.6, 3.4))
    colours, names = (ORANGE, PINK, BLUE), list(next(iter(rows.values())))
    for shift, (name, colour) in enumerate(zip(names, colours, strict=True)):
        places = [(len(names) + 1) * y + shift for y in range(len(rows))]
        bars = ax.barh(places, [row[name] for row in rows.values()], color=colour, height=0.9, label=name)
        ax.bar_label(bars, fmt="%.0f", padding=3)
    ax.axvline(peak, color=INK, lw=1, ls="--")
    ax.set_yticks([(len(names) + 1) * y + 1 for y in range(len(rows))], list(rows))
    ax.invert_yaxis()
    ax.set(xlabel="TFLOP/s at most", xlim=(0, 1.25 * peak))
    figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=1)
    plt.show()
