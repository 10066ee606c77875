"""What the living example shows without JavaScript: its numbers as a table, computed by the reference."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from attention.worked_example import EXAMPLE, dot_scores, project, self_attention

VIEWS = ("hero", "full", "scores", "masks", "heads", "positions", "layer", "decode")
ATTRIBUTES: dict[str, tuple[str, ...]] = {
    "view": VIEWS,
    "row": ("1", "2", "3"),
    "step": (),
    "causal": ("",),
    "unscaled": ("",),
}


def fallback(options: Mapping[str, str]) -> str:
    """A table in HTML: of each token its query, scores, weights and output."""
    scale = "unscaled" not in options
    weights_of = [np.array(EXAMPLE[name], dtype=float) for name in ("w_query", "w_key", "w_value")]
    queries, keys, values = project(EXAMPLE["inputs"], *weights_of)
    outputs, weights = self_attention(EXAMPLE["inputs"], *weights_of, scale=scale)
    columns = {
        "query": queries,
        "key": keys,
        "value": values,
        "scores": dot_scores(queries, keys),
        "weights": weights,
        "output": outputs,
    }
    return table(f"The running example, {'scores divided by √3' if scale else 'unscaled'}", columns)


def table(caption: str, columns: Mapping[str, Any]) -> str:
    """One row a token, one cell of numbers for each matrix; caption: plain text."""
    heads = "".join(f"<th>{name}</th>" for name in columns)
    rows = "".join(
        f"<tr><th>{token + 1}</th>"
        + "".join(f"<td>{numbers(matrix[token])}</td>" for matrix in columns.values())
        + "</tr>"
        for token in range(len(next(iter(columns.values()))))
    )
    return f'<table class="numbers"><caption>{caption}</caption><tr><th>token</th>{heads}</tr>{rows}</table>'


def numbers(row: Any) -> str:
    return " ".join(f"{value:.0f}" if float(value).is_integer() else f"{value:.2f}" for value in row).replace("-", "−")
