"""Random sequences that repeat, and attention layers that learn to go on with them: induction heads."""

from __future__ import annotations

import time

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attention.decoder import next_token_loss
from attention.masks import causal_mask
from attention.multi_head import MultiHeadAttention
from attention.positions import sinusoidal_encoding

__all__ = ["MODELS", "AttentionOnly", "loss_by_place", "repeats", "run", "successors"]

SYMBOLS, LENGTH, SHORTEST, LONGEST = 64, 40, 8, 20
PLACES = range(-6, 12)  # 0 is the first token of the repetition
#: Layers, heads and width. One layer gets the wider vectors, so that it has the more parameters.
MODELS = {"one layer": (1, 2, 96), "two layers": (2, 1, 64)}
STEPS, EVERY, RATE = 500, 50, 6e-3


def repeats(size: int, rng: torch.Generator) -> tuple[Tensor, Tensor]:
    """Rows of LENGTH tokens, a random block again and again, and each row's block length, SHORTEST to LONGEST.

    The length varies so that no fixed distance says where to look.
    """
    tokens = torch.randint(SYMBOLS, (size, LENGTH), generator=rng)
    period = torch.randint(SHORTEST, LONGEST + 1, (size, 1), generator=rng)
    return tokens.gather(1, torch.arange(LENGTH) % period), period


class AttentionOnly(nn.Module):
    """Token vectors with sinusoidal positions, then causal attention layers alone, as in Elhage et al. (2021)."""

    def __init__(self, layers: int, heads: int, d: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(SYMBOLS, d)
        self.register_buffer("positions", sinusoidal_encoding(LENGTH, d))
        self.layers = nn.ModuleList(MultiHeadAttention(d, heads, bias=False) for _ in range(layers))
        self.norms = nn.ModuleList(nn.LayerNorm(d) for _ in range(layers + 1))
        self.output = nn.Linear(d, SYMBOLS)

    def forward(self, ids: Tensor) -> Tensor:
        return self.looked(ids)[0]

    def looked(self, ids: Tensor) -> tuple[Tensor, list[Tensor]]:
        """Logits (B, L, SYMBOLS), and each layer's weights (B, H, L, L)."""
        x, see, looks = self.embedding(ids) + self.positions[: ids.shape[1]], causal_mask(ids.shape[1]), []
        for layer, norm in zip(self.layers, self.norms, strict=False):
            y = norm(x)
            change, weights = layer(y, y, y, see)
            x, looks = x + change, [*looks, weights]
        return self.output(self.norms[-1](x)), looks


@torch.no_grad()
def loss_by_place(model: AttentionOnly) -> list[float]:
    """The loss in nats by place, counted from the first repeated token, on 1,000 new rows."""
    ids, period = repeats(1000, torch.Generator().manual_seed(99))
    losses = F.cross_entropy(model(ids[:, :-1]).transpose(1, 2), ids[:, 1:], reduction="none")  # (B, LENGTH - 1)
    place = torch.arange(1, LENGTH) - period
    return [round(losses[place == at].mean().item(), 3) for at in PLACES]


def late_loss(model: AttentionOnly) -> float:
    """The mean over the places from the second repeated token on, which a reader who sees the repetition can know."""
    later = [loss for at, loss in zip(PLACES, loss_by_place(model), strict=True) if at > 1]
    return round(sum(later) / len(later), 3)


@torch.no_grad()
def share_on_successor(model: AttentionOnly) -> float:
    """Of the last layer's weights in the repetition: the share on tokens *after* an earlier copy of the current one."""
    ids, period = repeats(200, torch.Generator().manual_seed(98))
    weights = model.looked(ids)[1][-1].amax(dim=1)  # (B, L, L): of several heads the one that looks there most
    share = (weights * successors(period)).sum(dim=-1)  # (B, L)
    return round(share[torch.arange(LENGTH) > period].mean().item(), 3)


def successors(period: Tensor) -> Tensor:
    """period (B, 1) → bool (B, L, L): True where key j stands one after an earlier copy of query i's token."""
    at = torch.arange(LENGTH)
    distance = at[:, None] - at + 1  # 1 + i - j: the copy stands at j - 1
    return (distance > 0) & (distance % period[..., None] == 0)


def run(name: str, seed: int, steps: int = STEPS) -> tuple[AttentionOnly, dict]:
    """Train one model with one seed, 64 rows a step; its loss on what repeats every 50 steps, and by place."""
    torch.manual_seed(seed)
    model, rng = AttentionOnly(*MODELS[name]), torch.Generator().manual_seed(seed)
    optimizer = torch.optim.Adam(model.parameters(), lr=RATE)
    started, curve = time.process_time(), []
    for step in range(1, steps + 1):
        ids, _ = repeats(64, rng)
        optimizer.zero_grad()
        next_token_loss(model(ids), ids).backward()
        optimizer.step()
        if step % EVERY == 0:
            curve.append(late_loss(model))
    return model, {
        "curve": curve,
        "by_place": loss_by_place(model),
        "on_successor": share_on_successor(model),
        "seconds": round(time.process_time() - started, 1),
        "parameters": sum(p.numel() for p in model.parameters()),
    }
