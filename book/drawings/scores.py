"""The drawings of chapter 3: a query among keys, weights that saturate, and what the scale changes at each width."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import torch
from matplotlib.axes import Axes
from torch import Tensor

from figures import BLUE, GREY, INK, KEY, ORANGE, QUERY, WEIGHT
from studies.recording import spread

__all__ = ["gradients", "plane", "saturation", "spreads", "training"]

COLOURS = {"unscaled": ORANGE, "scaled": BLUE}
MARKS = {"unscaled": "o", "scaled": "s"}


def plane(query: Sequence[float], keys: Sequence[Sequence[float]]) -> None:
    """A key scores by how far it reaches along the query: two keys on one line tie, whatever their directions."""
    q = torch.tensor(query)
    figure, ax = plt.subplots(figsize=(4.6, 3.9))
    across = torch.stack([-q[1], q[0]]) / q.norm()
    for score in range(-3, 9):
        foot = q * score / q.square().sum()  # the point of the line q·k = score that is nearest to 0
        ends = torch.stack([foot - 9 * across, foot + 9 * across])
        ax.plot(*ends.T, color=INK if score == 0 else GREY, lw=1.2, zorder=1)
        x = (score - 2.75 * q[1]) / q[0]  # where the line has the height 2.75
        if -1.9 < x < 3.0:
            box = {"fc": "white", "ec": "none", "pad": 1}
            ax.text(x, 2.75, f"{score}", fontsize=9, ha="center", va="center", bbox=box, zorder=2)
    arrow = {"arrowstyle": "-|>", "lw": 2.6, "shrinkA": 0, "shrinkB": 0}
    for name, tip, colour in [("$q$", query, QUERY)] + [(f"$k_{j}$", k, KEY) for j, k in enumerate(keys, start=1)]:
        ax.annotate("", tuple(tip), (0, 0), arrowprops=arrow | {"color": colour}, zorder=3)
        at = {"xy": tuple(tip), "xytext": (-10, -3) if tip[0] < 0 else (9, -7), "textcoords": "offset points"}
        ax.annotate(name, **at, color=colour, fontsize=13, ha="center", va="center", zorder=4)
    ax.set(xlim=(-2.1, 3.1), ylim=(-1.5, 3.0), aspect="equal", xlabel="feature 1", ylabel="feature 2")
    plt.show()


def saturation(rows: Mapping[int, Mapping[str, Tensor]]) -> None:
    """rows: width → name → weights (S,). Wider vectors leave one weight standing, unless the scores are scaled."""
    names = list(next(iter(rows.values())))
    figure, axes = plt.subplots(len(names), len(rows), figsize=(4.8, 3.7), sharex=True, sharey=True)
    for column, (width, weights) in enumerate(rows.items()):
        for ax, name in zip(axes[:, column], names, strict=True):
            ax.bar(range(1, len(weights[name]) + 1), weights[name], color=WEIGHT)
            top = weights[name].max().item()
            ax.text(len(weights[name]) / 2 + 0.5, 1.08, f"largest {top:.2f}", ha="center", fontsize=9)
            ax.set(ylim=(0, 1.25), xticks=[], yticks=[0, 0.5, 1])
            if ax is axes[0, column]:
                ax.set_title(f"$d_k = {width}$", loc="center")
            if column == 0:
                ax.set_ylabel(name)
    figure.supxlabel("eight keys", fontsize=11)
    plt.show()


def _over_widths(ax: Axes, widths: Sequence[int]) -> None:
    ax.axvline(64, color=GREY, lw=7, zorder=0)
    ax.set(xscale="log", xlabel="width $d_k$ (grey: the Transformer's 64)")
    ax.set_xticks(widths, [str(width) for width in widths])
    ax.minorticks_off()


def gradients(found: Mapping[str, Mapping[int, Tensor]]) -> None:
    """found: name → width → lengths of the gradient at each query. The typical one, its quartiles, and the mean."""
    figure, ax = plt.subplots(figsize=(5.0, 3.6))
    for name, by_width in found.items():
        lengths = torch.stack(list(by_width.values()))  # (widths, n)
        low, middle, high = torch.quantile(lengths, torch.tensor([0.25, 0.5, 0.75]), dim=1)
        ax.plot(list(by_width), middle, MARKS[name] + "-", color=COLOURS[name], label=f"{name}, median")
        ax.fill_between(list(by_width), low, high, color=COLOURS[name], alpha=0.2, lw=0)
        ax.plot(list(by_width), lengths.mean(dim=1), ":", color=COLOURS[name], label=f"{name}, mean")
    _over_widths(ax, list(next(iter(found.values()))))
    ax.set(yscale="log", ylim=(1e-5, 4), ylabel="gradient at the query")
    ax.legend(loc="lower left")
    plt.show()


def training(found: Mapping[str, Mapping[str, Sequence[float]]], here: Mapping[str, Mapping[int, float]]) -> None:
    """found: name → width → weight on the right key, one per seed; here: the same of one seed, run by this build."""
    figure, ax = plt.subplots(figsize=(5.0, 3.4))
    for shift, (name, by_width) in zip((0.94, 1.06), found.items(), strict=True):
        widths = [int(width) * shift for width in by_width]
        means, deviations = zip(*(spread(values) for values in by_width.values()), strict=True)
        ax.errorbar(widths, means, deviations, fmt=MARKS[name] + "-", color=COLOURS[name], capsize=4, label=name)
        mine = here[name]
        ax.plot([width * shift for width in mine], list(mine.values()), "x", color=INK, ms=7, zorder=4)
    ax.axhline(1 / 8, color=GREY, ls="--")
    _over_widths(ax, [int(width) for width in next(iter(found.values()))])
    ax.set(ylim=(0, 1.05), ylabel="weight on the right key")
    ax.legend(loc="lower right")
    plt.show()


def spreads(found: Mapping[str, Mapping[str, Sequence[float]]]) -> list[list[Any]]:
    """Rows of a table, one per width: mean and standard deviation of each name in turn."""
    widths = next(iter(found.values()))
    return [[number for by_width in found.values() for number in spread(by_width[width])] for width in widths]
