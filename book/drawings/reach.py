"""The drawings of the page on how far layers see: receptive fields, gradients by distance, who depends on whom."""

from __future__ import annotations

from collections.abc import Mapping

import matplotlib.pyplot as plt
import torch
from torch import Tensor

import figures
from drawings.matrix_cells import one_hue
from figures import BLUE, GREEN, GREY, ORANGE, PINK

__all__ = ["dependence_maps", "gradient_curves", "receptive_fields"]


def receptive_fields(fields: Mapping[str, Tensor]) -> None:
    """Name → influence by depth (layers, n). The reach grows with depth; the middle keeps most of the influence."""
    _, axes = plt.subplots(len(fields), 1, figsize=(4.8, 5.2), sharex=True, height_ratios=[3, 2, 1])
    for ax, (title, rows) in zip(axes, fields.items(), strict=True):
        shown = (rows / rows.amax(-1, keepdim=True)).sqrt()
        shown = torch.where(rows > 0, shown, torch.nan)
        ax.imshow(shown, aspect="auto", vmin=0, vmax=1, cmap=one_hue(BLUE))
        ax.set(title=title, ylabel="layers")
        ax.set_yticks(range(len(rows)), [str(depth) for depth in range(1, len(rows) + 1)])
        ax.set_facecolor(GREY)
    axes[-1].set(xlabel="input position")
    plt.show()


def gradient_curves(curves: Mapping[str, Tensor]) -> None:
    """What the last output feels of an input t steps away: recurrent nets fade, attention is flat."""
    figure, ax = plt.subplots(figsize=(5.0, 4.6))
    styles = [(PINK, "-"), (PINK, "--"), (GREEN, "-"), (GREEN, "--"), (ORANGE, "-"), (BLUE, "-")]
    for (name, curve), (colour, style) in zip(curves.items(), styles, strict=True):
        reached = curve > 0
        ax.plot(torch.arange(len(curve))[reached], curve[reached], style, color=colour, label=name)
    ax.set(yscale="log", ylim=(1e-9, 3), xlabel="distance from the last output", ylabel="gradient norm")
    figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    plt.show()


def dependence_maps(maps: Mapping[str, Tensor]) -> None:
    """Four maps (n, n), relative to each row's largest: a convolution's are alike for all inputs."""
    _, axes = plt.subplots(2, 2, figsize=(4.6, 4.8))
    for ax, (title, matrix) in zip(axes.flat, maps.items(), strict=True):
        relative = matrix / matrix.amax(-1, keepdim=True)
        figures.heatmap(ax, relative, title=title, annotate=False, vmin=0, cmap=one_hue(BLUE))  # type: ignore[arg-type]
        ends = [0, len(matrix) - 1]
        ax.set_xticks(ends, [end + 1 for end in ends])
        ax.set_yticks(ends, [end + 1 for end in ends])
        ax.set(xlabel="input", ylabel="output")
    plt.show()
