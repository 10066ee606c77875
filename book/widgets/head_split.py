"""What readers without JavaScript see in place of <head-split>: both splits of the running example's queries."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from attention.worked_example import EXAMPLE

ATTRIBUTES: dict[str, tuple[str, ...]] = {}


def fallback(options: Mapping[str, str]) -> str:
    """The rows of each head after the right split and after the wrong one."""
    both = np.array(EXAMPLE["inputs"]) @ np.concatenate([EXAMPLE["w_query"], EXAMPLE["w_query2"]], axis=1)  # (3, 6)
    right, wrong = both.reshape(3, 2, 3).swapaxes(0, 1), both.reshape(2, 3, 3)
    rows = "".join(
        f"<tr><th>head {head + 1}, row {row + 1}</th><td>{_numbers(right[head, row])}</td>"
        f"<td>{_numbers(wrong[head, row])}</td></tr>"
        for head in range(2)
        for row in range(3)
    )
    return (
        "<table><caption>The queries of both heads, (3, 6), split into (2, 3, 3). Rows 1 and 2 of head 1 both come from"
        " token 1 where the transpose is left out.</caption>"
        f"<tr><th>row</th><th>reshape, transpose</th><th>reshape alone</th></tr>{rows}</table>"
    )


def _numbers(row: np.ndarray) -> str:
    return " ".join(str(int(number)) for number in row)
