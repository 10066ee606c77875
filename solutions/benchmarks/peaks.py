"""The most that a machine can do per second: stated by its maker where known, measured otherwise."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import torch

# name: dense 16-bit FLOP/s, bytes/s, from the makers' data sheets; the first name that is part of the device's counts
STATED = {
    "H200": (989e12, 4.8e12),
    "H100": (989e12, 3.35e12),
    "A100": (312e12, 2.0e12),
    "L4": (121e12, 0.30e12),
    "T4": (65e12, 0.32e12),
}
LONG = 0.5  # seconds of a matrix product after which no larger one is tried
EXPONENTIALS_PER_CLOCK = 16  # of one multiprocessor's special function units


def peaks(device: str, quick: bool = False, threads: int = 0) -> dict[str, Any]:
    """FLOP/s by dtype, bytes/s and exponentials/s, with the source of each: stated, measured or computed.

    A GPU's measured rates stand under "measured" too: what is stated no product reaches.
    """
    if device == "cuda":
        return _of_gpu(quick)
    torch.set_num_threads(threads or torch.get_num_threads())
    rates = {name: _matmul(name, device, (512,) if quick else (1024, 2048, 4096)) for name in ("float32", "bfloat16")}
    found = {"flop_per_s": rates, "bytes_per_s": _copy(device, quick), "exponentials_per_s": _exponentials(device)}
    return found | {"source": dict.fromkeys(found, "measured")}


def _of_gpu(quick: bool) -> dict[str, Any]:
    name = torch.cuda.get_device_name()
    stated = next((value for key, value in STATED.items() if key in name), None)
    half = "bfloat16" if torch.cuda.get_device_capability() >= (8, 0) else "float16"
    rate, moved = _matmul(half, "cuda", (2048,) if quick else (4096, 8192)), _copy("cuda", quick)
    measured = {"flop_per_s": {half: rate}, "bytes_per_s": moved}
    found = {"flop_per_s": {half: stated[0]}, "bytes_per_s": stated[1]} if stated else measured
    source = dict.fromkeys(found, "stated" if stated else "measured") | {"exponentials_per_s": "computed"}
    return found | {"exponentials_per_s": _exponentials("cuda"), "source": source, "measured": measured}


def _fastest(function: Callable[[], object], device: str, rounds: int = 5) -> float:
    best = float("inf")
    for number in range(rounds + 1):
        if device == "cuda":
            torch.cuda.synchronize()
        start = time.perf_counter()
        function()
        if device == "cuda":
            torch.cuda.synchronize()
        best = min(best, time.perf_counter() - start) if number else best
    return best


def _matmul(dtype: str, device: str, sizes: tuple[int, ...]) -> float:
    """The highest rate of square matrix products of these sizes, which grow; of those that take long, the first.

    A CPU without instructions for 16-bit numbers multiplies them a hundred times as slowly as others.
    """
    found = []
    for size in sizes:
        a, b = torch.randn(2, size, size, device=device).to(getattr(torch, dtype)).unbind()
        seconds = _fastest(lambda a=a, b=b: a @ b, device)
        found.append(2 * size**3 / seconds)
        if seconds > LONG:
            break
    return max(found)


def _copy(device: str, quick: bool) -> float:
    """Bytes read and written per second by a copy that no cache holds."""
    source = torch.zeros(16 << 20 if quick else _copied(device), dtype=torch.int8, device=device)
    target = torch.empty_like(source)
    return 2 * source.numel() / _fastest(lambda: target.copy_(source), device)


def _copied(device: str) -> int:
    """Bytes to copy: more than caches hold; on a GPU so many that the call itself takes no share of the time.

    Source and target together take at most half of the memory that is free on the GPU.
    """
    return 256 << 20 if device == "cpu" else min(4096 << 20, torch.cuda.mem_get_info()[0] // 4)


def _exponentials(device: str) -> float:
    """exp per second of numbers that lie in a cache; on a GPU what its special function units can do."""
    if device == "cuda":
        found = torch.cuda.get_device_properties(0)
        clock = getattr(found, "clock_rate", 0) * 1e3  # kHz
        return EXPONENTIALS_PER_CLOCK * found.multi_processor_count * clock
    numbers = torch.randn(1 << 18)
    answer = torch.empty_like(numbers)
    return numbers.numel() / _fastest(lambda: torch.exp(numbers, out=answer), device, rounds=50)
