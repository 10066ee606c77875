"""The names that questions' expressions may use: the reference, the running example, and a few mistakes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from attention import (
    classifier,
    decoder,
    dot_product,
    efficient,
    encoder,
    masks,
    multi_head,
    positions,
    scores,
    sequence_to_sequence,
    worked_example,
)

__all__ = ["names"]


def _tensor(values: Any) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


EXAMPLE = {name: _tensor(rows) for name, rows in worked_example.EXAMPLE.items()}
X = EXAMPLE["inputs"]
Q, K, V = (X @ EXAMPLE[f"w_{part}"] for part in ("query", "key", "value"))


class Descent:
    """Gradient descent at the rate 1; torch's own optimisers take seconds to import what this has no use for."""

    def __init__(self, model: nn.Module) -> None:
        self.model = model

    def zero_grad(self) -> None:
        self.model.zero_grad()

    def step(self) -> None:
        with torch.no_grad():
            for one in self.model.parameters():
                if one.grad is not None:
                    one -= one.grad


def softmax(row: Any) -> Tensor:
    """The reference's softmax of one row."""
    return _tensor(worked_example.softmax(np.asarray(row, dtype=float)).tolist())


def attend(x: Tensor) -> Tensor:
    """Scaled self-attention of the running example's first head; x: (L, 4)"""
    weights = (EXAMPLE[f"w_{part}"].tolist() for part in ("query", "key", "value"))
    return _tensor(worked_example.self_attention(x.tolist(), *weights, scale=True)[0].tolist())


def moved(layer: Callable[[Tensor], Tensor]) -> int:
    """How many of six rows a layer changes when row 4 of its input changes."""
    torch.manual_seed(0)
    x = torch.randn(1, 6, 8)
    other = x.clone()
    other[0, 3] += 1
    torch.manual_seed(1)  # for a layer that is made anew at each call
    before = layer(x)
    torch.manual_seed(1)
    return int((layer(other) - before).abs().amax(dim=-1).gt(1e-6).sum())


def descend(clear: bool) -> float:
    """Two steps of gradient descent on (w - 1)² at the rate 0.25, from 0."""
    w = torch.zeros((), requires_grad=True)
    for _ in range(2):
        if clear:
            w.grad = None
        (w - 1).square().backward()
        with torch.no_grad():
            w -= 0.25 * w.grad
    return w.item()


def one_step() -> Tensor:
    """The first layer's weights after one step of the reference, on the numbers of classifier.training-step."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 2), nn.Dropout(0.5))
    batch = torch.randn(4, 3), torch.tensor([0, 1, 1, 0])
    torch.manual_seed(1)
    classifier.train_step(model, batch, Descent(model), functional.cross_entropy)
    return model[0].weight


def expected_gradient() -> Tensor:
    """The gradient of Σ a_j l_j at the scores, for a = (1/2, 1/4, 1/4) and the losses 4, 0, 8."""
    row = _tensor([0.5, 0.25, 0.25]).log().requires_grad_()
    (row.softmax(-1) @ _tensor([4, 0, 8])).backward()
    return row.grad


def appended() -> tuple[Tensor, Tensor]:
    """What a cache returns after a prompt of five and one more token; batch 2, four heads of width 16."""
    cache = efficient.KeyValueCache(10)
    cache.append(torch.ones(2, 4, 5, 16), torch.ones(2, 4, 5, 16))
    return cache.append(torch.ones(2, 4, 1, 16), torch.ones(2, 4, 1, 16))


def grown_cache(before: int, new: int) -> tuple[Tensor, Tensor]:
    """Keys and values of width 4 of one head, after `before` tokens and `new` more."""
    cache = efficient.KeyValueCache(before + new)
    cache.append(torch.ones(before, 4), torch.ones(before, 4))
    return cache.append(torch.ones(new, 4), torch.ones(new, 4))


def cache_bytes(layers: int, heads: int, width: int) -> int:
    """Bytes that one token takes in the caches of all layers, in float16."""
    kept = efficient.KeyValueCache(1).append(*torch.ones(2, 1, heads, 1, width, dtype=torch.float16))
    return layers * sum(one.numel() * one.element_size() for one in kept)


def names() -> dict[str, Any]:
    """A fresh namespace: what an expression assigns stays in it."""
    parts = {
        f"W_{part[0].upper()}{head}": EXAMPLE[f"w_{part}{head}"]
        for part in ("query", "key", "value")
        for head in ("", "2")
    }
    modules = {
        "we": worked_example, "scores": scores, "dp": dot_product, "masks": masks, "mh": multi_head, "pos": positions,
        "enc": encoder, "cls": classifier, "s2s": sequence_to_sequence, "dec": decoder, "eff": efficient,
    }  # fmt: skip
    matrices = {"X": X, "Q": Q, "K": K, "V": V, "S": Q @ K.T, "YS": attend(X), **parts}
    feed_forward = {"W_ff2": EXAMPLE["w_ff2"], "b_ff2": EXAMPLE["b_ff2"], "u516": torch.ones(5, 16)}
    helpers = {
        one.__name__: one
        for one in (softmax, attend, moved, descend, one_step, expected_gradient, appended, cache_bytes)
    }
    shown = {
        "causal_mask": masks.causal_mask,
        "load_torch_weights": multi_head.load_torch_weights,
        "sinusoidal_encoding": positions.sinusoidal_encoding,
    }
    libraries = {
        "math": math,
        "np": np,
        "torch": torch,
        "nn": nn,
        "F": functional,
        "Descent": Descent,
        "T": _tensor,
        "eff_cache": grown_cache,
    }
    return {**libraries, **shown, **modules, **matrices, **feed_forward, **helpers}
