"""Trains one layer of attention to predict random tokens, so that whatever it gets right is a leak of the future.

`python -m studies.masks` in the folder `book`, with `solutions` on Python's path, runs five seeds of each mask in
about a minute and writes `studies/results/masks.json`.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from studies.recording import Part, Record

__all__ = ["MASKS", "RECORD", "STEPS", "SYMBOLS", "guesses"]

RECORD = Record("masks.json")
SYMBOLS, LENGTH, WIDTH, HIDDEN, BATCH = 8, 8, 32, 64, 64
STEPS, EVERY = 1500, 50


def _before(scores: Tensor, see: Tensor) -> Tensor:
    return scores.masked_fill(~see, -torch.inf).softmax(dim=-1)


def _after(scores: Tensor, see: Tensor) -> Tensor:
    return scores.softmax(dim=-1) * see


def _renormalised(scores: Tensor, see: Tensor) -> Tensor:
    kept = _after(scores, see)
    return kept / kept.sum(dim=-1, keepdim=True)


def _none(scores: Tensor, see: Tensor) -> Tensor:
    return scores.softmax(dim=-1)


#: What makes weights (B, L, L) of scores and a causal mask.
MASKS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "−∞ before the softmax": _before,
    "erased, renormalised": _renormalised,
    "erased after the softmax": _after,
    "no mask": _none,
}


def guesses(name: str, seed: int, steps: int = STEPS) -> list[list[float]]:
    """Train with one of `MASKS`; [step, share of next tokens guessed right] at every 50th step.

    The tokens are drawn evenly and independently of `SYMBOLS`, new ones for each step: an honest model gets one in
    `SYMBOLS` right. Attention, one hidden layer, no norm; Adam, rate 0.003.
    """
    generator = torch.Generator().manual_seed(seed)

    def drawn(*shape: int, scale: float = 1.0) -> Tensor:
        return (torch.randn(*shape, generator=generator) * scale).requires_grad_()

    tokens, positions = drawn(SYMBOLS, WIDTH), drawn(LENGTH, WIDTH)
    w_q, w_k, w_v, w_o = (drawn(WIDTH, WIDTH, scale=WIDTH**-0.5) for _ in range(4))
    w_1, b_1 = drawn(WIDTH, HIDDEN, scale=WIDTH**-0.5), torch.zeros(HIDDEN, requires_grad=True)
    w_2 = drawn(HIDDEN, SYMBOLS, scale=HIDDEN**-0.5)
    optimizer = torch.optim.Adam([tokens, positions, w_q, w_k, w_v, w_o, w_1, b_1, w_2], lr=3e-3)
    see = torch.ones(LENGTH, LENGTH, dtype=torch.bool).tril()
    curve, right = [], []
    for step in range(1, steps + 1):
        ids = torch.randint(SYMBOLS, (BATCH, LENGTH), generator=generator)
        x = tokens[ids] + positions  # (B, L, d)
        scores = (x @ w_q) @ (x @ w_k).mT / math.sqrt(WIDTH)  # (B, L, L)
        hidden = x + MASKS[name](scores, see) @ (x @ w_v) @ w_o
        logits = (hidden @ w_1 + b_1).relu() @ w_2  # (B, L, SYMBOLS)
        predicted, wanted = logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten()
        right.append(predicted.argmax(dim=-1).eq(wanted).float().mean().item())
        loss = F.cross_entropy(predicted, wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % EVERY == 0:
            curve.append([step, round(sum(right[-EVERY:]) / EVERY, 4)])
    return curve


def _leak(seeds: range) -> dict[str, Any]:
    return {name: [guesses(name, seed) for seed in seeds] for name in MASKS}


PARTS = {"leak": Part(_leak, seeds=5)}

if __name__ == "__main__":
    RECORD.run(PARTS, sys.argv[1:])
