"""Trains small causal models with five kinds of positions, for longer rows: `python -m studies.positions`.

In the folder `book`, with `solutions` on Python's path; some two minutes on one thread. The results go to
`studies/results/positions.json`. A page trains single models again with `run`.
"""

from __future__ import annotations

import math
import sys
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attention.masks import causal_mask, masked_softmax
from attention.positions import alibi_bias, sinusoidal_encoding
from studies.recording import Part, Record

__all__ = ["LENGTHS", "METHODS", "PARTS", "RECORD", "REPAIRS", "TASKS", "TRAINED", "TwoTasks", "frequencies"]
__all__ += ["pointing", "right_answers", "run", "train"]

RECORD = Record("positions.json")
DIGITS, WIDTH, HEADS, LAYERS, STEPS, BATCH, RATE = 10, 32, 4, 2, 250, 16, 0.02
TRAINED, LENGTHS = 16, (16, 24, 32, 48, 64)
TASKS = ("three back", "last low")
METHODS = ("none", "sinusoidal", "learned", "rotary", "ALiBi")
REPAIRS = ("rotary", "positions divided", "base raised")
D_HEAD, BASE = WIDTH // HEADS, 10000.0


def digits(rng: torch.Generator, batch: int, length: int) -> tuple[Tensor, Tensor, Tensor]:
    """Digits (batch, length); for each task the answers and whether there is one, (2, batch, length)."""
    tokens = torch.randint(DIGITS, (batch, length), generator=rng)
    at = torch.arange(length)
    low = torch.where(tokens < 4, at, -1).cummax(dim=1).values
    answers = torch.stack([tokens.roll(3, dims=1), tokens.gather(1, low.clamp(min=0))])
    return tokens, answers, torch.stack([(at >= 3).expand_as(low), low >= 0])


def frequencies(repair: str, factor: float) -> Tensor:
    """Radians per position of each pair, (D_HEAD / 2,), for rows `factor` times as long as those of training.

    "rotary": θ_i = base^(-2i/d), unchanged. "positions divided" by the factor: Chen et al. (2023). "base raised" to
    base · factor^(d / (d - 2)), which slows the slowest pair by the factor and leaves the fastest alone: "NTK-aware".
    """
    base = BASE * factor ** (D_HEAD / (D_HEAD - 2)) if repair == "base raised" else BASE
    theta = base ** (-torch.arange(0, D_HEAD, 2, dtype=torch.float64) / D_HEAD)
    return theta / factor if repair == "positions divided" else theta


def turn(x: Tensor, theta: Tensor) -> Tensor:
    """Rotary positions with given frequencies; x: (..., L, D_HEAD)."""
    angle = (torch.arange(x.shape[-2], dtype=torch.float64)[:, None] * theta).to(x.dtype)
    even, odd = x[..., ::2], x[..., 1::2]
    pairs = (even * angle.cos() - odd * angle.sin(), even * angle.sin() + odd * angle.cos())
    return torch.stack(pairs, dim=-1).flatten(-2)


class TwoTasks(nn.Module):
    """Two models side by side, one for each task: every weight has a leading axis of 2, and neither feels the other.

    Two causal layers with residual connections and normalised inputs, no feed-forward part.
    """

    def __init__(self, method: str) -> None:
        super().__init__()
        self.method, scale = method, WIDTH**-0.5
        self.embedding = nn.Parameter(torch.randn(2, DIGITS, WIDTH))
        self.w_in = nn.Parameter(scale * torch.randn(LAYERS, 2, 1, WIDTH, 3 * WIDTH))
        self.w_out = nn.Parameter(scale * torch.randn(LAYERS, 2, 1, WIDTH, WIDTH))
        self.read = nn.Parameter(scale * torch.randn(2, 1, WIDTH, DIGITS))
        if method == "learned":  # more rows than training reaches, as a library gives
            self.table = nn.Parameter(0.02 * torch.randn(2, 1, max(LENGTHS), WIDTH))

    def forward(self, tokens: Tensor, theta: Tensor | None = None) -> tuple[Tensor, list[Tensor]]:
        """tokens (B, L) → logits (2, B, L, DIGITS) and each layer's weights (2, B, H, L, L)."""
        length, looks = tokens.shape[1], []
        x = self.embedding[:, tokens]  # (2, B, L, WIDTH)
        if self.method == "sinusoidal":
            x = x + sinusoidal_encoding(length, WIDTH).to(x.dtype)
        if self.method == "learned":
            x = x + self.table[:, :, :length]
        bias = alibi_bias(HEADS, length).to(x.dtype) if self.method == "ALiBi" else 0.0
        for w_in, w_out in zip(self.w_in, self.w_out, strict=True):
            parts = (F.layer_norm(x, (WIDTH,)) @ w_in).chunk(3, dim=-1)
            q, k, v = (part.unflatten(-1, (HEADS, -1)).transpose(-3, -2) for part in parts)  # (2, B, H, L, D_HEAD)
            if self.method == "rotary":
                theta = frequencies("rotary", 1) if theta is None else theta
                q, k = turn(q, theta), turn(k, theta)
            weights = masked_softmax(q @ k.mT / math.sqrt(D_HEAD) + bias, causal_mask(length))
            x = x + (weights @ v).transpose(-3, -2).flatten(-2) @ w_out
            looks.append(weights)
        return F.layer_norm(x, (WIDTH,)) @ self.read, looks


def train(method: str, seed: int) -> TwoTasks:
    """Both models of a method, trained on rows of 16; the seed decides initial weights and batches."""
    torch.manual_seed(seed)
    model = TwoTasks(method).float()
    rng = torch.Generator().manual_seed(100 + seed)
    optimizer = torch.optim.Adam(model.parameters())
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, total_steps=STEPS)
    for _ in range(STEPS):
        tokens, answers, exists = digits(rng, BATCH, TRAINED)
        losses = F.cross_entropy(model(tokens)[0].movedim(-1, 1), answers, reduction="none")  # (2, B, L)
        optimizer.zero_grad()
        ((losses * exists).sum() / exists.sum()).backward()
        optimizer.step()
        schedule.step()
    return model


@torch.no_grad()
def right_answers(model: TwoTasks, length: int, theta: Tensor | None = None) -> list[float]:
    """Shares of right answers at the last eight positions of 200 unseen rows, in the order of TASKS."""
    tokens, answers, _ = digits(torch.Generator().manual_seed(2), 200, length)
    right = model(tokens, theta)[0].argmax(dim=-1) == answers
    return [round(share, 3) for share in right[..., -8:].double().mean(dim=(-1, -2)).tolist()]


@torch.no_grad()
def pointing(model: TwoTasks) -> list[list[float]]:
    """The head of the first task that points three back: its mean weight by distance, for each of LENGTHS."""
    curves = []
    for length in LENGTHS:
        tokens, _, _ = digits(torch.Generator().manual_seed(3), 32, length)
        heads = torch.cat([weights[0].mean(dim=0) for weights in model(tokens)[1]])  # (LAYERS · H, L, L)
        by_distance = [heads.diagonal(-k, dim1=-2, dim2=-1)[..., -8:].mean(-1) for k in range(length - 8)]
        curves.append(torch.stack(by_distance, dim=-1))
    head = curves[0][:, 3].argmax()
    return [[round(share, 4) for share in curve[head].tolist()] for curve in curves]


def run(method: str, seed: int) -> tuple[TwoTasks, dict[str, Any]]:
    """Train one method with one seed; right answers by length, where its pointing head looks, and rotary's repairs."""
    model = train(method, seed)
    found: dict[str, Any] = {"right": [right_answers(model, length) for length in LENGTHS]}
    if method != "none":
        found["pointing"] = pointing(model)
    if method == "rotary":
        found["repaired"] = {
            repair: [right_answers(model, n, frequencies(repair, n / TRAINED)) for n in LENGTHS] for repair in REPAIRS
        }
    return model, found


def _longer_rows(seeds: range) -> dict[str, Any]:
    return {method: [run(method, seed)[1] for seed in seeds] for method in METHODS}


PARTS = {"longer rows": Part(_longer_rows, seeds=8)}

if __name__ == "__main__":
    RECORD.run(PARTS, sys.argv[1:])
