"""The drawings of chapter 1: a lookup in three rows, recall from memory, routes through layers, a real sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

import figures
from drawings.matrix_cells import cells, one_hue, tint
from figures import BLUE, GREY, INK, KEY, ORANGE, OUTPUT, PINK, QUERY, VALUE, WEIGHT
from studies.recording import spread

__all__ = ["lookup", "recall_curves", "routes", "sentence_map"]

Route = list[tuple[tuple[float, float], tuple[float, float]]]


def lookup(query: Any, keys: Any, values: Any, scores: Any, weights: Any) -> None:
    """A lookup is a weighted mean: query above keys, a bar for each weight, output below values."""
    figure, ax = plt.subplots(figsize=(4.8, 3.5))
    cells(ax, [query], (0, 5.7), QUERY, rows=["$q_3$"])
    cells(ax, keys, (0, 3.6), KEY, rows=["$k_1$", "$k_2$", "$k_3$"])
    cells(ax, values, (9.3, 3.6), VALUE)
    for name, x, colour in (("keys", 1.5, KEY), ("score", 4.2, INK), ("weight", 6.7, WEIGHT), ("values", 10.8, VALUE)):
        ax.text(x, 3.75, name, ha="center", va="bottom", color=colour, weight="bold")
    ax.text(1.5, 5.85, "query", ha="center", va="bottom", color=QUERY, weight="bold")
    for i, (score, weight) in enumerate(zip(scores, weights, strict=True)):
        y = 3.1 - i
        ax.text(4.2, y, f"{score:.0f}", ha="center", va="center")
        ax.barh(y, 2.0 * weight, left=5.4, height=0.6, color=WEIGHT, zorder=2)
        ax.barh(y, 2.0, left=5.4, height=0.6, color=tint(WEIGHT, 0.1), zorder=1)
        ax.text(7.55, y, f"{weight:.4f}", va="center", fontsize=9)
        ax.text(12.45, y, f"$v_{i + 1}$", va="center", color=VALUE)
    output = np.asarray(weights) @ np.asarray(values)
    cells(ax, [output], (9.3, -0.2), OUTPUT, fmt="{:.2f}")
    ax.text(9.15, -0.7, "output = weighted mean of the values", ha="right", va="center", color=OUTPUT)
    ax.set(xlim=(-0.9, 13.1), ylim=(-1.4, 6.7), aspect="equal")
    ax.axis("off")
    plt.show()


def recall_curves(found: Mapping[str, Any], here: Mapping[str, Sequence[float]]) -> None:
    """Summaries of fixed size forget with each pair, whatever their width; a lookup does not. Marks: this build."""
    figure, ax = plt.subplots(figsize=(5.0, 4.6))
    counts = found["counts"]
    ax.axvspan(1, 12, color=GREY, alpha=0.5, label="trained on", zorder=0)
    for name, case in found["cases"].items():
        colour = {"mean": ORANGE, "GRU": PINK, "attention": BLUE}[name.partition(",")[0]]
        wide = name.endswith("64") or name.startswith("attention")
        style = "-" if wide else "-." if "training" in name else "--"
        average, deviation = (list(part) for part in zip(*map(spread, zip(*case["right"], strict=True)), strict=True))
        ax.errorbar(counts, average, deviation, ls=style, color=colour, label=name, capsize=2)
    ax.plot(counts, found["floor"], ":", color=INK, label="knows the values, not whose")
    for right in here.values():
        ax.plot(counts, right, "o", color=INK, ms=4, zorder=5)
    ax.set(xscale="log", ylim=(0, 1.04), xlabel="pairs in the sequence", ylabel="right answers")
    ax.set_xticks(counts, counts)
    ax.minorticks_off()
    figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=2, fontsize=9)
    plt.show()


def routes() -> None:
    """From the first of eight inputs to the last output: eight steps, three layers, one edge."""
    count = range(1, 9)
    chain: Route = [((i, 1), (i + 1, 1)) for i in range(1, 8)]
    dilated: Route = [
        ((j, layer), (i, layer + 1)) for layer in range(3) for i in count for j in (i, i - 2**layer) if j >= 1
    ]
    everyone: Route = [((j, 0), (i, 1)) for i in count for j in count]
    figure, axes = plt.subplots(3, 1, figsize=(4.6, 5.4), height_ratios=[1.2, 2.2, 1.2])
    first: Route = [((1, 0), (1, 1))]
    _network(axes[0], [((i, 0), (i, 1)) for i in count] + chain, first + chain, 1, "recurrent: 8 steps")
    over: Route = [((1, 0), (2, 1)), ((2, 1), (4, 2)), ((4, 2), (8, 3))]
    _network(axes[1], dilated, over, 3, "dilated convolutions: 3 layers")
    _network(axes[2], everyone, [((1, 0), (8, 1))], 1, "self-attention: 1 layer")
    plt.show()


def _network(ax: Axes, edges: Route, route: Route, layers: int, title: str) -> None:
    for (x0, y0), (x1, y1) in edges:
        ax.plot([x0, x1], [y0, y1], color="#9aa3af", lw=0.9, zorder=1)
    arrow = {"arrowstyle": "-|>", "color": ORANGE, "lw": 2.4, "shrinkA": 5, "shrinkB": 5}
    for start, end in route:
        ax.annotate("", end, start, zorder=3, arrowprops=arrow)
    for y in range(layers + 1):
        ax.scatter(range(1, 9), [y] * 8, s=60, color=BLUE if y else "white", edgecolor=INK, zorder=2)
    ax.set(title=title, ylim=(-0.25 * layers - 0.05, 1.12 * layers + 0.1))
    ax.set_xticks(range(1, 9), [f"$x_{i}$" for i in range(1, 9)])
    ax.set_yticks([])
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)


def sentence_map(weights: Sequence[Sequence[float]], words: Sequence[str]) -> None:
    """Each row hides one word and shows where the model looks to guess it: next to the gap, and at rare words."""
    shown = 100 * np.asarray(weights)
    figure, ax = plt.subplots(figsize=(4.8, 4.6))
    figures.heatmap(ax, shown, words, words, fmt="{:.0f}", vmin=0, vmax=100, cmap=one_hue(WEIGHT))  # type: ignore[arg-type]
    for at in range(len(words)):
        ax.add_patch(plt.Rectangle((at - 0.5, at - 0.5), 1, 1, fc=GREY, ec="white", hatch="///", lw=0, zorder=3))
    ax.tick_params(axis="x", rotation=50)
    for label in ax.get_xticklabels():
        label.set(ha="left", rotation_mode="anchor", color=KEY)
    for label in ax.get_yticklabels():
        label.set_color(QUERY)
    ax.set(ylabel="hidden word")
    ax.set_xlabel("looked at", color=INK)
    plt.show()
