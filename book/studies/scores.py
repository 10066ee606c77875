"""Trains the projections of one attention layer with and without the scale, at several widths.

`python -m studies.scores` in the folder `book`, with `solutions` on Python's path, runs ten seeds of each case in
about a minute and writes `studies/results/scores.json`.
"""

from __future__ import annotations

import math
import sys
from typing import Any

import torch
import torch.nn.functional as F

from attention.scores import dot_scores, scaled_dot_scores
from studies.recording import Part, Record

__all__ = ["RECORD", "SCORES", "WIDTHS", "gradient_at_query", "weight_on_right_key"]

RECORD = Record("scores.json")
WIDTHS = (4, 16, 64, 256, 1024)
SCORES = {"unscaled": dot_scores, "scaled": scaled_dot_scores}
NUM_KEYS, INPUTS, BATCH = 8, 16, 64


def weight_on_right_key(name: str, width: int, seed: int, steps: int = 20, loss_on: str = "output") -> float:
    """The mean weight on the right of eight keys in the last of `steps` steps of Adam; chance is 1/8.

    The query is a copy of one of the eight inputs, its features shifted by one place; values are random. The loss is
    the squared error of the layer's output, or with loss_on="weights" the cross-entropy of the weights themselves.
    """
    generator = torch.Generator().manual_seed(seed)
    w_q, w_k = (
        (torch.randn(INPUTS, width, generator=generator) / math.sqrt(INPUTS)).requires_grad_() for _ in range(2)
    )
    optimizer = torch.optim.Adam([w_q, w_k], lr=0.01)
    rows = torch.arange(BATCH)
    for _ in range(steps):
        x = torch.randn(BATCH, NUM_KEYS, INPUTS, generator=generator)
        value = torch.randn(BATCH, NUM_KEYS, 8, generator=generator)
        target = torch.randint(NUM_KEYS, (BATCH,), generator=generator)
        query = x[rows, target].roll(1, dims=-1)[:, None]  # (BATCH, 1, INPUTS)
        scores = SCORES[name](query @ w_q, x @ w_k)[:, 0]  # (BATCH, NUM_KEYS)
        weights = scores.softmax(dim=-1)
        output = (weights[:, None] @ value)[:, 0]
        loss = F.cross_entropy(scores, target) if loss_on == "weights" else F.mse_loss(output, value[rows, target])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return weights[rows, target].mean().item()


def gradient_at_query(
    score: Any, width: int, n: int = 1000, num_keys: int = 16, seed: int = 0
) -> tuple[torch.Tensor, torch.Tensor]:
    """(n,) lengths of the gradient at n queries, and (n,) largest weights, for independent entries of variance 1.

    Each query has its own keys and values; a random gradient of about length 1 comes in at the output.
    """
    generator = torch.Generator().manual_seed(seed)
    query = torch.randn(n, 1, width, generator=generator, requires_grad=True)
    key = torch.randn(n, num_keys, width, generator=generator)
    value = torch.randn(n, num_keys, 16, generator=generator)
    weights = score(query, key).softmax(dim=-1)  # (n, 1, num_keys)
    (weights @ value).backward(torch.randn(n, 1, 16, generator=generator) / 4)
    return query.grad.norm(dim=-1).flatten(), weights.amax(dim=-1).flatten().detach()


def _training(seeds: range) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for loss_on, steps in (("output", 20), ("output", 100), ("weights", 20)):
        for name in SCORES:
            for width in WIDTHS:
                got = [round(weight_on_right_key(name, width, seed, steps, loss_on), 4) for seed in seeds]
                found.setdefault(f"{loss_on}, {steps} steps", {}).setdefault(name, {})[str(width)] = got
    return found


def _gradient(seeds: range) -> dict[str, Any]:
    """For each seed 1000 queries: median, mean and share below 0.001 of the gradient, mean largest weight."""
    found: dict[str, Any] = {}
    for name, score in SCORES.items():
        for width in WIDTHS:
            rows = []
            for seed in seeds:
                lengths, largest = gradient_at_query(score, width, seed=seed)
                numbers = lengths.median(), lengths.mean(), (lengths < 1e-3).float().mean(), largest.mean()
                rows.append([round(number.item(), 5) for number in numbers])
            found.setdefault(name, {})[str(width)] = rows
    return found


PARTS = {"training": Part(_training, seeds=10), "gradient": Part(_gradient, seeds=5)}

if __name__ == "__main__":
    RECORD.run(PARTS, sys.argv[1:])
