"""The drawings of chapter 10: a growing cache, a decoder layer, curves, alignments, and one distribution cut."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import torch
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from torch import Tensor

import figures
from drawings.matrix_cells import one_hue
from figures import BLUE, GREY, INK, KEY, ORANGE, QUERY, VALUE, WEIGHT
from studies import induction
from studies.recording import spread

__all__ = [
    "alignments",
    "cache_growth",
    "decoder_layer",
    "distributions",
    "induction_curves",
    "induction_map",
    "language_curves",
    "tokens_per_second",
    "translator_curves",
]


def _cell(ax: Axes, x: float, y: float, colour: str | None, text: str = "", new: bool = False) -> None:
    """A unit square; without a colour it is empty, and a new one has a dark edge."""
    face, edge = (colour or "white"), (INK if new else "white" if colour else GREY)
    ax.add_patch(plt.Rectangle((x, y), 0.9, 0.9, fc=face, ec=edge, lw=2.2 if new else 1, zorder=3 if new else 2))
    if text:
        ink = figures._readable_on(to_rgb(face))
        ax.text(x + 0.45, y + 0.45, text, ha="center", va="center", color=ink, fontsize=10, zorder=4)


def cache_growth(rows: Sequence[Sequence[float]]) -> None:
    """rows: the causal weights, row t with t numbers. One panel per step: query, cached keys and values, weights."""
    figure, axes = plt.subplots(len(rows), 1, figsize=(4.4, 5.0))
    for step, ax in enumerate(axes, start=1):
        for at in range(3):
            here, newest = at < step, at == step - 1
            _cell(ax, 3 + at, 3.2, KEY if here else None, f"$k_{at + 1}$" if here else "", newest)
            _cell(ax, 3 + at, 2.2, VALUE if here else None, f"$v_{at + 1}$" if here else "", newest)
        _cell(ax, 0.9, 3.2, QUERY, f"$q_{step}$", new=True)
        for row in range(step):
            for at, weight in enumerate(rows[row]):
                text = f"{weight:.2f}" if row == step - 1 else ""
                _cell(ax, 7.2 + at, 3.2 - row, WEIGHT if row == step - 1 else GREY, text, new=row == step - 1)
        ax.text(0, 4.4, f"step {step}", weight="bold", va="center")
        ax.text(4.35, 4.4, "cache", ha="center", va="center")
        ax.text(8.55, 4.4, "weights", ha="center", va="center")
        ax.set(xlim=(-0.2, 10.4), ylim=(1.0, 4.8), aspect="equal")
        ax.axis("off")
    plt.show()


def decoder_layer() -> None:
    """The pre-norm layer with its three branches, bottom to top."""
    figure, ax = plt.subplots(figsize=(4.4, 5.2))
    ax.plot([0, 0], [-0.5, 10.7], color=INK, lw=3, zorder=1)
    branches = (("norm 1", "causal self-\nattention", WEIGHT), ("norm 2", "cross-\nattention", WEIGHT))
    branches += (("norm 3", "feed-forward", INK),)
    for number, (norm, name, colour) in enumerate(branches):
        low = 0.1 + 3.5 * number
        ax.plot([0, 2.2, 2.2, 0], [low, low, low + 2.9, low + 2.9], color=INK, lw=1.5, zorder=1)
        for height, text, fill in ((0.65, norm, GREY), (1.85, name, colour)):
            box = {"boxstyle": "round,pad=0.35", "fc": fill, "ec": "none"}
            ink = figures._readable_on(to_rgb(fill))
            ax.text(2.2, low + height, text, ha="center", va="center", color=ink, bbox=box, zorder=3)
        plus = {"boxstyle": "circle,pad=0.1", "fc": "white", "ec": INK}
        ax.text(0, low + 2.9, "+", ha="center", va="center", fontsize=13, bbox=plus, zorder=4)
    arrow = {"arrowstyle": "-|>", "color": INK}
    ax.annotate("memory", (3.25, 5.45), (5.6, 5.45), ha="center", va="center", arrowprops=arrow)
    ax.annotate(
        "cache", (3.35, 1.95), (5.6, 1.95), ha="center", va="center", arrowprops=arrow | {"arrowstyle": "<|-|>"}
    )
    ax.text(0, -0.9, "x  (B, L, d_model)", ha="center", va="center")
    ax.text(0, 11.05, "next layer", ha="center", va="center")
    ax.set(xlim=(-1.7, 6.4), ylim=(-1.2, 11.4))
    ax.axis("off")
    plt.show()


def distributions(rows: Mapping[str, Tensor], symbols: Sequence[str], shown: int = 8) -> None:
    """rows: name → probabilities (V,); a panel for each, with the `shown` most probable symbols of the first."""
    first = next(iter(rows.values()))
    order = first.argsort(descending=True)[:shown]
    figure, axes = plt.subplots(len(rows) // 2, 2, figsize=(4.8, 1.9 * (len(rows) // 2)), sharex=True, sharey=True)
    for ax, (name, probabilities) in zip(axes.flat, rows.items(), strict=True):
        kept = probabilities[order]
        ax.bar(range(shown), kept, color=[BLUE if p > 0 else GREY for p in kept])
        for at, p in enumerate(kept.tolist()):
            ax.text(at, p + 0.02, f"{p:.2f}".lstrip("0") if p else "0", ha="center", fontsize=8)
        ax.set(title=name, ylim=(0, 1.12), yticks=[0, 0.5, 1])
        ax.set_xticks(range(shown), [symbols[i] for i in order])
    plt.show()


def language_curves(found: Mapping[str, Any], here: Mapping[str, Any]) -> None:
    """Bits on the validation text against training steps, of all seeds and of this build, beside the n-grams."""
    figure, ax = plt.subplots(figsize=(5.2, 4.2))
    for number, one in enumerate(found["model"]):
        ax.plot(*zip(*one["curve"], strict=True), color=BLUE, lw=1.4, label="Transformer" if number == 0 else None)
    ax.plot(*zip(*here["curve"], strict=True), "o", color=INK, ms=4, label="Transformer, this build")
    bits, best = found["ngrams"]["validation"], found["ngrams"]["best"]
    for n, name, style in ((2, "bigram", ":"), (3, "trigram", "--"), (best, f"{best}-gram, the best", "-.")):
        ax.axhline(bits[n - 1], color=ORANGE, ls=style, label=name)
    ax.set(xlabel="training steps", ylabel="bits per character, unseen modules", ylim=(2, 4))
    ax.legend(loc="upper right", bbox_to_anchor=(1, 0.85))
    plt.show()


def induction_curves(found: Mapping[str, Any], here: Mapping[str, Any]) -> None:
    """Loss by place around the start of the repetition: mean and deviation over seeds, and this build's seed."""
    figure, ax = plt.subplots(figsize=(5.2, 3.9))
    places = list(induction.PLACES)
    for (name, seeds), colour, mark in zip(found.items(), (ORANGE, BLUE), "so", strict=True):
        points = [spread(values) for values in zip(*(one["by_place"] for one in seeds), strict=True)]
        averages, deviations = zip(*points, strict=True)
        ax.errorbar(places, averages, deviations, color=colour, marker=mark, ms=4, capsize=2, label=name)
        ax.plot(places, here[name]["by_place"], "x", color=INK, ms=5, zorder=4)
    ax.plot([], [], "x", color=INK, label="this build")
    ax.axvline(0, color=INK, lw=1, ls=":")
    ax.set(
        xlabel="place, counted from the first repeated token", ylabel="loss, nats", ylim=(0, 5), xticks=range(-6, 13, 3)
    )
    ax.legend(loc="lower left", fontsize=9)
    plt.show()


def induction_map(weights: Tensor, expected: Tensor) -> None:
    """weights (L, L) of the second layer's head; expected: bool (L, L), framed where an earlier copy's successor is."""
    figure, ax = plt.subplots(figsize=(4.6, 4.6))
    ax.imshow(weights, vmin=0, vmax=1, cmap=one_hue(WEIGHT))
    for i, j in expected.nonzero().tolist():
        ax.add_patch(plt.Rectangle((j - 0.5, i - 0.5), 1, 1, fill=False, ec=ORANGE, lw=1.1))
    ax.set(xlabel="key position", ylabel="query position")
    plt.show()


def translator_curves(found: Mapping[str, Any], here: Mapping[str, Any], every: int) -> None:
    """Unseen dates written whole against training steps: mean and deviation over seeds, and this build's seed."""
    figure, ax = plt.subplots(figsize=(5.2, 3.9))
    for (name, seeds), colour, mark in zip(found.items(), (ORANGE, BLUE), "so", strict=True):
        points = [spread(values) for values in zip(*(one["right"] for one in seeds), strict=True)]
        steps = [every * k for k in range(1, len(points) + 1)]
        averages, deviations = zip(*points, strict=True)
        ax.errorbar(steps, averages, deviations, color=colour, marker=mark, ms=4, capsize=2, label=name)
        ax.plot(steps, here[name]["right"], "x", color=INK, ms=5, zorder=4)
    ax.plot([], [], "x", color=INK, label="this build")
    ax.set(xlabel="training steps of 64 dates", ylabel="unseen dates right", ylim=(0, 1.04))
    ax.legend(loc="lower right")
    plt.show()


def alignments(pictures: Mapping[str, Tensor], right: Tensor, source: str, target: str) -> None:
    """Weights (T, S) of each model on one date, the right places framed."""
    figure, axes = figures.panels(*[tuple(right.shape)] * len(pictures), per_row=1, width=4.6, height=4 * len(pictures))
    for ax, (name, weights) in zip(axes, pictures.items(), strict=True):
        columns = ["␣" if character == " " else character for character in source]
        figures.heatmap(ax, weights, list(target), columns, name, annotate=False, vmin=0, vmax=1, cmap=one_hue(WEIGHT))
        for t, s in right.nonzero().tolist():
            ax.add_patch(plt.Rectangle((s - 0.5, t - 0.5), 1, 1, fill=False, ec=ORANGE, lw=2, zorder=3))
        ax.set(xlabel="source", ylabel="written")
    plt.show()


def tokens_per_second(found: Mapping[str, Any], here: Mapping[str, Any]) -> None:
    """Predicted (lines) and measured (marks) tokens per second against the length that is written."""
    figure, ax = plt.subplots(figsize=(5.2, 4.5))
    lengths = [row["length"] for row in found["rows"]]
    for way, (name, colour, mark) in enumerate((("without a cache", ORANGE, "s"), ("with a cache", BLUE, "o"))):
        ax.plot(lengths, [row["predicted"][way] for row in found["rows"]], color=colour, label=f"{name}, predicted")
        ax.plot(lengths, [row["measured"][way] for row in found["rows"]], mark, color=colour, label=f"{name}, measured")
        ax.plot(lengths, [row["measured"][way] for row in here["rows"]], "x", color=INK, ms=5)
    ax.plot([], [], "x", color=INK, label="measured in this build")
    ax.set(xlabel="tokens written", ylabel="tokens per second", xticks=lengths, ylim=(0, None))
    figure.legend(loc="outside lower center", ncols=2, fontsize=9)
    plt.show()


def numbers(rows: Mapping[str, Sequence[float]], columns: Sequence[str], caption: str, fmt: str) -> figures.Table:
    """Rows of numbers by name, as a table."""
    return figures.table(torch.tensor(list(rows.values()), dtype=torch.float64), list(rows), columns, caption, fmt)
