"""What the living example shows without JavaScript: each view's numbers as a table, computed by the reference."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch

from attention.encoder import layer_norm
from attention.masks import causal_mask, masked_softmax
from attention.multi_head import split_heads
from attention.positions import apply_rotary, sinusoidal_encoding
from attention.worked_example import EXAMPLE, dot_scores, project, self_attention

PARTS = ("query", "key", "value")
INPUTS = np.array(EXAMPLE["inputs"], dtype=float)


def head(suffix: str = "", inputs: Any = INPUTS) -> dict[str, np.ndarray]:
    """One head of the running example: queries, keys, values, scores."""
    queries, keys, values = project(inputs, *(EXAMPLE[f"w_{part}{suffix}"] for part in PARTS))
    return {"query": queries, "key": keys, "value": values, "scores": dot_scores(queries, keys)}


def attended(suffix: str = "", scale: bool = True) -> tuple[np.ndarray, np.ndarray]:
    """Outputs and weights of one head of the running example."""
    return self_attention(INPUTS, *(EXAMPLE[f"w_{part}{suffix}"] for part in PARTS), scale=scale)


def whole(options: Mapping[str, str]) -> tuple[str, dict[str, Any]]:
    outputs, weights = attended(scale="unscaled" not in options)
    caption = (
        f"The running example, {'unscaled' if 'unscaled' in options else 'scores divided by √3 before the softmax'}"
    )
    return caption, {**head(), "weights": weights, "output": outputs}


def scores(options: Mapping[str, str]) -> tuple[str, dict[str, Any]]:
    one = head()
    scaled = one["scores"] / np.sqrt(3)
    shown = {"query": one["query"], "key": one["key"], "scores": one["scores"], "divided by √3": scaled}
    return "The running example, d = 3, temperature 1", {**shown, "weights": attended()[1]}


def causal(options: Mapping[str, str]) -> tuple[str, dict[str, Any]]:
    one = head()
    scaled = torch.as_tensor(one["scores"] / np.sqrt(3))
    weights = masked_softmax(scaled, causal_mask(3)).numpy()
    return "The running example under a causal mask", {
        "key": one["key"],
        "value": one["value"],
        "scaled scores": scaled.numpy(),
        "weights": weights,
        "output": weights @ one["value"],
    }


def two_heads() -> tuple[np.ndarray, np.ndarray]:
    """Both heads side by side, and what W_O makes of them."""
    joined = np.hstack([attended()[0], attended("2")[0]])
    return joined, joined @ np.array(EXAMPLE["w_output"])


def heads(options: Mapping[str, str]) -> tuple[str, dict[str, Any]]:
    wide = torch.as_tensor(np.hstack([head()["query"], head("2")["query"]]))
    first, second = split_heads(wide[None], 2)[0].numpy()
    joined, outputs = two_heads()
    shown = {"query, head 1": first, "query, head 2": second, "head 1": joined[:, :3], "head 2": joined[:, 3:]}
    return "Two heads of the running example, scaled", {**shown, "output": outputs}


def positions(options: Mapping[str, str]) -> tuple[str, dict[str, Any]]:
    added = INPUTS + sinusoidal_encoding(3, 4).double().numpy()
    turned = apply_rotary(torch.as_tensor(INPUTS)).numpy()
    return "The running example at positions 0, 1 and 2", {
        "added": added,
        "scores, added": head(inputs=added)["scores"],
        "rotated": turned,
        "scores, rotated": dot_scores(turned, turned),
    }


def layer(options: Mapping[str, str]) -> tuple[str, dict[str, Any]]:
    def norm(rows: np.ndarray) -> np.ndarray:
        return layer_norm(torch.as_tensor(rows)).numpy()

    w_1, b_1, w_2, b_2 = (np.array(EXAMPLE[name]) for name in ("w_ff1", "b_ff1", "w_ff2", "b_ff2"))
    branch = two_heads()[1]
    first = norm(INPUTS + branch)
    added = np.maximum(first @ w_1 + b_1, 0) @ w_2 + b_2
    shown = {"attention": branch, "sum": INPUTS + branch, "norm 1": first, "feed-forward": added}
    return "One encoder layer on the running example", {**shown, "output": norm(first + added)}


BY_VIEW: dict[str, Callable[[Mapping[str, str]], tuple[str, dict[str, Any]]]] = {
    "hero": whole,
    "full": whole,
    "scores": scores,
    "masks": causal,
    "heads": heads,
    "positions": positions,
    "layer": layer,
    "decode": causal,
}
#: What the element may say of itself: the values allowed, () for any.
ATTRIBUTES: dict[str, tuple[str, ...]] = {
    "view": tuple(BY_VIEW),
    "row": ("1", "2", "3"),
    "step": tuple("123456"),
    "causal": ("",),
    "unscaled": ("",),
}


def fallback(options: Mapping[str, str]) -> str:
    """A table in HTML: a row for each token, a column for each matrix of the view."""
    caption, columns = BY_VIEW[options.get("view", "full")](options)
    heads_of_columns = "".join(f"<th>{name}</th>" for name in columns)
    rows = (
        f"<tr><th>{token + 1}</th>{''.join(f'<td>{numbers(matrix[token])}</td>' for matrix in columns.values())}</tr>"
        for token in range(len(INPUTS))
    )
    table = f"<caption>{caption}</caption><tr><th>token</th>{heads_of_columns}</tr>{''.join(rows)}"
    return f'<div class="widget-table"><table class="numbers">{table}</table></div>'


def numbers(row: Any) -> str:
    """The numbers of a row, apart by spaces; whole ones without decimals."""
    return " ".join(f"{value:.0f}" if float(value).is_integer() else f"{value:.2f}" for value in row).replace("-", "−")
