"""Explains where a roofline's prediction fails: what it left out is counted, added and compared with the clock."""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from attention.masks import causal_mask
from benchmarks.variants import online_softmax
from studies.counting import generator
from studies.efficient import checked_seconds, masked_naive, new_memory, rates

__all__ = ["HEADS", "LENGTH", "PASSES", "run"]

HEADS, LENGTH, WIDTH = 2, 4096, 64
#: Of each entry of the (L, L) matrix: FLOP factor of 4·d, reads, writes, and whether the writes go to new pages.
PASSES = {
    # product W; scale R W; mask R W; softmax R W; product R
    "naive": (1.0, 4, 4),
    # in each tile: product W; mask R W; largest R; subtract R W; exp R W; sum R; product R
    "one pass, autograd": (1.0, 6, 4),
    # product W; scale, mask and softmax in one R W; product R
    "compile(naive)": (1.0, 2, 2),
    "SDPA": (0.5, 0, 0),
}


def run(rounds: int = 6) -> dict[str, Any]:
    """Causal attention, (1, 2, 4096, 64): predicted as by the benchmark, with what that leaves out, and measured."""
    found = rates()
    q, k, v = torch.randn(3, 1, HEADS, LENGTH, WIDTH, generator=generator(21))
    seen = causal_mask(LENGTH)
    runs: dict[str, Callable[[], Tensor]] = {
        "naive": lambda: masked_naive(q, k, v, seen),
        "one pass, autograd": lambda: online_softmax(q, k, v, True),
        "SDPA": lambda: F.scaled_dot_product_attention(q, k, v, is_causal=True),
    }
    with torch.no_grad():
        if shutil.which("g++") or shutil.which("clang++"):
            compiled = torch.compile(masked_naive)
            runs["compile(naive)"] = lambda: compiled(q, k, v, seen)
        exact, baseline = masked_naive(q.double(), k.double(), v.double(), seen), masked_naive(q, k, v, seen)
        measured = checked_seconds(runs, exact, baseline, rounds)
        pages = {name: new_memory(one) for name, one in runs.items()}
    rows = {}
    for name, seconds in measured.items():
        share, reads, writes = PASSES[name]
        rows[name] = {
            "benchmark": benchmark_prediction(name, found),
            "counted": counted_prediction(share, reads, writes, pages[name], found),
            "measured": seconds,
            "new_memory": pages[name],
        }
    return {"rates": found, "rows": rows}


def benchmark_prediction(name: str, rates: dict[str, float]) -> float:
    """Seconds as `benchmarks.cost` has it: the naive form's matrices at the rate of a warm copy, all else fused."""
    matrix, product = 4 * HEADS * LENGTH**2, 2 * HEADS * LENGTH**2 * WIDTH / rates["matrix product, FLOP/s"]
    powers, rate = HEADS * LENGTH**2 / rates["exp2, 1/s"], rates["memory used before, byte/s"]
    if name != "naive":
        return (2 * product + powers) / 2
    passes = max(product, matrix / rate), 2 * matrix / rate, 2 * matrix / rate
    return sum(passes) + max(powers, 2 * matrix / rate) + max(product, matrix / rate)


def counted_prediction(share: float, reads: int, writes: int, fresh: float, rates: dict[str, float]) -> float:
    """Seconds of the work really done: all products, every pass over the entries, first touches of new pages.

    share: of the products and exponentials that are computed; fresh: MiB of new pages that a run was given
    """
    entries = HEADS * LENGTH**2
    work = share * (4 * entries * WIDTH / rates["matrix product, FLOP/s"] + entries / rates["exp2, 1/s"])
    moved = 4 * entries * (reads + writes) / rates["memory used before, byte/s"]
    per_byte = 2 / rates["new memory, byte/s"] - 2 / rates["memory used before, byte/s"]  # of a page's first touch
    return work + moved + max(per_byte, 0.0) * fresh * 2**20


def ratio(row: dict[str, float], predicted: str) -> float:
    """Measured as a multiple of a prediction."""
    return row["measured"] / row[predicted] if row[predicted] else math.inf
