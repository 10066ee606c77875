"""Pictures of a result file: time, memory, share of peak, roofline and error.

Every function takes what `results.load` returns and gives a matplotlib figure; fonts are those of the style
in use. `describe` gives a figure's curves in words, for its alternative text.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import matplotlib.pyplot as plt
import numpy as np
import torch

from . import results

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's colours without yellow, as the book's style has them, and a marker for whoever sees no colours.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#1c2430", "#5b6472", "#8c564b")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "h")
WIDTH = 4.6  # inches: on a phone's 360 pixels the letters stay readable
Found = Mapping[str, Any]


def exponent(lengths: Sequence[float], values: Sequence[float]) -> float:
    """The p of values ≈ c·lengths^p, least squares in logarithms; NaN below two points."""
    if len(lengths) < 2:
        return math.nan
    return float(np.polyfit(np.log(lengths), np.log(values), 1)[0])


def time_against_length(
    found: Found, pass_: str = "forward", causal: bool = False, variants: Iterable[str] | None = None, **wanted: Any
) -> Figure:
    """Seconds against L, log-log, a line per variant with its fitted exponent.

    variants: which, in this order; wanted: other entries of the rows, such as dtype="bfloat16" or width=128
    """
    curves = _curves(found, pass_, causal, variants, wanted, lambda row: row["seconds"] and row["seconds"]["median"])
    return _lines(curves, f"{pass_} (s)")


def memory_against_length(
    found: Found, pass_: str = "forward", causal: bool = False, variants: Iterable[str] | None = None, **wanted: Any
) -> Figure:
    """MiB above the inputs against L, log-log, a line per variant with its fitted exponent."""
    curves = _curves(
        found, pass_, causal, variants, wanted, lambda row: row["peak_bytes"] and row["peak_bytes"] / 2**20
    )
    return _lines(curves, "memory above the inputs (MiB)")


def error_against_length(
    found: Found, pass_: str = "forward", causal: bool = False, variants: Iterable[str] | None = None, **wanted: Any
) -> Figure:
    """Error against float64 (gate.error) over L, with the dtype's rounding as a dashed line."""
    curves = _curves(found, pass_, causal, variants, wanted, lambda row: row["error"])
    figure = _lines(curves, "relative error", fitted=False)
    for dtype in sorted({row["dtype"] for row in _fitting(found, pass_, causal, variants, wanted)}):
        epsilon = torch.finfo(getattr(torch, dtype)).eps
        figure.axes[0].axhline(epsilon, color="#5b6472", linewidth=1, linestyle="--")
        at = {"xycoords": ("axes fraction", "data"), "xytext": (0, -3), "textcoords": "offset points"}
        figure.axes[0].annotate(f"ε of {dtype}", (0.02, epsilon), va="top", **at)
    figure.axes[0].set_ylim(bottom=figure.axes[0].get_ylim()[0] / 3)  # room for a name below the lowest line
    return figure


def rate_against_length(
    found: Found, pass_: str = "forward", causal: bool = False, variants: Iterable[str] | None = None, **wanted: Any
) -> Figure:
    """TFLOP/s against L, one panel for each width of a head, a line per variant; wanted: one dtype at most."""
    rows = [row for row in _fitting(found, pass_, causal, variants, wanted) if row["seconds"]]
    names, widths = list(variants or dict.fromkeys(r["variant"] for r in rows)), sorted({r["width"] for r in rows})
    figure, panels = plt.subplots(len(widths), figsize=(WIDTH, 1.4 + 2.6 * len(widths)), sharex=True, squeeze=False)
    for ax, width in zip(panels[:, 0], widths, strict=True):
        for number, name in enumerate(names):
            mine = [row for row in rows if (row["variant"], row["width"]) == (name, width)]
            style = {"color": COLOURS[number % 9], "marker": MARKERS[number % 9], "label": name}
            ax.plot([row["length"] for row in mine], [row["flop_per_s"] / 1e12 for row in mine], **style)
        ax.set(xscale="log", ylabel=f"TFLOP/s, d = {width}", ylim=(0, None))
        _ticks_at(ax, sorted({row["length"] for row in rows}))
        ax.grid(True, which="major")
    panels[-1, 0].set_xlabel("L")
    figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside lower left", ncols=2)
    return figure


def share_of_peak(
    found: Found,
    pass_: str = "forward",
    causal: bool = False,
    length: int | None = None,
    variants: Iterable[str] | None = None,
    **wanted: Any,
) -> Figure:
    """Bars: FLOP/s as a share of the machine's fastest matrix product in the same dtype."""
    rows = _at(found, pass_, causal, length, variants, wanted, "share_of_peak")
    figure, ax = plt.subplots(figsize=(WIDTH, 0.9 + 0.36 * len(rows)))
    shares = [100 * row["share_of_peak"] for row in rows]
    bars = ax.barh([_label(row) for row in rows], shares, color=COLOURS[0])
    ax.bar_label(bars, fmt="%.0f %%", padding=3)
    ax.invert_yaxis()
    ax.set_xlim(0, max(100.0, 1.15 * max(shares)))
    ax.set_xlabel(f"share of matmul peak (%), L = {rows[0]['length']}")
    return figure


def predicted_against_measured(
    found: Found, causal: bool = False, length: int | None = None, variants: Iterable[str] | None = None, **wanted: Any
) -> Figure:
    """Bars in pairs: the forward pass's seconds as the machine's peaks predict them, and as measured."""
    rows = _at(found, "forward", causal, length, variants, wanted, "predicted_seconds")
    rows = [row for row in rows if row["seconds"]]
    places = np.arange(len(rows))
    figure, ax = plt.subplots(figsize=(WIDTH, 1.4 + 0.55 * len(rows)))
    measured = [row["seconds"]["median"] for row in rows]
    ax.barh(places - 0.2, [row["predicted_seconds"] for row in rows], 0.38, color=COLOURS[5], label="predicted")
    ax.barh(places + 0.2, measured, 0.38, color=COLOURS[1], label="measured")
    ax.set_yticks(places, [_label(row) for row in rows])
    ax.invert_yaxis()
    ax.set_xscale("log")
    ax.set_xlabel(f"seconds, forward, L = {rows[0]['length']}")
    figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure


def roofline(
    found: Found, causal: bool = False, length: int | None = None, variants: Iterable[str] | None = None, **wanted: Any
) -> Figure:
    """FLOP/s against FLOP per byte: the roof of memory and of matrix products, and where each variant stays below it.

    A hollow mark: predicted, also from the exponentials; a full one: measured.
    """
    rows = _at(found, "forward", causal, length, variants, wanted, "predicted_seconds")
    rows = [row for row in rows if row["seconds"]]
    peaks = found["environment"]["peaks"]
    intensities = [row["flops"] / row["bytes"] for row in rows]
    reach = np.geomspace(min(intensities) / 4, max(intensities) * 4, 100)
    figure, ax = plt.subplots(figsize=(WIDTH, 4.4))
    for dtype in dict.fromkeys(row["dtype"] for row in rows):
        roof = np.minimum(reach * peaks["bytes_per_s"], peaks["flop_per_s"][dtype])
        ax.plot(reach, roof, color="#5b6472", linewidth=1)
        ridge = peaks["flop_per_s"][dtype] / peaks["bytes_per_s"]  # left of it and above the slope nothing is drawn
        ax.annotate(dtype, (ridge, roof[-1]), xytext=(-6, 0), textcoords="offset points", ha="right", va="center")
    for number, (row, x) in enumerate(zip(rows, intensities, strict=True)):
        style = {"color": COLOURS[number % 9], "marker": MARKERS[number % 9], "linestyle": "none"}
        ax.plot([x], [row["flop_per_s"]], label=_label(row), **style)
        ax.plot([x], [row["flops"] / row["predicted_seconds"]], fillstyle="none", **style)
    ax.set(xscale="log", yscale="log", xlabel="FLOP per byte", ylabel=f"FLOP/s, forward, L = {rows[0]['length']}")
    figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure


def describe(figure: Figure) -> str:
    """The curves of a figure in words: name, first and last point; bars: name and length; panel by panel."""
    return " ".join(_panel(ax) for ax in figure.axes)


def _panel(ax: Axes) -> str:
    parts = []
    for line in ax.get_lines():
        x, y = np.asarray(line.get_xdata(), float), np.asarray(line.get_ydata(), float)
        if not line.get_label().startswith("_"):
            end = f" to {y[-1]:.3g} at {x[-1]:g}" if len(x) > 1 else ""
            parts.append(f"{line.get_label()}: {y[0]:.3g} at {x[0]:.4g}{end}")
    names = [tick.get_text() for tick in ax.get_yticklabels()]
    for bars in ax.containers:
        kind = "" if bars.get_label().startswith("_") else f", {bars.get_label()}"
        parts += [f"{name}{kind}: {bar.get_width():.3g}" for name, bar in zip(names, bars, strict=True)]
    return f"{ax.get_ylabel() or ax.get_xlabel()}. " + "; ".join(parts) + "."


def _fitting(found: Found, pass_: str, causal: bool, variants: Iterable[str] | None, wanted: Mapping[str, Any]) -> list:
    """The rows that were asked for; ValueError, saying what there is, where there are none."""
    chosen = {"what": "attention", "pass": pass_, "causal": causal} | dict(wanted)
    if variants is not None:
        chosen["variant"] = tuple(variants)
    rows = results.rows(found, **chosen)
    if not rows:
        kept = {key: sorted({str(row[key]) for row in found["rows"]}) for key in chosen}
        raise ValueError(f"no row has {chosen}; the file has {kept}")
    return rows


def _curves(
    found: Found, pass_: str, causal: bool, variants: Iterable[str] | None, wanted: Mapping[str, Any], value: Any
) -> dict[str, tuple[list[int], list[float]]]:
    curves: dict[str, tuple[list[int], list[float]]] = {}
    rows = _fitting(found, pass_, causal, variants, wanted)
    for name in variants or dict.fromkeys(row["variant"] for row in rows):
        for row in rows:
            if row["variant"] == name and value(row):
                x, y = curves.setdefault(_label(row), ([], []))
                x.append(row["length"])
                y.append(value(row))
    return curves


def _lines(curves: Mapping[str, tuple[list[int], list[float]]], label: str, fitted: bool = True) -> Figure:
    figure, ax = plt.subplots(figsize=(WIDTH, 3.4 + 0.22 * len(curves)))
    for number, (name, (x, y)) in enumerate(curves.items()):
        power = exponent(x[-3:], y[-3:])  # short sequences pay for starting
        text = f"{name}, L^{power:.2f}" if fitted and not math.isnan(power) else name
        ax.plot(x, y, color=COLOURS[number % 9], marker=MARKERS[number % 9], label=text)
    ax.set(xscale="log", yscale="log", xlabel="L", ylabel=label)
    _ticks_at(ax, sorted({length for x, _ in curves.values() for length in x}))
    ax.grid(True, which="major")
    figure.legend(*ax.get_legend_handles_labels(), loc="outside lower left", ncols=1)
    return figure


def _ticks_at(ax: Axes, lengths: list[int]) -> None:
    ax.set_xticks(lengths, [f"{length // 1024}k" if length % 1024 == 0 else str(length) for length in lengths])
    ax.set_xticks([], minor=True)


def _at(
    found: Found,
    pass_: str,
    causal: bool,
    length: int | None,
    variants: Iterable[str] | None,
    wanted: Mapping[str, Any],
    needs: str,
) -> list[dict[str, Any]]:
    """One row per variant, dtype and width, at this length, or at the longest that most of them have."""
    rows = [row for row in _fitting(found, pass_, causal, variants, wanted) if row[needs]]
    lengths = [row["length"] for row in rows]
    if length is None and lengths:
        length = max(set(lengths), key=lambda one: (lengths.count(one), one))
    rows = [row for row in rows if row["length"] == length]
    if variants is not None:  # in the order, and so the colours, of the curves
        rows.sort(key=lambda row: list(variants).index(row["variant"]))
    if not rows:
        raise ValueError(f"no row with {needs} at L = {length}; there are {sorted(set(lengths))}")
    return rows


def _label(row: Mapping[str, Any]) -> str:
    """The variant, its dtype if that is not float32, and the backend that SDPA picked."""
    backend = f" ({row['backend']})" if row["variant"] == "SDPA" else ""
    dtype = "" if row["dtype"] == "float32" else f" {row['dtype']}"
    return f"{row['variant']}{backend}{dtype}"
