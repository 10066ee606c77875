"""The drawings of chapter 9: a translator that looks back, right digits by length, and a framed alignment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.colors import LinearSegmentedColormap, to_rgb
from torch import Tensor

import figures
from figures import BLUE, GREY, INK, KEY, ORANGE, OUTPUT, QUERY, WEIGHT
from studies.recording import spread

__all__ = ["alignment", "frame_right", "right_by_length", "translator"]

WHITE_TO_WEIGHT = LinearSegmentedColormap.from_list("weight", ["white", WEIGHT])


def translator() -> None:
    """Encoder states below, a decoder state above, and the weights between them: what is asked, and what answers."""
    figure, ax = plt.subplots(figsize=(4.6, 4.9))

    def box(x: float, y: float, text: str, colour: str) -> None:
        ink = figures._readable_on(to_rgb(colour))
        style = {"boxstyle": "round,pad=0.4", "fc": colour, "ec": "none"}
        ax.text(x, y, text, ha="center", va="center", color=ink, fontsize=11, bbox=style, zorder=3)

    def arrow(start: tuple[float, float], end: tuple[float, float], **style: Any) -> None:
        ax.annotate("", end, start, arrowprops={"arrowstyle": "-|>", "color": INK, "shrinkA": 0, "shrinkB": 0} | style)

    source, weights = ("22", "Nov", "2026"), (0.1, 0.8, 0.1)
    for at, (word, weight) in enumerate(zip(source, weights, strict=True)):
        x = 1.2 * at
        ax.text(x, -0.9, word, ha="center", va="center")
        arrow((x, -0.7), (x, -0.3))
        box(x, 0, f"$h_{at + 1}$", KEY)
        arrow((x, 0.3), (1.2, 1.65), color=WEIGHT, lw=1 + 5 * weight, arrowstyle="-")
        if at:
            arrow((x - 0.92, 0), (x - 0.3, 0), arrowstyle="<|-|>")
    ax.text(-0.35, 1.0, "weights", color=WEIGHT, ha="center", va="center")
    box(1.2, 1.9, "$c_t$", OUTPUT)
    box(3.4, 1.9, "$s_t$", QUERY)
    box(4.9, 1.9, "$s_{t+1}$", QUERY)
    arrow((3.75, 1.9), (4.4, 1.9))
    arrow((2.55, 1.9), (3.05, 1.9))
    ax.text(2.25, 1.9, "…", ha="center", va="center")
    arrow((3.3, 1.6), (2.15, 0.75), color=QUERY, ls="--", connectionstyle="arc3,rad=-0.25")
    ax.text(3.2, 0.85, "asks", color=QUERY, ha="center", va="center")
    ax.text(3.9, 0.35, "2026-", ha="center", va="center")
    ax.text(3.9, -0.05, "has been written", ha="center", va="center", fontsize=9)
    arrow((3.75, 0.6), (3.45, 1.6))
    box(2.3, 3.2, "combine", GREY)
    arrow((1.35, 2.2), (2.0, 2.9))
    arrow((3.2, 2.2), (2.6, 2.9))
    arrow((2.3, 3.5), (2.3, 4.0))
    ax.text(2.3, 4.25, "next symbol: 1", ha="center", va="center")
    ax.set(xlim=(-0.9, 5.5), ylim=(-1.2, 4.6))
    ax.axis("off")
    plt.show()


def right_by_length(found: Mapping[str, Any]) -> None:
    """Right digits by length: the vector loses with every pair of digits, attention later and less."""
    figure, ax = plt.subplots(figsize=(4.8, 3.6))
    ax.axvspan(2, 8, color=GREY, label="lengths in training", zorder=0)
    for name, colour, mark in (("attention", BLUE, "o"), ("one vector", ORANGE, "s")):
        points = [spread(values) for values in zip(*found[name], strict=True)]
        averages, deviations = zip(*points, strict=True)
        ax.errorbar(found["lengths"], averages, deviations, color=colour, marker=mark, ms=4, capsize=3, label=name)
    ax.axhline(0.1, color=INK, ls=":", label="guessing")
    ax.set(ylim=(0, 1.04), xlabel="digits in the source", ylabel="right digits", xticks=found["lengths"])
    figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=2, fontsize=9)
    plt.show()


def frame_right(ax: Any, right: Tensor) -> None:
    """A frame around each cell of the right alignment (T, S)."""
    for t, s in right.nonzero().tolist():
        ax.add_patch(plt.Rectangle((s - 0.5, t - 0.5), 1, 1, fill=False, ec=ORANGE, lw=2, zorder=3))


def alignment(weights: Tensor, right: Tensor, source: str, target: str) -> None:
    """Who looks where, in per cent, with the truth framed: weights and right (T, S)."""
    figure, (ax,) = figures.panels(tuple(right.shape), width=4.9, height=4.9)
    columns = ["␣" if character == " " else character for character in source]
    figures.heatmap(ax, 100 * weights, list(target), columns, fmt="{:.0f}", vmin=0, vmax=100, cmap=WHITE_TO_WEIGHT)
    for number in ax.texts:
        number.set_fontsize(8)
    frame_right(ax, right)
    ax.set(xlabel="source", ylabel="written")
    plt.show()
