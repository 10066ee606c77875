"""Runs chapter 9's experiments with several seeds: `python -m studies.sequence_to_sequence [PART …]`.

In the folder `book`, with `solutions` on Python's path; some three minutes on one thread. The results go to
`studies/results/sequence_to_sequence.json`, each part with the machine, the date and the versions.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from statistics import median
from typing import Any

import torch

import translation
from studies import recurrent
from studies.recording import Part, Record

__all__ = ["ALONE", "LENGTHS", "PARTS", "RECORD", "SCORES", "curve_alone", "dates", "step_times"]

RECORD = Record("sequence_to_sequence.json")
LENGTHS = (2, 4, 6, 8, 10, 12)
SCORES = ("additive", "bilinear", "dot", "scaled")
#: With and without a recurrent network, as many parameters.
ALONE: dict[str, Callable[[], torch.nn.Module]] = {
    "RNN + attention": lambda: recurrent.Translator("additive"),
    "attention alone": recurrent.AttentionAlone,
}


def _bottleneck(seeds: range) -> dict[str, Any]:
    """Right digits by length, written greedily: {"one vector": a row per seed, "attention": …}."""
    tests = [translation.swaps(200, n, recurrent.generator(99)) for n in LENGTHS]
    makers = {"one vector": lambda: recurrent.OneVector(64), "attention": lambda: recurrent.Translator("bilinear")}
    found: dict[str, Any] = {"lengths": LENGTHS, "parameters": {}}
    for name, make in makers.items():
        found[name] = []
        for seed in seeds:
            torch.manual_seed(seed)
            model, rng = make(), recurrent.generator(seed)
            recurrent.train(model, lambda rng=rng: recurrent.any_length(rng), steps=400)
            shares = [(recurrent.greedy(model, batch) == batch.target).float().mean().item() for batch in tests]
            found[name].append([round(share, 3) for share in shares])
            found["parameters"][name] = sum(p.numel() for p in model.parameters())
    return found


def dates(
    score: str, seed: int, data: translation.Batch, unseen: translation.Batch
) -> tuple[recurrent.Translator, dict]:
    """A translator of dates after 200 steps, and what it does on unseen ones."""
    torch.manual_seed(seed)
    model = recurrent.Translator(score)
    recurrent.train(model, recurrent.date_batches(data, seed), 200)
    weights = recurrent.alignment(model, unseen)
    return model, {
        "right": round(recurrent.whole_dates(model, unseen), 3),
        "on": round(recurrent.share_on(unseen.right, weights), 3),
        "beside": round(recurrent.share_beside(unseen.right, weights), 3),
    }


def _dates(seeds: range) -> dict[str, Any]:
    data, unseen = translation.dates(8192, seed=0), translation.dates(500, seed=1, sundays=True)
    return {score: [dates(score, seed, data, unseen)[1] for seed in seeds] for score in SCORES}


def curve_alone(name: str, seed: int, data: translation.Batch, unseen: translation.Batch) -> list[float]:
    """The share of unseen dates that are right in all symbols, after 50, 100, 150 and 200 steps."""
    torch.manual_seed(seed)
    batches = recurrent.date_batches(data, seed)
    _, seen = recurrent.train(ALONE[name](), batches, 200, watch=lambda model: recurrent.whole_dates(model, unseen))
    return [round(share, 3) for share in seen]


def step_times(data: translation.Batch, turns: int) -> dict[str, float]:
    """Milliseconds of CPU for a training step, the median of some turns, in which both are timed, after one more."""
    spent: dict[str, list[float]] = {name: [] for name in ALONE}
    for turn in range(turns + 1):
        for name, make in ALONE.items():
            spent[name].append(1000 * recurrent.train(make(), recurrent.date_batches(data, turn), 4)[0] / 4)
    return {name: median(times[1:]) for name, times in spent.items()}


def _alone(seeds: range) -> dict[str, Any]:
    data, unseen = translation.dates(8192, seed=0), translation.dates(500, seed=1, sundays=True)
    curves = {name: [curve_alone(name, seed, data, unseen) for seed in seeds] for name in ALONE}
    return {"curves": curves, "milliseconds": step_times(data, 15)}


PARTS = {"alone": Part(_alone, seeds=3), "bottleneck": Part(_bottleneck, seeds=5), "dates": Part(_dates, seeds=5)}

if __name__ == "__main__":
    RECORD.run(PARTS, sys.argv[1:])
