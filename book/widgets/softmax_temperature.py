"""What readers without JavaScript see in place of <softmax-temperature>: five keys at four widths."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from attention.worked_example import softmax

ATTRIBUTES: dict[str, tuple[str, ...]] = {}
STANDARD = np.array([1.2, 0.9, 0.2, -0.5, -1.1])  # scores divided by √d


def fallback(options: Mapping[str, str]) -> str:
    """The largest weight and the largest derivative of a weight by a score, divided by √d and not."""
    rows = ""
    for width in (1, 16, 64, 1024):
        cells = ""
        for scaled in (False, True):
            weights = np.asarray(softmax(STANDARD if scaled else STANDARD * math.sqrt(width)))
            derivative = max(weights[i] * np.delete(weights, i).sum() for i in range(len(weights)))
            cells += f"<td>{weights.max():.2f}</td><td>{derivative:.1e}</td>"
        rows += f"<tr><th>d = {width}</th>{cells}</tr>"
    return (
        "<table><caption>Five keys whose scores divided by √d are 1.2, 0.9, 0.2, −0.5 and −1.1: the largest weight, and"
        " the largest derivative of a weight by what enters the softmax.</caption>"
        "<tr><th>width</th><th>not divided: weight</th><th>derivative</th><th>÷ √d: weight</th><th>derivative</th></tr>"
        f"{rows}</table>"
    )
