"""Attention at some of the queries, in any dtype: what the gate compares with, also where all queries would not fit."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

MOST_ROWS = 64  # queries per head at which a long sequence is checked


def checked_rows(length: int, most: int = MOST_ROWS) -> Tensor:
    """All queries of a short sequence, else `most` of them, evenly spaced, the first and the last among them."""
    if length <= 4 * most:
        return torch.arange(length)
    return torch.linspace(0, length - 1, most, dtype=torch.float64).round().long()


def answers_at(
    rows: Tensor, query: Tensor, key: Tensor, value: Tensor, upstream: Tensor, causal: bool, dtype: torch.dtype
) -> dict[str, Tensor]:
    """softmax(QKᵀ/√d)V at these queries, and the gradients of a loss that no other query enters, computed in dtype."""
    rows = rows.to(query.device)
    taken = [x.detach().to(dtype).requires_grad_() for x in (query[..., rows, :], key, value)]
    scores = taken[0] @ taken[1].mT / query.shape[-1] ** 0.5
    if causal:
        hidden = torch.arange(key.shape[-2], device=query.device) > rows[:, None]
        scores = scores.masked_fill(hidden, -torch.inf)
    output = scores.softmax(dim=-1) @ taken[2]
    output.backward(upstream[..., rows, :].to(dtype))
    return _named(output, *(x.grad for x in taken))


def answers_of(
    function: Callable[..., Tensor], rows: Tensor, query: Tensor, key: Tensor, value: Tensor, upstream: Tensor,
    backward: bool,
) -> dict[str, Tensor]:  # fmt: skip
    """The same of a variant, which sees the whole sequence: its output at these queries, and the gradients."""
    rows = rows.to(query.device)
    if not backward:
        with torch.no_grad():
            return {"output": function(query, key, value)[..., rows, :]}
    inputs = [x.detach().requires_grad_() for x in (query, key, value)]
    output = function(*inputs)
    entering = torch.zeros_like(upstream)
    entering[..., rows, :] = upstream[..., rows, :]
    output.backward(entering)
    of_query, of_key, of_value = (x.grad for x in inputs)
    return _named(output[..., rows, :], of_query[..., rows, :], of_key, of_value)


def _named(*tensors: Tensor) -> dict[str, Tensor]:
    names = ("output", "gradient of query", "gradient of key", "gradient of value")
    return {name: x.detach() for name, x in zip(names, tensors, strict=True)}
