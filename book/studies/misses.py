"""Explains where a roofline's prediction fails: what it left out is counted, added and compared with the clock."""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from attention.masks import causal_mask
from benchmarks.variants import online_softmax
from studies.counting import generator
from studies.efficient import checked_seconds, cpu_seconds, masked_naive, new_memory, rates

__all__ = ["FORMS", "HEADS", "LENGTH", "SQUARE", "WHOLE", "Work", "run", "work_rates"]

HEADS, LENGTH, WIDTH, TILE = 2, 4096, 64, 256


class Work(NamedTuple):
    """What a form does with the entries of the (L, L) matrix beside its products.

    products, exponentials: the rates that hold for them; reads, writes: of the operations between the two products
    share: of the products and exponentials that are computed at all
    """

    products: str
    exponentials: str
    reads: int
    writes: int
    share: float = 1.0


WHOLE, IN_TILES, SQUARE = "products of whole rows, FLOP/s", "products of tiles, FLOP/s", "matrix product, FLOP/s"
FORMS = {
    # scale, mask and softmax read and write a matrix each
    "naive": Work(WHOLE, "exp inside softmax, 1/s", 3, 3),
    "loop over heads": Work(WHOLE, "exp inside softmax, 1/s", 3, 3),
    # in each tile: mask, subtract and exp read and write; largest and sum read
    "one pass, autograd": Work(IN_TILES, "exp of causal scores, 1/s", 5, 3),
    # one operation, but two loops over the matrix: exp of the scaled, masked scores less their largest; the division
    "compile(naive)": Work(WHOLE, "exp inside softmax, 1/s", 2, 2),
    "SDPA": Work(SQUARE, "exp2, 1/s", 0, 0, share=0.5),
}


def run(rounds: int = 6) -> dict[str, Any]:
    """Causal attention, (1, 2, 4096, 64): predicted as by the benchmark, with what that leaves out, and measured."""
    found = rates() | work_rates()
    q, k, v = torch.randn(3, 1, HEADS, LENGTH, WIDTH, generator=generator(21))
    seen = causal_mask(LENGTH)
    runs: dict[str, Callable[[], Tensor]] = {
        "naive": lambda: masked_naive(q, k, v, seen),
        "loop over heads": lambda: torch.stack(
            [masked_naive(q[:, h], k[:, h], v[:, h], seen) for h in range(HEADS)], 1
        ),
        "one pass, autograd": lambda: online_softmax(q, k, v, True, TILE),
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
        rows[name] = {
            "benchmark": benchmark_prediction(name, found),
            "counted": counted_prediction(FORMS[name], pages[name], found),
            "measured": seconds,
            "new_memory": pages[name],
        }
    return {"rates": found, "rows": rows}


def work_rates(rounds: int = 6) -> dict[str, float]:
    """What one thread does per second in operations of these sizes, all on memory that has been used before."""
    q, k, v = torch.randn(3, HEADS, LENGTH, WIDTH, generator=generator(22))
    matrix, output = torch.rand(HEADS, LENGTH, LENGTH, generator=generator(23)), torch.empty_like(q)
    tile, some = torch.rand(HEADS, LENGTH, TILE, generator=generator(24)), slice(0, TILE)
    half_hidden = torch.where(torch.arange(LENGTH) < LENGTH // 2, -math.inf, 0.0)[:, None] - 4 * tile
    powers = torch.empty_like(tile)
    took = cpu_seconds(
        {
            "whole": lambda: (torch.bmm(q, k.mT, out=matrix), torch.bmm(matrix, v, out=output)),
            "tile": lambda: (torch.bmm(q, k[:, some].mT, out=tile), torch.bmm(tile, v[:, some], out=output)),
            "exp": lambda: torch.exp(half_hidden, out=powers),
        },
        rounds,
    )
    flops = 4 * HEADS * LENGTH * WIDTH
    return {
        WHOLE: flops * LENGTH / took["whole"],
        IN_TILES: flops * TILE / took["tile"],
        "exp of causal scores, 1/s": tile.numel() / took["exp"],
    }


def benchmark_prediction(name: str, rates: Mapping[str, float]) -> float:
    """Seconds as `benchmarks.cost` has it: the naive form's matrices at the rate of a warm copy, all else fused."""
    matrix, product = 4 * HEADS * LENGTH**2, 2 * HEADS * LENGTH**2 * WIDTH / rates[SQUARE]
    powers, rate = HEADS * LENGTH**2 / rates["exp2, 1/s"], rates["memory used before, byte/s"]
    if name not in ("naive", "loop over heads"):
        return (2 * product + powers) / 2
    passes = max(product, matrix / rate), 2 * matrix / rate, 2 * matrix / rate
    return sum(passes) + max(powers, 2 * matrix / rate) + max(product, matrix / rate)


def counted_prediction(work: Work, fresh: float, rates: Mapping[str, float]) -> float:
    """Seconds of the work really done: products of their sizes, exponentials, passes over the entries, new pages.

    fresh: MiB of new pages that a run was given
    """
    entries = HEADS * LENGTH**2
    computed = work.share * (4 * entries * WIDTH / rates[work.products] + entries / rates[work.exponentials])
    moved = 4 * entries * (work.reads + work.writes) / rates["memory used before, byte/s"]
    per_byte = 2 / rates["new memory, byte/s"] - 2 / rates["memory used before, byte/s"]  # of a page's first touch
    return computed + moved + max(per_byte, 0.0) * fresh * 2**20


def ratio(row: Mapping[str, float], predicted: str) -> float:
    """Measured as a multiple of a prediction."""
    return row["measured"] / row[predicted] if row[predicted] else math.inf
