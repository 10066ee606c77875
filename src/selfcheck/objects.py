"""Makes what a step hands to a learner's code besides plain values: modules, iterators, scores, generators, optimisers.

It knows their descriptions and nothing else, and imports torch only where one of them is asked for.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

KINDS = ("iterator", "score", "generator", "loss", "optimizer")
LOSSES = ("mse_loss", "cross_entropy", "binary_cross_entropy_with_logits")


def module(tree: dict[str, Any]) -> Any:
    """A module of torch's own: linear layers by name, nn.MultiheadAttention, or a small network; without its state."""
    import torch

    if tree["type"] == "linears":
        widths = tree["widths"]
        return torch.nn.ModuleDict(
            {name: torch.nn.Linear(widths[0], widths[1], bias=tree["bias"]) for name in tree["names"]}
        )
    if tree["type"] == "network":
        return _network(tree["inputs"], tree["hidden"], tree["outputs"], tree["dropout"], tree.get("shows_mode", False))
    return torch.nn.MultiheadAttention(bias=tree["bias"], batch_first=True, **tree["sizes"])


def _network(inputs: list[int], hidden: int, outputs: int, dropout: float, shows_mode: bool) -> Any:
    """output(dropout(tanh(Σ inputs[i](x_i)))): a network that takes as many arguments as there are widths.

    shows_mode: whether its state holds `mode`, 1 in training and 0 in evaluation
    """
    import torch
    from torch import nn

    class Network(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inputs = nn.ModuleList(nn.Linear(width, hidden) for width in inputs)
            self.dropout = nn.Dropout(dropout)
            self.output = nn.Linear(hidden, outputs)
            if shows_mode:
                self.register_buffer("mode", torch.tensor(1.0))

        def train(self, mode: bool = True) -> Any:
            if shows_mode:
                self.get_buffer("mode").fill_(float(mode))
            return super().train(mode)

        def forward(self, *given: Any) -> Any:
            if len(given) != len(self.inputs):
                wanted = f"{len(self.inputs)} input{'s' if len(self.inputs) > 1 else ''}"
                raise TypeError(f"this model takes {wanted}, got {len(given)}")
            total = sum(linear(x) for linear, x in zip(self.inputs, given, strict=True))
            return self.output(self.dropout(torch.tanh(total)))

    return Network()


def other(tree: dict[str, Any], items: list[Any], modules: dict[str, Any]) -> Any:
    """What is neither a plain value nor a module.

    items: the revived tensors that the tree holds; modules: those among the arguments so far, by name
    """
    import torch

    if tree["kind"] == "iterator":
        return _once(items)
    if tree["kind"] == "score":
        return _score(tree["name"], items)
    if tree["kind"] == "generator":
        return torch.Generator().manual_seed(tree["seed"])
    if tree["kind"] == "loss":
        return getattr(torch.nn.functional, tree["name"])
    return torch.optim.SGD(modules[tree["of"]].parameters(), lr=tree["rate"])


def _once(items: list[Any]) -> Iterator[Any]:
    yield from items


def _score(name: str, weights: list[Any]) -> Callable[[Any, Any], Any]:
    """A score function of the course with its weights bound, made without the learner's own."""
    import torch

    def score(query: Any, keys: Any) -> Any:
        if name == "additive":
            w1, w2 = weights
            width = query.shape[-1]
            hidden = (query @ w1[:, :width].T).unsqueeze(-2) + (keys @ w1[:, width:].T).unsqueeze(-3)
            return torch.tanh(hidden) @ w2
        if name == "bilinear":
            return query @ weights[0] @ keys.transpose(-2, -1)
        dots = query @ keys.transpose(-2, -1)
        return dots / math.sqrt(keys.shape[-1]) if name == "scaled" else dots

    score.__qualname__ = "score"  # as an error names it that a learner's call meets
    return score
