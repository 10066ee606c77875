"""Times variants in turn, so that whatever else the machine does meets them all."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

FLUSHES = 8  # of the L2 cache: half a millisecond on an H200, in which Python launches the call that is timed


@dataclass(frozen=True)
class Timing:
    """The seconds of each round of one variant."""

    seconds: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    @property
    def quartiles(self) -> tuple[float, float]:
        low, _, high = statistics.quantiles(self.seconds, n=4, method="inclusive")
        return low, high


def time_in_turn(variants: Mapping[str, Callable[[], object]], rounds: int, warm_up: int = 3) -> dict[str, Timing]:
    """Run all variants once per round, every other round in reverse order; the first `warm_up` rounds do not count."""
    found: dict[str, list[float]] = {name: [] for name in variants}
    for number in range(warm_up + rounds):
        for name in list(variants)[:: -1 if number % 2 else 1]:
            start = time.perf_counter()
            variants[name]()
            elapsed = time.perf_counter() - start
            if number >= warm_up:
                found[name].append(elapsed)
    return {name: Timing(tuple(seconds)) for name, seconds in found.items()}


def ratio(one: Timing, other: Timing) -> float:
    """How many times as long `one` takes as `other`: the median of the rounds' own ratios."""
    return statistics.median(a / b for a, b in zip(one.seconds, other.seconds, strict=True))


def cuda_seconds(function: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds that the GPU takes for a call, with a cold L2 cache, and what the call returns."""
    import torch

    larger_than_any_l2 = torch.empty(256 << 20, dtype=torch.int8, device="cuda")
    for _ in range(FLUSHES):
        larger_than_any_l2.zero_()
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    answer = function()
    end.record()
    end.synchronize()
    return start.elapsed_time(end) / 1000, answer
