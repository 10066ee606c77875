"""Draws the bars of a class report as SVG: text stays text, and nothing is loaded to draw or to show it."""

from __future__ import annotations

import html
from collections.abc import Sequence

WIDTH = 340  # of a drawing, in its own units: on a phone one is about a pixel
ROW = 36
BAR = 200  # of the longest bar: beside it there is room for "2000 of 2000 (100 %)"
MOST_LABEL = 46  # characters that fit into the width
BINS = 10


def horizontal_bars(name: str, title: str, rows: Sequence[tuple[str, float, str]]) -> str:
    """A bar for each (label, share between 0 and 1, what is told of it), its label above it."""
    drawn = []
    for number, (label, share, told) in enumerate(rows):
        top = number * ROW
        short = label if len(label) <= MOST_LABEL else f"{label[: MOST_LABEL - 1]}…"
        drawn.append(
            f'<text x="0" y="{top + 14}">{html.escape(short)}</text>'
            f'<rect class="track" x="0" y="{top + 19}" width="{BAR}" height="11"/>'
            f'<rect class="bar" x="0" y="{top + 19}" width="{BAR * share:.1f}" height="11"/>'
            f'<text x="{BAR + 8}" y="{top + 29}">{html.escape(told)}</text>'
        )
    described = "; ".join(f"{label}: {told}" for label, _, told in rows)
    return _drawing(name, title, described, ROW * len(rows) + 4, "".join(drawn))


def histogram(name: str, title: str, bins: Sequence[tuple[str, int]]) -> str:
    """A column for each (label, count), its count above it."""
    most = max((count for _, count in bins), default=0) or 1
    step = WIDTH / max(1, len(bins))
    drawn = []
    for number, (label, count) in enumerate(bins):
        height, middle = 130 * count / most, (number + 0.5) * step
        drawn.append(
            f'<rect class="bar" x="{middle - 0.4 * step:.1f}" y="{150 - height:.1f}" width="{0.8 * step:.1f}" '
            f'height="{height:.1f}"/><text class="middle" x="{middle:.1f}" y="{145 - height:.1f}">{count}</text>'
            f'<text class="middle small" x="{middle:.1f}" y="166">{html.escape(label)}</text>'
        )
    drawn.append(f'<line x1="0" y1="150" x2="{WIDTH}" y2="150"/>')
    described = "; ".join(f"{label} points: {count}" for label, count in bins)
    return _drawing(name, title, described, 172, "".join(drawn))


def binned(points: Sequence[float], most: int) -> list[tuple[str, int]]:
    """How many have so many points, in about ten steps of whole points; the last holds full marks."""
    width = max(1, -(-(most + 1) // BINS))
    starts = range(0, most + 1, width)
    found = []
    for start in starts:
        last = min(start + width - 1, most)
        label = f"{start}" if start == last else f"{start}–{last}"
        found.append((label, sum(start <= one < start + width for one in points)))
    return found


def _drawing(name: str, title: str, described: str, height: float, content: str) -> str:
    return (
        f'<svg viewBox="0 0 {WIDTH} {height:.0f}" role="img" aria-labelledby="{name}-title {name}-text">'
        f'<title id="{name}-title">{html.escape(title)}</title><desc id="{name}-text">{html.escape(described)}</desc>'
        f"{content}</svg>"
    )
