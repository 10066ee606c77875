"""The drawings of chapter 8: a text's way to one answer, models compared, and where a name's query looks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.colors import to_rgb

import figures
from drawings.sequence_to_sequence import WHITE_TO_WEIGHT
from figures import BLUE, GREY, INK, ORANGE, QUERY
from studies.recording import spread

__all__ = ["looks_over", "models_compared", "path_of_a_text"]


def path_of_a_text() -> None:
    """From ids to logits, bottom to top: the padding mask enters twice."""
    figure, ax = plt.subplots(figsize=(4.6, 4.6))
    stages = (
        ("token ids  (B, L)", GREY),
        ("vectors + positions  (B, L, d)", GREY),
        ("encoder  (B, L, d)", BLUE),
        ("mean over real tokens  (B, d)", BLUE),
        ("linear: logits  (B, classes)", GREY),
    )
    for at, (text, colour) in enumerate(stages):
        ink = figures._readable_on(to_rgb(colour))
        style = {"boxstyle": "round,pad=0.45", "fc": colour, "ec": "none"}
        ax.text(0, at, text, ha="center", va="center", color=ink, bbox=style)
        if at:
            ax.annotate("", (0, at - 0.27), (0, at - 0.73), arrowprops={"arrowstyle": "-|>", "color": INK})
    ax.plot([1.35, 2.55, 2.55], [0, 0, 3], color=ORANGE, lw=2)
    for at, width in ((2, 0.95), (3, 1.5)):
        ax.annotate("", (width, at), (2.55, at), arrowprops={"arrowstyle": "-|>", "color": ORANGE, "lw": 2})
    ax.text(2.62, 1.2, "mask:\nid ≠ 0", color=ORANGE, va="center")
    ax.set(xlim=(-1.9, 3.5), ylim=(-0.4, 4.4))
    ax.axis("off")
    plt.show()


def models_compared(found: Mapping[str, Any], here: float) -> None:
    """Test accuracy of each way, without training grey, trained with mean and deviation, and this build's encoder."""
    counted = {name: (value, 0.0) for name, value in found["counted"].items() if name != "programmer's rule"}
    trained = {name: spread([run["test"] for run in one["runs"]]) for name, one in found["models"].items()}
    rows = sorted({**counted, **trained}.items(), key=lambda row: row[1][0])
    figure, ax = plt.subplots(figsize=(4.8, 3.6))
    for at, (name, (average, deviation)) in enumerate(rows):
        colour = INK if name in counted else BLUE if "encoder" in name or "attention" in name else ORANGE
        ax.errorbar(100 * average, at, xerr=100 * deviation, fmt="o", color=colour, capsize=3)
    ax.plot(100 * here, [name for name, _ in rows].index("encoder"), "x", color=INK, ms=8, label="this build")
    rule = 100 * found["counted"]["programmer's rule"]
    ax.axvline(rule, color=INK, ls=":", label="programmer's rule")
    ax.set(yticks=range(len(rows)), yticklabels=[name for name, _ in rows], xlabel="roles right, unseen modules (%)")
    figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=2, fontsize=9)
    plt.show()


def looks_over(tokens: Sequence[str], weights: Sequence[float], at: int) -> None:
    """A function as text; the token `at` asks, and each token is the darker the more it is looked at."""
    lines: list[list[int]] = [[]]
    for number, token in enumerate(tokens):
        if token == "\n":
            lines.append([])
        else:
            lines[-1].append(number)
    lines = [part[k : k + 9] for part in lines if part for k in range(0, len(part), 9)]
    figure, ax = plt.subplots(figsize=(4.9, 0.42 * len(lines) + 0.3))
    for row, numbers in enumerate(lines):
        x = 0.0 if row == 0 else 0.6
        for number in numbers:
            colour = WHITE_TO_WEIGHT(min(1.0, weights[number]))[:3]
            style = {"boxstyle": "round,pad=0.25", "fc": colour, "ec": QUERY if number == at else GREY}
            style["lw"] = 2.5 if number == at else 0.6
            ink, width = figures._readable_on(colour), 0.135 * len(tokens[number]) + 0.22
            ax.text(x + width / 2, -row, tokens[number], ha="center", va="center", color=ink, fontsize=8.5, bbox=style)
            x += width + 0.12
    ax.set(xlim=(-0.1, 6.6), ylim=(0.5 - len(lines), 0.6))
    ax.axis("off")
    plt.show()
