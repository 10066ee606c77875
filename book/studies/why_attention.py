"""Chapter 1's experiments: recall from a summary or by a lookup, and what layers take on the clock.

`python -m studies.why_attention [PART …]` in the folder `book`, with `solutions` on Python's path, runs them as the
chapter reports them (some six minutes) and writes `studies/results/why_attention.json`; one more part of that file is
of `studies.hidden_words`.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from statistics import mean, median
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attention.scores import scaled_dot_scores
from studies.recording import Part, Record

__all__ = ["CASES", "COUNTS", "LENGTHS", "PARTS", "RECORD", "WIDTH", "Recall", "clock", "name_of", "pairs", "recall"]

RECORD = Record("why_attention.json")
KEYS, VALUES, MOST = 16, 8, 12  # kinds of keys and of values, pairs in training
COUNTS = (1, 2, 4, 6, 8, 12, 16)  # pairs in the test; 16 is more than any model was trained on
STEPS, BATCH, RATES, TRIAL_SEED = 600, 128, (1e-2, 3e-2, 1e-1), 100
#: Kind of summary, its width, and how many times STEPS it is trained.
CASES = (("mean", 16, 1), ("mean", 64, 1), ("GRU", 16, 1), ("GRU", 64, 1), ("GRU", 64, 4), ("attention", 16, 1))
LENGTHS, WIDTH, ROUNDS = (16, 64, 256, 1024), 64, 25


def name_of(case: tuple[str, int, int]) -> str:
    kind, width, times = case
    return f"{kind}, d = {width}" + (f", {times}× training" if times > 1 else "")


# Recall: read pairs of a key and a value, then say the value of one key


def pairs(generator: torch.Generator, size: int = BATCH, n: int | None = None) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Keys, distinct in a row, and values, both (size, n); the key that is asked for and its value, both (size,)."""
    n = n or int(torch.randint(1, MOST + 1, (1,), generator=generator))
    keys = torch.rand(size, KEYS, generator=generator).argsort(1)[:, :n]
    values = torch.randint(VALUES, (size, n), generator=generator)
    asked = torch.randint(n, (size, 1), generator=generator)
    return keys, values, keys.gather(1, asked)[:, 0], values.gather(1, asked)[:, 0]


class Recall(nn.Module):
    """Reads key-value pairs as "mean", "GRU" or "attention", then answers a question about one of them."""

    def __init__(self, kind: str, d: int) -> None:
        super().__init__()
        self.kind = kind
        self.question = nn.Embedding(KEYS, d)
        self.pair = nn.Embedding(KEYS * VALUES, d)  # a free vector for every pair
        self.key, self.value = nn.Embedding(KEYS, d), nn.Embedding(VALUES, d)
        self.gru = nn.GRU(d, d, batch_first=True)
        self.read = nn.Sequential(nn.Linear(2 * d, 64), nn.ReLU(), nn.Linear(64, VALUES))

    def summary(self, keys: Tensor, values: Tensor, question: Tensor) -> Tensor:
        if self.kind == "attention":
            weights = scaled_dot_scores(question[:, None], self.key(keys)).softmax(-1)  # (B, 1, n)
            return (weights @ self.value(values))[:, 0]  # (B, d)
        pair = self.pair(keys * VALUES + values)  # (B, n, d)
        return pair.mean(1) if self.kind == "mean" else self.gru(pair)[1][0]  # (B, d)

    def forward(self, keys: Tensor, values: Tensor, asked: Tensor) -> Tensor:
        question = self.question(asked)  # (B, d)
        return self.read(torch.cat([self.summary(keys, values, question), question], dim=-1))


def recall(case: tuple[str, int, int], seed: int, rate: float) -> list[float]:
    """Train one model with Adam on a one-cycle schedule; its share of right answers at each of COUNTS."""
    kind, width, times = case
    torch.manual_seed(seed)
    net, generator = Recall(kind, width), torch.Generator().manual_seed(seed)
    optimizer = torch.optim.Adam(net.parameters(), lr=rate)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, rate, total_steps=times * STEPS)
    for _ in range(times * STEPS):
        *shown, answer = pairs(generator)
        optimizer.zero_grad()
        F.cross_entropy(net(*shown), answer).backward()
        optimizer.step()
        schedule.step()
    return [round(_right(net, n), 3) for n in COUNTS]


@torch.no_grad()
def _right(net: nn.Module, n: int, size: int = 2000) -> float:
    *shown, answer = pairs(torch.Generator().manual_seed(10_000 + n), size, n)
    return (net(*shown).argmax(-1) == answer).float().mean().item()


def floor(size: int = 2000) -> list[float]:
    """Right answers of a reader who knows which values there are but not whose: it says the commonest."""
    found = []
    for n in COUNTS:
        _, values, *_ = pairs(torch.Generator().manual_seed(10_000 + n), size, n)
        found.append(round((F.one_hot(values, VALUES).sum(1).amax(-1) / n).mean().item(), 3))
    return found


def _recall_study(seeds: Sequence[int]) -> dict[str, Any]:
    found: dict[str, Any] = {"counts": list(COUNTS), "floor": floor(), "cases": {}}
    for case in CASES:
        tried = {rate: mean(recall((*case[:2], 1), TRIAL_SEED, rate)) for rate in RATES}
        rate = max(tried, key=lambda one: tried[one])
        right = [recall(case, seed, rate) for seed in seeds]
        found["cases"][name_of(case)] = {"rate": rate, "right": right}
        print(name_of(case), rate, [round(mean(column), 3) for column in zip(*right, strict=True)], flush=True)
    return found


# The clock


def clock(rounds: int = ROUNDS) -> dict[str, list[float]]:
    """Milliseconds of CPU per layer at each of LENGTHS: forward, d = 64, medians of `rounds`; layers take turns."""
    d = WIDTH
    gru, convolution = nn.GRU(d, d, batch_first=True), nn.Conv1d(d, d, 3, padding=1)
    matrices = [torch.randn(d, d) / d**0.5 for _ in range(4)]

    def attention(x: Tensor) -> Tensor:
        q, k, v = (x @ matrix for matrix in matrices[:3])
        return scaled_dot_scores(q, k).softmax(-1) @ v @ matrices[3]

    layers: dict[str, Callable[[Tensor], Any]] = {
        "attention": attention,
        "GRU": lambda x: gru(x[None]),
        "convolution": lambda x: convolution(x.T[None]),
    }
    taken: dict[str, list[float]] = {name: [] for name in layers}
    with torch.no_grad():
        for n in LENGTHS:
            x = torch.randn(n, d)
            times: dict[str, list[float]] = {name: [] for name in layers}
            for turn in range(rounds + 2):  # two turns to warm up
                for name, layer in layers.items():
                    started = time.process_time()
                    layer(x)
                    if turn >= 2:
                        times[name].append(1e3 * (time.process_time() - started))
            for name in layers:
                taken[name].append(round(median(times[name]), 4))
    return taken


def _clock_study(seeds: Sequence[int]) -> dict[str, Any]:
    return {"rounds": ROUNDS, "lengths": list(LENGTHS), "width": WIDTH, "milliseconds": clock()}


def _kept_clock_study(seeds: Sequence[int]) -> dict[str, Any]:
    """The same in a process that keeps the memory it frees."""
    from studies.kept_memory import in_a_process

    found = in_a_process("why_attention", "clock", kept=True)
    return {"rounds": ROUNDS, "lengths": list(LENGTHS), "width": WIDTH, "milliseconds": found}


PARTS = {
    "recall": Part(_recall_study, seeds=5),
    "clock": Part(_clock_study, seeds=1),
    "clock, kept memory": Part(_kept_clock_study, seeds=1),
}

if __name__ == "__main__":
    RECORD.run(PARTS, sys.argv[1:])
