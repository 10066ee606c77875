"""The drawings of the page on what layers cost: multiplications against n/d, chains and paths against n."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np

from figures import BLUE, GREEN, INK, ORANGE, PINK

__all__ = ["chains_and_paths", "multiplications"]


def multiplications(formulas: Mapping[str, Callable[[float, float], float]], d: int = 64) -> None:
    """In units of d² per token only n/d is left: attention crosses the GRU at n = d and the LSTM at n = 2d."""
    ratio = np.geomspace(1 / 16, 16, 60)
    figure, ax = plt.subplots(figsize=(5.0, 4.6))
    styles = [(BLUE, "--"), (BLUE, "-"), (PINK, ":"), (PINK, "-"), (PINK, "--"), (ORANGE, "-")]
    for (name, formula), (colour, style) in zip(formulas.items(), styles, strict=True):
        ax.plot(ratio, [formula(r * d, d) / (r * d) / d**2 for r in ratio], style, color=colour, label=name)
    for x, y in ((1, 2), (1, 6), (2, 8)):
        ax.plot(x, y, "o", color=INK, ms=5, zorder=5)
    ax.axvline(1, color=INK, lw=0.8, ls=":")
    ax.set(xscale="log", yscale="log", xlabel="n / d", ylabel="multiplications per token / d²")
    ax.set_xticks([1 / 16, 1 / 4, 1, 4, 16], ["1/16", "1/4", "1", "4", "16"])
    ax.set_yticks([0.25, 1, 2, 4, 8, 32], ["0.25", "1", "2", "4", "8", "32"])
    ax.minorticks_off()
    figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    plt.show()


def chains_and_paths(
    sizes: Sequence[int], chains: Mapping[str, Sequence[int]], paths: Mapping[str, Sequence[int]]
) -> None:
    """Operations against n: a recurrence's chain and path grow with n, attention's do not grow."""
    _, axes = plt.subplots(2, 1, figsize=(4.8, 5.6), sharex=True)
    looks = {
        "recurrent": (PINK, "s-"),
        "convolution": (ORANGE, "^-"),
        "convolutions, k = 3": (ORANGE, "^-"),
        "dilated, k = 2": (GREEN, "D-"),
        "self-attention": (BLUE, "o-"),
    }
    titles = ("longest chain, one layer", "shortest path, first to last")
    for ax, lines, title in zip(axes, (chains, paths), titles, strict=True):
        for name, line in lines.items():
            ax.plot(sizes, line, looks[name][1], color=looks[name][0], label=name)
        ax.set(xscale="log", yscale="log", ylabel="operations", title=title)
        ax.set_xticks(sizes, sizes)
        ax.set_yticks([3, 10, 30, 100], [3, 10, 30, 100])
        ax.minorticks_off()
        ax.legend(fontsize=9)
    axes[-1].set(xlabel="n")
    plt.show()
