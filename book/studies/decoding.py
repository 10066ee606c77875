"""The time of writing with a cache and without one: operations counted, seconds predicted from them, and measured."""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median

import torch
from torch import Tensor

from attention.decoder import LanguageModel, generate

__all__ = ["LENGTHS", "cached", "make_model", "operations", "run"]

LENGTHS = (32, 64, 128, 256)
SYMBOLS, WIDTH, LAYERS = 98, 128, 4


def make_model(seed: int = 0) -> LanguageModel:
    """Random weights: what is written does not matter for the time, as long as both ways write the same."""
    torch.manual_seed(seed)
    return LanguageModel(SYMBOLS, WIDTH, 4, 4 * WIDTH, LAYERS, max_length=max(LENGTHS) + 1, dropout=0.0).eval()


def cached(model: LanguageModel) -> Callable[[Tensor], Tensor]:
    """The model with a memory of its own: it reads only the tokens that it has not read yet."""
    caches = model.new_caches()

    def newest(ids: Tensor) -> Tensor:
        return model(ids[:, caches[0].length :], caches)

    return newest


def operations(length: int, d: int = WIDTH, layers: int = LAYERS, symbols: int = SYMBOLS) -> tuple[int, int]:
    """FLOPs of the matrix products that write `length` tokens after a prompt of one: without and with a cache.

    A token costs 24 d² per layer (four projections, and a feed-forward layer four times as wide) and 2 d per symbol.
    A query that meets t keys costs 4 t d per layer.
    """
    token = 24 * d * d * layers + 2 * d * symbols
    without = sum(t * token + 4 * t * t * d * layers for t in range(1, length + 1))
    with_cache = sum(token + 4 * t * d * layers for t in range(1, length + 1))
    return without, with_cache


def _seconds(call: Callable[[], object], rounds: int) -> float:
    spent = []
    for _ in range(rounds + 1):  # the first only warms up
        started = time.process_time()
        call()
        spent.append(time.process_time() - started)
    return median(spent[1:])


@torch.no_grad()
def run(rounds: int = 5) -> dict:
    """Check that both ways write the same tokens, then time them; predictions come from two separate measurements.

    Each pass through the model is predicted as overhead + FLOPs / rate. The overhead is what one token takes, the
    rate follows from what a full sequence takes beyond it.
    """
    model, prompt = make_model(), torch.zeros(1, 1, dtype=torch.long)
    longest = max(LENGTHS)
    at_once, step_by_step = generate(model, prompt, longest), generate(cached(model), prompt, longest)
    if not torch.equal(at_once, step_by_step):
        raise RuntimeError("with the cache other tokens are written than without; nothing was timed")
    overhead = _seconds(lambda: [model(prompt) for _ in range(20)], rounds) / 20
    one_pass = _seconds(lambda: model(at_once[:, :longest]), 2 * rounds)
    pass_flops = operations(longest)[0] - operations(longest - 1)[0]
    rate = pass_flops / (one_pass - overhead)
    rows = []
    for length in LENGTHS:
        flops = operations(length)
        ways = (lambda: model, lambda: cached(model))
        seconds = [_seconds(lambda n=length, w=way: generate(w(), prompt, n), rounds) for way in ways]
        predicted = [length * overhead + work / rate for work in flops]
        rows.append(
            {
                "length": length,
                "megaflops": [round(work / 1e6, 1) for work in flops],
                "predicted": [round(length / each, 1) for each in predicted],  # tokens per second
                "measured": [round(length / each, 1) for each in seconds],
            }
        )
    return {"overhead": overhead, "gflop_per_s": rate / 1e9, "rows": rows}
