"""What readers without JavaScript see in place of <online-softmax>: row 2 of the running example, key by key."""

from __future__ import annotations

import math
from collections.abc import Mapping

import torch

from attention.dot_product import scaled_dot_product_attention
from attention.efficient import merge_partials
from attention.worked_example import EXAMPLE

ATTRIBUTES: dict[str, tuple[str, ...]] = {}


def fallback(options: Mapping[str, str]) -> str:
    """Running maximum, sum and output after each key, and the output of the whole softmax."""
    tensors = {name: torch.tensor(rows, dtype=torch.float64) for name, rows in EXAMPLE.items()}
    query, key, value = (tensors["inputs"] @ tensors[f"w_{part}"] for part in ("query", "key", "value"))
    scores = query[1] @ key.T / math.sqrt(3)
    triple, rows = None, ""
    for score, row, number in zip(scores, value, (1, 2, 3), strict=True):
        part = (score, torch.ones((), dtype=torch.float64), row)
        triple = merge_partials(triple, part) if triple else part
        m, total, summed = triple
        rows += (
            f"<tr><th>key {number}</th><td>{m:.4f}</td><td>{total:.4f}</td><td>{_numbers(summed)}</td>"
            f"<td>{_numbers(summed / total)}</td></tr>"
        )
    whole = scaled_dot_product_attention(query, key, value)[0][1]
    return (
        "<table><caption>Query 2 of the running example meets one key after the other: running maximum m, sum ℓ,"
        f" weighted sum a. The softmax over all keys at once gives the output {_numbers(whole)}.</caption>"
        f"<tr><th>after</th><th>m</th><th>ℓ</th><th>a</th><th>a / ℓ</th></tr>{rows}</table>"
    )


def _numbers(row: torch.Tensor) -> str:
    return " ".join(f"{number:.4f}" for number in row.tolist())
