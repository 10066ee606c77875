"""Can self-attention without projections follow "the next one"? A small task, with projections and without."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attention.scores import scaled_dot_scores

__all__ = ["KINDS", "PAYLOADS", "run", "successors"]

KINDS, PAYLOADS, STEPS = 6, 4, 300


def successors(generator: torch.Generator, size: int = 64) -> tuple[Tensor, Tensor, Tensor]:
    """Kinds in random order, their payloads, and the answers: the payload of the next kind; each (size, KINDS)."""
    kinds = torch.rand(size, KINDS, generator=generator).argsort(1)
    payloads = torch.randint(PAYLOADS, (size, KINDS), generator=generator)
    by_kind = torch.empty_like(payloads).scatter_(1, kinds, payloads)
    return kinds, payloads, by_kind.gather(1, (kinds + 1) % KINDS)


class Successor(nn.Module):
    """One self-attention layer over kind and payload; without projections Q = K = V = X."""

    def __init__(self, projections: bool, d: int = 32) -> None:
        super().__init__()
        self.kind, self.payload, self.read = nn.Embedding(KINDS, d), nn.Embedding(PAYLOADS, d), nn.Linear(d, PAYLOADS)
        self.query, self.key, self.value = (
            nn.Linear(d, d, bias=False) if projections else nn.Identity() for _ in range(3)
        )

    def forward(self, kinds: Tensor, payloads: Tensor) -> tuple[Tensor, Tensor]:
        x = self.kind(kinds) + self.payload(payloads)
        weights = scaled_dot_scores(self.query(x), self.key(x)).softmax(-1)
        return self.read(weights @ self.value(x)), weights


def run(projections: bool, seed: int) -> tuple[float, Tensor]:
    """Train one model; its share of right answers on new rows, and its mean weights by kind, (KINDS, KINDS)."""
    torch.manual_seed(seed)
    net, generator = Successor(projections), torch.Generator().manual_seed(seed)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 1e-2, total_steps=STEPS)
    for _ in range(STEPS):
        kinds, payloads, answers = successors(generator)
        optimizer.zero_grad()
        F.cross_entropy(net(kinds, payloads)[0].flatten(0, 1), answers.flatten()).backward()
        optimizer.step()
        schedule.step()
    kinds, payloads, answers = successors(torch.Generator().manual_seed(10_000 + seed), 1000)
    with torch.no_grad():
        logits, weights = net(kinds, payloads)
    at = kinds.argsort(1)  # where each kind stands
    rows = weights.gather(1, at[:, :, None].expand(-1, -1, KINDS))
    by_kind = rows.gather(2, at[:, None].expand(-1, KINDS, -1)).mean(0)
    return (logits.argmax(-1) == answers).float().mean().item(), by_kind
