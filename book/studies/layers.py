"""Encoder layers with and without their parts: what random ones do to tokens, what trained ones learn by heart."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attention.encoder import Encoder, FeedForward, layer_norm
from attention.multi_head import MultiHeadAttention

__all__ = [
    "MEMORIES",
    "STARTS",
    "STREAMS",
    "Memory",
    "fraction_learnt",
    "gradient_by_layer",
    "spread",
    "spread_by_depth",
    "start",
]


def generator(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


# Random layers: how far the tokens stay apart

#: Name → arguments of `spread_by_depth`.
STREAMS: dict[str, dict[str, Any]] = {
    "attention alone": {"residual": False, "feed_forward": False},
    "with FFN": {"residual": False, "feed_forward": True},
    "with norm": {"residual": False, "feed_forward": False, "norm": "post"},
    "with FFN and norm": {"residual": False, "feed_forward": True, "norm": "post"},
    "with residual": {"residual": True, "feed_forward": False},
    "all, post-norm": {"residual": True, "feed_forward": True, "norm": "post"},
    "all, pre-norm": {"residual": True, "feed_forward": True, "norm": "pre"},
}


def spread(x: Tensor) -> float:
    """How far the tokens (n, d) are from being all the same: 0 to 1."""
    return ((x - x.mean(dim=0)).norm() / x.norm()).item()


def _unchanged(x: Tensor) -> Tensor:
    return x


#: Ways to draw a matrix (out, in) at the start, with the generator that they draw from.
STARTS: dict[str, Callable[[Tensor, torch.Generator], Any]] = {
    "Gaussian, deviation 1": lambda w, rng: nn.init.normal_(w, std=1.0, generator=rng),
    "Gaussian, deviation 0.02": lambda w, rng: nn.init.normal_(w, std=0.02, generator=rng),
    "Xavier": lambda w, rng: nn.init.xavier_uniform_(w, generator=rng),
    "Kaiming": lambda w, rng: nn.init.kaiming_normal_(w, nonlinearity="relu", generator=rng),
}


def _draw(module: nn.Module, seed: int, how: str = "Xavier") -> nn.Module:
    """The module in float64 with fresh matrices and biases of 0."""
    rng = generator(seed)
    for parameter in module.parameters():
        if parameter.dim() == 2:
            STARTS[how](parameter, rng)
        else:
            nn.init.zeros_(parameter)
    return module.double()


@torch.no_grad()
def spread_by_depth(
    residual: bool,
    feed_forward: bool,
    norm: str | None = None,
    draw: int = 0,
    depth: int = 12,
    d: int = 64,
    n: int = 32,
) -> list[float]:
    """The spread after 0, 1, …, depth layers with random weights, Xavier's, in float64."""
    x = torch.randn(n, d, generator=generator(draw), dtype=torch.float64)
    before = layer_norm if norm == "pre" else _unchanged
    after = layer_norm if norm == "post" else _unchanged
    spreads = [spread(x)]
    for layer in range(depth):
        attention = _draw(MultiHeadAttention(d, 4), 1000 * draw + 2 * layer)
        network = _draw(FeedForward(d, 4 * d), 1000 * draw + 2 * layer + 1)
        y = before(x)[None]
        x = after(residual * x + attention(y, y, y)[0][0])
        if feed_forward:
            x = after(residual * x + network(before(x)))
        spreads.append(spread(x))
    return spreads


@torch.no_grad()
def start(how: str, draw: int, d: int = 64, n: int = 32) -> tuple[float, float]:
    """Of a fresh layer on n tokens of unit variance: the mean largest weight of a query, the FFN's root mean square."""
    x = torch.randn(n, d, generator=generator(draw), dtype=torch.float64)
    weights = _draw(MultiHeadAttention(d, 4), 2 * draw, how)(x[None], x[None], x[None])[1]
    network = _draw(FeedForward(d, 4 * d), 2 * draw + 1, how)
    return weights.amax(-1).mean().item(), network(x).square().mean().sqrt().item()


def gradient_by_layer(depth: int, norm_first: bool, d: int = 64, draws: int = 4) -> Tensor:
    """(depth,): mean gradient norm of linear2.weight in each layer, at initialisation."""
    total = torch.zeros(depth)
    for seed in range(draws):
        torch.manual_seed(seed)
        encoder = Encoder(depth, d, 4, 4 * d, dropout=0.0, norm_first=norm_first)
        for parameter in encoder.parameters():
            if parameter.dim() == 2:
                nn.init.xavier_uniform_(parameter)
        x, read = torch.randn(8, 16, d), nn.Linear(d, 10)
        logits = read(encoder(x)).flatten(0, 1)
        F.cross_entropy(logits, torch.randint(10, (128,))).backward()
        total += torch.stack([layer.feed_forward.linear2.weight.grad.norm() for layer in encoder.layers])
    return total / draws


# Random labels learnt by heart

#: Name → arguments of `Memory`: affine; attention with norms; whole layers with as many parameters.
MEMORIES: dict[str, dict[str, Any]] = {
    "attention, 2 layers": {"layers": 2, "norm": False, "feed_forward": False},
    "and norm, 6 layers": {"layers": 6, "norm": True, "feed_forward": False},
    "and FFN, 2 layers": {"layers": 2, "norm": True, "feed_forward": True},
}


class Memory(nn.Module):
    """Post-norm layers with or without norm and FFN, then one logit per token."""

    def __init__(self, layers: int, norm: bool, feed_forward: bool, d: int = 16) -> None:
        super().__init__()
        self.attention = nn.ModuleList(MultiHeadAttention(d, 2) for _ in range(layers))
        self.network = nn.ModuleList(FeedForward(d, 4 * d) for _ in range(layers * feed_forward))
        self.norm = layer_norm if norm else _unchanged
        self.read = nn.Linear(d, 1)

    def forward(self, x: Tensor) -> Tensor:
        """x: (B, 1, d); returns (B,)."""
        for index, attention in enumerate(self.attention):
            x = self.norm(x + attention(x, x, x)[0])
            if self.network:
                x = self.norm(x + self.network[index](x))
        return self.read(x)[:, 0, 0]


def fraction_learnt(count: int, seed: int = 0, **options: Any) -> float:
    """Right answers on `count` random tokens with random labels, after 200 steps of training on them."""
    torch.manual_seed(seed)
    tokens, labels = torch.randn(count, 1, 16), torch.randint(2, (count,)).float()
    network = Memory(**options)
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-2)
    for _ in range(200):
        optimizer.zero_grad()
        F.binary_cross_entropy_with_logits(network(tokens), labels).backward()
        optimizer.step()
    return ((network(tokens) > 0) == (labels > 0)).float().mean().item()
