"""Encoders that learn to follow pointers: the task, the networks and their training."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import mean

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attention.encoder import Encoder, EncoderLayer

__all__ = [
    "DESIGNS",
    "HOPPERS",
    "Follower",
    "WithoutResidual",
    "at_the_end",
    "follow",
    "run",
    "train_follower",
    "two_hops",
    "weights_on_hops",
]


class WithoutResidual(EncoderLayer):
    """Post-norm with the two sums taken out."""

    def forward(self, x: Tensor, attn_mask: Tensor | None = None, key_mask: Tensor | None = None) -> Tensor:
        x = self.norm1(self.self_attention(x, x, x, attn_mask, key_mask)[0])
        return self.norm2(self.feed_forward(x))


class Follower(nn.Module):
    """Token numbers (B, n) → logits (B, n, n): embedding, learned positions, encoder."""

    def __init__(
        self, layers: int, n: int, norm_first: bool, d: int = 32, layer_class: type[EncoderLayer] | None = None
    ) -> None:
        super().__init__()
        self.embedding = nn.Embedding(n, d)
        self.position = nn.Parameter(torch.randn(n, d))
        self.encoder = Encoder(layers, d, 2, 4 * d, dropout=0.0, norm_first=norm_first)
        if layer_class:
            self.encoder.layers = nn.ModuleList(layer_class(d, 2, 4 * d, 0.0) for _ in range(layers))
        self.read = nn.Linear(d, n)

    def forward(self, pointers: Tensor) -> Tensor:
        return self.read(self.encoder(self.embedding(pointers) + self.position))


def follow(pointers: Tensor, hops: int) -> Tensor:
    """The number found after going `hops` times where the last number says."""
    found = pointers
    for _ in range(hops):
        found = pointers.gather(1, found)
    return found


def train_follower(
    layers: int,
    hops: int,
    n: int,
    norm_first: bool,
    lr: float,
    warm_up: int,
    steps: int,
    size: int,
    layer_class: type[EncoderLayer] | None = None,
    seed: int = 0,
    d: int = 32,
) -> tuple[Follower, list[float]]:
    """The trained network and the loss at every step."""
    torch.manual_seed(seed)
    network = Follower(layers, n, norm_first, d, layer_class)
    rng, losses = torch.Generator().manual_seed(seed), []
    optimizer = torch.optim.Adam(network.parameters(), lr, fused=True)
    for step in range(steps):
        rising, falling = (step + 1) / max(1, warm_up), (steps - step) / (steps - warm_up)
        for group in optimizer.param_groups:
            group["lr"] = lr * min(1, rising, falling)
        pointers = torch.randint(n, (size, n), generator=rng)
        optimizer.zero_grad()
        logits = network(pointers).flatten(0, 1)
        loss = F.cross_entropy(logits, follow(pointers, hops).flatten())
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return network, losses


def at_the_end(losses: Sequence[float]) -> float:
    """The mean loss over the last ten steps."""
    return mean(losses[-10:])


#: Name → (norm_first, highest learning rate, steps of warm-up, layer class) of a follower of six layers.
DESIGNS: dict[str, tuple[bool, float, int, type[EncoderLayer] | None]] = {
    "post-norm, 0.015": (False, 0.015, 0, None),
    "post-norm, 0.015, warm-up": (False, 0.015, 50, None),
    "pre-norm, 0.015": (True, 0.015, 0, None),
    "post-norm, 0.003": (False, 0.003, 0, None),
    "no residual, 0.003": (False, 0.003, 0, WithoutResidual),
}


def run(design: str, seed: int) -> list[float]:
    """The losses of a design that learns one hop among eight positions, 120 steps of 32 rows."""
    norm_first, lr, warm_up, layer_class = DESIGNS[design]
    return train_follower(6, 1, 8, norm_first, lr, warm_up, 120, 32, layer_class, seed)[1]


#: Name → layers and width of an encoder that learns two hops among six positions.
HOPPERS = {"1 layer": (1, 32), "1 layer, twice as wide": (1, 64), "2 layers": (2, 32)}


def two_hops(name: str, seed: int) -> tuple[Follower, float]:
    """The network after 400 steps of 64 rows, and its share of right answers on 2000 other rows."""
    layers, d = HOPPERS[name]
    network, _ = train_follower(layers, 2, 6, True, 3e-3, 50, 400, 64, seed=seed, d=d)
    pointers = torch.randint(6, (2000, 6), generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        right = network(pointers).argmax(-1) == follow(pointers, 2)
    return network, right.float().mean().item()


@torch.no_grad()
def weights_on_hops(network: Follower, pointers: Tensor) -> tuple[list[Tensor], Tensor]:
    """The weights of each layer, and (layers, heads, 2): their mean share on the first and on the second hop."""
    _, weights = network.encoder(network.embedding(pointers) + network.position, return_weights=True)
    targets = (pointers, follow(pointers, 1))
    shares = [
        [[w[:, head].gather(-1, target[..., None]).mean() for target in targets] for head in range(w.shape[1])]
        for w in weights
    ]
    return weights, torch.tensor(shares)
