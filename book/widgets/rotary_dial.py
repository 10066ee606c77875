"""What readers without JavaScript see in place of <rotary-dial>: the chapter's query and key at several positions."""

from __future__ import annotations

from collections.abc import Mapping

import torch

from attention.positions import apply_rotary

ATTRIBUTES: dict[str, tuple[str, ...]] = {}
QUERY, KEY = (torch.tensor([row], dtype=torch.float64) for row in ([0, 2, 0, 2], [1, 0, 1, 0]))


def fallback(options: Mapping[str, str]) -> str:
    """The score of each pair and their sum, at pairs of positions of which three have the same distance."""
    rows = ""
    for m, n in ((1, 0), (4, 3), (11, 10), (0, 1), (0, 0)):
        products = apply_rotary(QUERY, offset=m) * apply_rotary(KEY, offset=n)
        parts = products[0].reshape(2, 2).sum(-1).tolist()
        cells = "".join(f"<td>{number:.4f}</td>".replace("-", "−") for number in (*parts, sum(parts)))
        rows += f"<tr><th>{m}, {n}</th><td>{m - n}</td>{cells}</tr>".replace("<td>-", "<td>−")
    return (
        "<table><caption>The query [0, 2, 0, 2] at position m and the key [1, 0, 1, 0] at position n, turned: their"
        " score follows m − n alone.</caption>"
        f"<tr><th>m, n</th><th>m − n</th><th>pair 0</th><th>pair 1</th><th>score</th></tr>{rows}</table>"
    )
