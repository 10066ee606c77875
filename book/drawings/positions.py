"""The figures of chapter 6: clock hands, turned arrows, ALiBi's reach, and what five methods do on longer rows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import mean, stdev
from typing import Any

import matplotlib.pyplot as plt
import torch
from matplotlib.axes import Axes
from torch import Tensor

from drawings.multi_head import WEIGHTS
from figures import BLUE, GREEN, GREY, INK, KEY, ORANGE, PINK, QUERY

__all__ = ["alibi_reach", "by_distance", "clock_hands", "longer_rows", "pointing", "repairs", "table", "turned"]

#: Colour, line and marker of each method.
STYLES = {
    "none": (INK, ":", "x"),
    "sinusoidal": (ORANGE, "-", "s"),
    "learned": (PINK, "--", "D"),
    "rotary": (GREEN, "-.", "^"),
    "ALiBi": (BLUE, "-", "o"),
}
REPAIR_STYLES = {"rotary": (GREEN, "-.", "^"), "positions divided": (ORANGE, "-", "s"), "base raised": (BLUE, "-", "o")}
TITLES = {"three back": "three back", "last low": "the last low one"}


def clock_hands(encoding: Tensor) -> None:
    """encoding (positions, d_model), sinusoidal: a clock for each position and pair; its tip is (sine, cosine)."""
    positions, pairs = len(encoding), encoding.shape[1] // 2
    figure, ax = plt.subplots(figsize=(5.0, 5.0 * (pairs + 1.1) / (positions + 1.6)))
    for p in range(positions):
        for i in range(pairs):
            right, up = encoding[p, 2 * i : 2 * i + 2].tolist()
            ax.add_patch(plt.Circle((p, -i), 0.42, fc="white", ec=GREY, lw=1.2))
            tip = (p + 0.38 * right, -i + 0.38 * up)
            ax.plot([p, tip[0]], [-i, tip[1]], color=BLUE, lw=2.4, solid_capstyle="round")
        ax.text(p, 0.68, str(p), ha="center", va="center", fontsize=10)
    for i in range(pairs):
        ax.text(-0.6, -i, f"pair {i}", ha="right", va="center", fontsize=10)
    ax.text(-0.6, 0.68, "position", ha="right", va="center", fontsize=10)
    ax.set(xlim=(-1.9, positions - 0.4), ylim=(0.5 - pairs, 1.0), aspect="equal")
    ax.axis("off")
    plt.show()


def _arrow(ax: Axes, tip: Sequence[float], colour: str, text: str) -> None:
    ax.annotate("", tip, (0, 0), arrowprops={"arrowstyle": "-|>", "color": colour, "lw": 2.4, "shrinkA": 0})
    ax.text(1.2 * tip[0], 1.2 * tip[1], text, color=colour, ha="center", va="center", fontsize=11)


def turned(query: Sequence[float], key: Sequence[float], places: Sequence[tuple[int, int]]) -> None:
    """One pair of a query and a key, turned by one radian a position: a panel for each (query's, key's) position."""
    figure, axes = plt.subplots(1, len(places), figsize=(5.0, 2.5))
    for ax, (m, n) in zip(axes, places, strict=True):
        tips = []
        for (a, b), p, colour, name in ((query, m, QUERY, "q"), (key, n, KEY, "k")):
            tip = (a * math.cos(p) - b * math.sin(p), a * math.sin(p) + b * math.cos(p))
            _arrow(ax, tip, colour, f"{name}")
            tips.append(tip)
        score = sum(a * b for a, b in zip(*tips, strict=True))
        ax.set_title(f"q at {m}, k at {n}", fontsize=10, loc="center")
        ax.text(0, -2.75, f"q · k = {score:.3f}".replace("-", "−"), ha="center", fontsize=10)
        for low, high in (((-2.4, 0), (2.4, 0)), ((0, -2.4), (0, 2.4))):
            ax.plot([low[0], high[0]], [low[1], high[1]], color=GREY, lw=1, zorder=0)
        ax.set(xlim=(-2.6, 2.6), ylim=(-3.0, 2.6), aspect="equal")
        ax.axis("off")
    plt.show()


def alibi_reach(bias: Tensor) -> None:
    """bias (H, S): of the last query. The weights that it gives to keys with equal scores, a row for each head."""
    weights = bias.softmax(dim=-1)
    figure, ax = plt.subplots(figsize=(5.0, 3.0))
    image = ax.imshow(weights, cmap=WEIGHTS, vmin=0, vmax=0.5, aspect="auto")
    heads, keys = weights.shape
    ax.set_yticks(range(heads), [f"1/{2 ** (8 * h // heads)}" for h in range(1, heads + 1)])
    ax.set_xticks(range(0, keys, 3), [str(keys - 1 - j) for j in range(0, keys, 3)])
    ax.set(xlabel="distance of the key", ylabel="slope of the head")
    figure.colorbar(image, ax=ax, label="weight", ticks=[0, 0.25, 0.5])
    plt.show()


def _lines(
    ax: Axes, lengths: Sequence[int], runs: Sequence[Sequence[float]], style: tuple[str, str, str], name: str
) -> None:
    """The mean over runs, with the standard deviation as a band; runs: of each seed a share for each length."""
    colour, line, marker = style
    columns = list(zip(*runs, strict=True))
    average, deviation = [mean(column) for column in columns], [stdev(column) for column in columns]
    low = [a - d for a, d in zip(average, deviation, strict=True)]
    high = [a + d for a, d in zip(average, deviation, strict=True)]
    ax.fill_between(lengths, low, high, color=colour, alpha=0.18, lw=0)
    ax.plot(lengths, average, line, marker=marker, ms=5, color=colour, label=name)


def _two_tasks(lengths: Sequence[int], chances: Sequence[float]) -> tuple[Any, Any]:
    figure, axes = plt.subplots(2, 1, figsize=(4.8, 5.8), sharex=True)
    for ax, title, chance in zip(axes, TITLES.values(), chances, strict=True):
        ax.axhline(chance, color=GREY, zorder=0)
        ax.text(lengths[-1], chance - 0.065, "chance", ha="right", fontsize=9)
        ax.set(ylabel="right answers", title=title, ylim=(0, 1.05), xticks=list(lengths))
    axes[1].set_xlabel("tokens in the row (trained on 16)")
    return figure, axes


def longer_rows(
    found: Mapping[str, Sequence[Mapping[str, Any]]], here: Mapping[str, Mapping[str, Any]], lengths: Sequence[int]
) -> None:
    """Right answers against the length of a row: mean and deviation over seeds; crosses are this build's one seed."""
    figure, axes = _two_tasks(lengths, (0.1, 0.25))
    for task, ax in enumerate(axes):
        for name, runs in found.items():
            shares = [[pair[task] for pair in one["right"]] for one in runs]
            _lines(ax, lengths, shares, STYLES[name], name)
            if name in here:
                ax.plot(lengths, [pair[task] for pair in here[name]["right"]], "+", color=INK, ms=7, zorder=4)
    axes[0].plot([], [], "+", color=INK, label="this build")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    plt.show()


def repairs(found: Sequence[Mapping[str, Any]], lengths: Sequence[int]) -> None:
    """Right answers of the rotary models as they are, with positions divided, and with the base raised."""
    figure, axes = _two_tasks(lengths, (0.1, 0.25))
    for task, ax in enumerate(axes):
        for name, style in REPAIR_STYLES.items():
            shares = [[pair[task] for pair in one["repaired"][name]] for one in found]
            _lines(ax, lengths, shares, style, "as trained" if name == "rotary" else name)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    plt.show()


def pointing(found: Mapping[str, Sequence[Mapping[str, Any]]], trained: int) -> None:
    """In the longest rows, the weight of the head that looks three back, by distance; a mean over seeds."""
    figure, ax = plt.subplots(figsize=(5.0, 3.4))
    for name, runs in found.items():
        if "pointing" in runs[0]:
            curve = torch.tensor([one["pointing"][-1] for one in runs]).mean(dim=0)
            colour, line, _ = STYLES[name]
            ax.plot(curve, line, color=colour, lw=1.6, label=name)
    ax.axvspan(0, trained - 1, color=GREY, zorder=0, label="seen in training")
    ax.axvline(3, color=INK, lw=1, ls=":")
    ax.set(xlabel="distance of the key (tokens)", ylabel="mean weight", xlim=(0, 55))
    ax.set_ylim(bottom=0)
    ax.legend(loc="upper left", bbox_to_anchor=(0.26, 1), fontsize=9)
    plt.show()


def table(encoding: Tensor) -> None:
    """encoding (positions, d_model): the sinusoidal table as a picture."""
    figure, ax = plt.subplots(figsize=(5.0, 4.4))
    image = ax.imshow(encoding, aspect="auto", vmin=-1, vmax=1, cmap="RdBu_r")
    ax.set(xlabel="column (0 sine, 1 cosine, 2 sine, …)", ylabel="position")
    figure.colorbar(image, ax=ax, ticks=[-1, 0, 1])
    plt.show()


def by_distance(curves: Mapping[str, Tensor], marked: int | None = None) -> None:
    """curves: name → a product for each distance from −n to n, about the distance `marked`."""
    figure, ax = plt.subplots(figsize=(5.0, 3.0))
    lines = ((BLUE, "-"), (ORANGE, "--"), (GREEN, ":"))
    for (name, values), (colour, line) in zip(curves.items(), lines, strict=False):
        half = len(values) // 2
        ax.plot(range(-half, half + 1), values, line, color=colour, label=name)
    if marked is not None:
        ax.axvline(marked, color=INK, lw=1, ls=":")
    ax.set(xlabel="distance k (positions)", ylabel="product / (d / 2)", ylim=(-0.2, 1.05))
    ax.legend(loc="lower center", fontsize=9)
    plt.show()
