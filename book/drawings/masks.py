"""The drawings of chapter 4: what masks allow, how one acts on the scores, and what leaks through a wrong one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import torch
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from torch import Tensor

import figures
from drawings.matrix_cells import one_hue
from figures import BLUE, GREY, INK, KEY, ORANGE, PINK, QUERY, WEIGHT
from studies.recording import spread

__all__ = ["acting", "influences", "leak", "masks", "padded", "triptych"]

HEAT = LinearSegmentedColormap.from_list("weights", ["#ffffff", WEIGHT])
LINES = {
    "no mask": (PINK, "v-"),
    "erased after the softmax": (ORANGE, "o-"),
    "erased, renormalised": (INK, "s--"),
    "−∞ before the softmax": (BLUE, "^-"),
}


def _mask(ax: Axes, see: Tensor, rows: Sequence[str] | None, columns: Sequence[str] | None, title: str) -> None:
    """One mask: a filled cell with a dot may be looked at, a hatched one may not."""
    length, width = see.shape
    for i in range(length):
        for j in range(width):
            box = {"fc": WEIGHT, "ec": "white"} if see[i, j] else {"fc": "white", "ec": "#9aa4b2", "hatch": "////"}
            ax.add_patch(plt.Rectangle((j - 0.46, i - 0.46), 0.92, 0.92, lw=0.6, **box))
            if see[i, j] and max(length, width) < 8:
                ax.plot(j, i, "o", color="white", ms=4)
    ax.set(xlim=(-0.6, width - 0.4), ylim=(length - 0.4, -0.6), aspect="equal")
    ax.set_xticks(range(width), columns if columns is not None else [""] * width, color=KEY)
    ax.set_yticks(range(length), rows if rows is not None else [""] * length, color=QUERY)
    ax.xaxis.tick_top()
    ax.tick_params(length=0, labelsize=9)
    ax.spines[:].set_visible(False)
    ax.set_title(title, fontsize=11)


def masks(
    drawn: Mapping[str, Any],
    rows: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    per_row: int = 2,
    cell: float = 0.36,
) -> None:
    """drawn: title → bool (L, S), side by side; rows, columns: what the queries and the keys are called."""
    lines = -(-len(drawn) // per_row)
    heights, widths = zip(*(see.shape for see in drawn.values()), strict=True)
    size = (min(5.2, per_row * (cell * max(widths) + 0.55)), lines * (cell * max(heights) + 0.75))
    figure, axes = plt.subplots(lines, per_row, figsize=size, squeeze=False)
    for ax in axes.flat[len(drawn) :]:
        ax.set_visible(False)
    for ax, (title, see) in zip(axes.flat, drawn.items(), strict=False):
        _mask(ax, see, rows, columns, title)
    plt.show()


def triptych() -> None:
    """Three uses, three masks: padding alone, no future either, and a rectangle from one text to another."""
    words, source = ["it", "was", "late", "·"], ["es", "war", "spät", "·"]
    real = torch.tensor([True, True, True, False])
    figure, axes = plt.subplots(2, 2, figsize=(4.8, 4.7))
    _mask(axes[0, 0], real.expand(4, 4), words, words, "encoder:\npadding hidden")
    causal = torch.ones(4, 4, dtype=torch.bool).tril()
    _mask(axes[0, 1], causal, ["it", "was", "late", "."], ["it", "was", "late", "."], "decoder:\nfuture hidden")
    _mask(axes[1, 0], real.expand(3, 4), words[:3], source, "cross-attention:\nsource padding hidden")
    ax = axes[1, 1]
    for height, (text, colour) in zip(
        (0.72, 0.5, 0.28), (("rows: queries", QUERY), ("columns: keys", KEY), ("dot: may attend", WEIGHT)), strict=True
    ):
        ax.text(0.02, height, text, color=colour, fontsize=11, weight="bold", transform=ax.transAxes)
    ax.axis("off")
    plt.show()


def acting(scores: Tensor, see: Tensor) -> None:
    """The running example: scaled scores, the additive mask, their sum, and the weights of the sum."""
    added = torch.zeros(see.shape).masked_fill(~see, -torch.inf)
    weights = (scores + added).softmax(dim=-1)
    figure, axes = plt.subplots(2, 2, figsize=(4.8, 4.9))
    names = [f"$q_{i}$" for i in (1, 2, 3)], [f"$k_{j}$" for j in (1, 2, 3)]
    steps = (
        ("scaled scores", scores, "{:.2f}", 12),
        ("+ mask", added, "{:.0f}", 12),
        ("= masked scores", scores + added, "{:.2f}", 12),
        ("softmax: weights", weights, "{:.3f}", 1),
    )
    for ax, (title, matrix, fmt, top) in zip(axes.flat, steps, strict=True):
        figures.heatmap(ax, matrix, *names, title, fmt, vmin=0, vmax=top, cmap=HEAT)
        for labels, colour in ((ax.get_yticklabels(), QUERY), (ax.get_xticklabels(), KEY)):
            plt.setp(labels, color=colour)
    for text, seen in zip(axes[1, 1].texts, see.flatten(), strict=True):
        if not seen:
            text.set_text("0")  # exactly zero, against 0.001
    plt.show()


def leak(found: Mapping[str, Sequence[Any]], here: Mapping[str, Any], chance: float) -> None:
    """Share of random tokens guessed right against training steps, all seeds; crosses: one seed, run by this build."""
    figure, ax = plt.subplots(figsize=(5.0, 3.7))
    for name, (colour, line) in LINES.items():
        curves = [[share for _, share in curve] for curve in found[name]]
        steps = [step for step, _ in found[name][0]]
        spreads = [spread(column) for column in zip(*curves, strict=True)]
        means, deviations = torch.tensor(spreads).unbind(dim=1)
        ax.plot(steps, means, line, color=colour, label=name, ms=4, markevery=4)
        ax.fill_between(steps, means - deviations, means + deviations, color=colour, alpha=0.2, lw=0)
        if name in here:
            ax.plot(*zip(*here[name][::2], strict=True), "x", color=INK, ms=6, zorder=4)
    ax.axhline(chance, color=GREY, lw=5, zorder=0)
    ax.set(xlabel="training steps", ylabel="random tokens guessed right", ylim=(0, 1.04))
    ax.legend(loc="center right", bbox_to_anchor=(1, 0.42))
    plt.show()


def influences(found: Mapping[str, Tensor]) -> None:
    """found: name → (L, L), how strongly each input moves each output; exactly zero is written 0, small 0.00."""
    figure, axes = plt.subplots(2, 2, figsize=(5.2, 5.6))
    for ax, (name, matrix) in zip(axes.flat, found.items(), strict=True):
        figures.heatmap(ax, matrix, title=name, vmin=0, vmax=2, cmap=one_hue(BLUE))
        ax.set_title(name, fontsize=10)
        for text, entry in zip(ax.texts, matrix.flatten(), strict=True):
            text.set(text="0" if entry == 0 else f"{entry:.2f}".lstrip("0"), fontsize=8)
    figure.supxlabel("input", fontsize=11)
    figure.supylabel("output", fontsize=11)
    plt.show()


def padded(lengths: Sequence[int], share: Mapping[str, Sequence[float]]) -> None:
    """share: name → the weight that the first word gives to padding, at each padded length."""
    figure, ax = plt.subplots(figsize=(4.8, 3.2))
    for (name, values), (line, colour) in zip(
        share.items(), (("o--", PINK), ("s-", ORANGE), ("^-", BLUE)), strict=True
    ):
        ax.plot(lengths, values, line, color=colour, label=name)
    ax.set(xlabel="padded length (3 real words)", ylabel="weight on padding", ylim=(-0.03, 1.02))
    ax.legend(loc="center right")
    plt.show()
