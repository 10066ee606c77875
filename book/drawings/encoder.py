"""The figures of chapter 7: the layer, the norm's steps, where the norm stands, and what depth does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, to_rgb
from torch import Tensor

import figures
from figures import BLUE, GREEN, GREY, INK, ORANGE, PINK, WEIGHT

__all__ = [
    "EQUATIONS",
    "clocks",
    "cost_shares",
    "follower_curves",
    "gradients",
    "hop_maps",
    "norm_placement",
    "norm_steps",
    "spread_curves",
    "whole_layer",
]

#: The numbers that the page gives to the equations which the arrows of `whole_layer` carry out.
EQUATIONS = {
    "eq-encoder-residual": "7.1",
    "eq-encoder-norm": "7.2",
    "eq-encoder-gain": "7.3",
    "eq-encoder-ffn": "7.4",
}


def _box(ax: Axes, x: float, y: float, text: str, fill: str) -> None:
    ink = figures._readable_on(to_rgb(fill))
    style = {"boxstyle": "round,pad=0.35", "fc": fill, "ec": "none"}
    ax.text(x, y, text, ha="center", va="center", color=ink, bbox=style, zorder=3)


def _plus(ax: Axes, y: float) -> None:
    circle = {"boxstyle": "circle,pad=0.1", "fc": "white", "ec": INK}
    ax.text(0, y, "+", ha="center", va="center", fontsize=13, bbox=circle, zorder=4)


def _branch(ax: Axes, low: float, high: float, right: float) -> None:
    """A branch that leaves the stream at `low` and comes back at `high`."""
    ax.plot([0, right, right, 0.75], [low, low, high, high], color=INK, lw=1.5, zorder=1)
    ax.annotate(
        "", (0.3, high), (0.8, high), arrowprops={"arrowstyle": "-|>", "color": INK, "shrinkA": 0, "shrinkB": 0}
    )


def _row(vector: Tensor) -> str:
    return "  ".join(f"{number:.2f}" for number in vector.tolist()).replace("-", "−")


def whole_layer(stream: Sequence[Tensor], branches: Sequence[Tensor]) -> None:
    """One token goes through a post-norm layer: each arrow names its equation, each stage shows the token's numbers.

    stream: the five vectors (d,) on the stream, from the input to the output; branches: the two that are added
    """
    residual, norm, gain, ffn = EQUATIONS.values()
    figure, ax = plt.subplots(figsize=(5.0, 6.4))
    ax.plot([0, 0], [0.25, 13.6], color=INK, lw=3, zorder=1)
    for low, high, name, fill, number in (
        (0.9, 3.6, "attention", WEIGHT, residual),
        (7.1, 9.8, "feed-forward", INK, f"{ffn}, {residual}"),
    ):
        _branch(ax, low, high, 2.7)
        _box(ax, 2.7, low + 1.15, name, fill)
        _plus(ax, high)
        ax.text(0.85, high + 0.28, f"({number})", fontsize=10)
    for height, name in ((5.5, "norm 1"), (11.7, "norm 2")):
        _box(ax, 0, height, name, GREY)
        ax.text(1.0, height, f"({norm}, {gain})", va="center", fontsize=10)
    arrow = {"arrowstyle": "-|>", "color": INK}
    ax.annotate("other\ntokens", (3.75, 2.05), (5.4, 2.05), ha="center", va="center", fontsize=10, arrowprops=arrow)
    for height, vector in zip((0.55, 4.5, 6.45, 10.7, 12.75), stream, strict=True):
        ax.text(-0.3, height, _row(vector), ha="right", va="center", fontsize=9)
    for height, vector in zip((3.15, 9.35), branches, strict=True):
        ax.text(2.85, height, _row(vector), va="center", fontsize=9)
    ax.text(0, -0.2, "token 1", ha="center", va="center")
    ax.text(0, 14.0, "next layer", ha="center", va="center")
    ax.set(xlim=(-4.2, 6.6), ylim=(-0.6, 14.4))
    ax.axis("off")
    plt.show()


def norm_steps(row: Tensor, deviation: Tensor, normalised: Tensor) -> None:
    """The three steps of the norm keep the pattern of a token's features and change its level and its size."""
    figure, axes = plt.subplots(3, 1, figsize=(4.6, 4.8), sharex=True)
    titles = ("after the residual", "1. minus the mean", "2., 3. divided by the root of the variance")
    for ax, values, title in zip(axes, (row, deviation, normalised), titles, strict=True):
        ax.bar(range(1, 5), values, color=BLUE, width=0.6)
        for at, value in enumerate(values.tolist(), start=1):
            align = "bottom" if value >= 0 else "top"
            ax.text(at, value, f"{value:.2f}".replace("-", "−"), ha="center", va=align, fontsize=9)
        ax.axhline(0, color=INK, lw=0.8)
        ax.set(title=title, ylim=(-4, 12), yticks=[0, 5, 10])
        ax.spines["bottom"].set_visible(False)
        ax.tick_params(axis="x", length=0)
    axes[-1].set(xlabel="feature", xticks=range(1, 5))
    plt.show()


def norm_placement() -> None:
    """Post-norm normalises the stream itself; pre-norm only what a branch reads."""
    figure, axes = plt.subplots(1, 2, figsize=(4.8, 4.4))
    for ax, pre in zip(axes, (False, True), strict=True):
        ax.plot([0, 0], [-0.4, 9.6], color=INK, lw=3, zorder=1)
        for low, name, fill, norm in ((0.4, "attention", WEIGHT, "norm 1"), (5.0, "FFN", INK, "norm 2")):
            high = low + (3.5 if pre else 2.4)
            _branch(ax, low, high, 2.2)
            if pre:
                _box(ax, 2.2, low + 0.9, norm, GREY)
                _box(ax, 2.2, low + 2.3, name, fill)
            else:
                _box(ax, 2.2, low + 1.2, name, fill)
                _box(ax, 0, high + 1.15, norm, GREY)
            _plus(ax, high)
        ax.text(0, -0.8, "x", ha="center", va="center")
        ax.text(0, 10.0, "next layer", ha="center", va="center")
        ax.set(xlim=(-1.7, 4.0), ylim=(-1.2, 10.4), title="pre-norm" if pre else "post-norm")
        ax.axis("off")
    plt.show()


STYLES = [(ORANGE, "-"), (ORANGE, "--"), (PINK, "-"), (PINK, "--"), (GREEN, "--"), (BLUE, "-"), (BLUE, "--")]


def spread_curves(found: Mapping[str, Sequence[Sequence[float]]], here: Mapping[str, Sequence[float]]) -> None:
    """Without residuals the tokens become one vector, whatever else stands in the layer.

    found: name → one list of spreads per draw; here: name → the spreads of this build's draw, marked in black
    """
    figure, ax = plt.subplots(figsize=(5.0, 4.9))
    for (name, draws), (colour, style) in zip(found.items(), STYLES, strict=False):
        for number, values in enumerate(draws):
            ax.plot(range(len(values)), values, style, color=colour, lw=1, label=None if number else name)
    for number, values in enumerate(here.values()):
        ax.plot(range(len(values)), values, ".", color=INK, ms=4, zorder=4, label=None if number else "this build")
    ax.set(yscale="log", xlabel="layers", ylabel="spread of the tokens", ylim=(1e-17, 5))
    figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=2, fontsize=9)
    plt.show()


def follower_curves(found: Mapping[str, Sequence[Sequence[float]]], here: Mapping[str, Sequence[float]]) -> None:
    """At a high learning rate post-norm stays a guesser without a warm-up, and pre-norm does not.

    found: name → one list of losses per seed; here: name → this build's losses, in black
    """
    figure, ax = plt.subplots(figsize=(5.0, 4.6))
    for (name, curves), (colour, style) in zip(
        found.items(), [(ORANGE, "-"), (ORANGE, "--"), (BLUE, "-"), (GREEN, "-"), (PINK, "-")], strict=True
    ):
        for number, losses in enumerate(curves):
            ax.plot(losses, style, color=colour, lw=1, label=None if number else name)
    for number, losses in enumerate(here.values()):
        ax.plot(losses, ":", color=INK, lw=1.2, label=None if number else "this build")
    ax.set(xlabel="step", ylabel="loss, nats", ylim=(0, 3))
    figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=2, fontsize=9)
    plt.show()


def gradients(by_layer: Mapping[str, Tensor], last: Mapping[str, Mapping[int, float]]) -> None:
    """With post-norm the last layer's gradient keeps its size over depth, with pre-norm it falls.

    by_layer: name → gradient norm of each layer of the deepest encoder; last: name → depth → that of the last layer
    """
    figure, (upper, lower) = plt.subplots(2, 1, figsize=(5.0, 5.8))
    for (name, values), colour, mark in zip(by_layer.items(), (ORANGE, BLUE), "so", strict=True):
        upper.plot(range(1, len(values) + 1), values, color=colour, marker=mark, ms=4, label=name)
        lower.plot(list(last[name]), list(last[name].values()), color=colour, marker=mark, label=name)
    depths = list(next(iter(last.values())))
    line = [last["pre-norm"][depths[0]] * (depths[0] / k) ** 0.5 for k in depths]
    lower.plot(depths, line, ":", color=INK, label="∝ 1/√layers")
    upper.set(xlabel=f"layer, of {depths[-1]}", ylabel="gradient norm", ylim=(0, None))
    lower.set(xscale="log", yscale="log", xlabel="layers", ylabel="gradient norm, last layer")
    lower.set_xticks(depths, [str(k) for k in depths])
    lower.set_yticks([0.1, 0.2, 0.4], ["0.1", "0.2", "0.4"])
    lower.minorticks_off()
    upper.legend()
    lower.legend(loc="lower left")
    plt.show()


def hop_maps(weights: Sequence[Tensor], pointers: Tensor, second: Tensor) -> None:
    """Layer 1 looks where a position points (circle), layer 2 where that one points (square).

    weights: (H, n, n) of each layer; pointers, second: (n,) the first and the second hop
    """
    n = len(pointers)
    heads = [(f"layer {number}, head {h + 1}", w[h]) for number, w in enumerate(weights, 1) for h in range(len(w))]
    figure, axes = plt.subplots(2, 2, figsize=(4.8, 5.0))
    hue = LinearSegmentedColormap.from_list("weight", ["white", WEIGHT])
    for ax, (title, matrix) in zip(axes.flat, heads, strict=True):
        ax.imshow(matrix, vmin=0, vmax=1, cmap=hue)
        ax.plot(pointers, range(n), "o", ms=13, mfc="none", mec=INK)
        ax.plot(second, range(n), "s", ms=13, mfc="none", mec=INK)
        ax.set(title=title, xticks=range(n))
        ax.set_yticks(range(n), [f"{i} → {p}" for i, p in enumerate(pointers.tolist())])
    plt.show()


def cost_shares(lengths: Sequence[int], shares: Mapping[str, Tensor], marks: Mapping[int, str]) -> None:
    """Scores and values overtake the other parts only at lengths beyond 2d, 4d and 6d.

    shares: name → share of the FLOPs at each length; marks: length → its name in d
    """
    figure, ax = plt.subplots(figsize=(5.0, 4.0))
    ax.stackplot(lengths, *[100 * s for s in shares.values()], colors=[GREEN, BLUE, ORANGE], labels=list(shares))
    for n, name in marks.items():
        ax.axvline(n, color="white", lw=1.2, ls=":")
        ax.text(n, 4, name, color="white", ha="right", rotation=90, va="bottom")
    ax.set(xscale="log", xlim=(lengths[0], lengths[-1]), ylim=(0, 100), xlabel="length n", ylabel="share of FLOPs, %")
    ax.set_xticks([64, 256, 1024, 4096, 16384], ["64", "256", "1024", "4096", "16384"])
    ax.minorticks_off()
    figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=1)
    plt.show()


def clocks(lengths: Sequence[int], panels: Mapping[str, Mapping[str, Any]], width: int) -> None:
    """Counted and measured costs cross at different lengths. panels: label → layer → cost at each length."""
    figure, axes = plt.subplots(2, 1, figsize=(5.0, 6.8))
    looks = [(BLUE, "o"), (PINK, "s"), (GREEN, "^"), (ORANGE, "v")]
    for ax, (label, curves) in zip(axes, panels.items(), strict=True):
        for (name, values), (colour, mark) in zip(curves.items(), looks, strict=True):
            ax.plot(lengths, values, color=colour, marker=mark, ms=4, label=name)
        ax.axvline(width, color=INK, lw=0.8, ls=":")
        ax.set(xscale="log", yscale="log", xlabel="length n (dotted: n = d)", ylabel=label)
        ax.set_xticks([16, 64, 256, 1024], ["16", "64", "256", "1024"])
        ax.minorticks_off()
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    plt.show()
