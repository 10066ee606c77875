"""Counts what attention computes and moves: FLOPs of its products, numbers read and written, bytes of a cache."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

__all__ = [
    "MatrixWork",
    "SlowMemory",
    "by_tiles",
    "cache_bytes",
    "generator",
    "weight_bytes",
    "work",
    "written_out",
]


def generator(seed: int) -> torch.Generator:
    """Random numbers of this call's own, the same in every run."""
    return torch.Generator().manual_seed(seed)


class MatrixWork(TorchDispatchMode):
    """Counts the FLOPs of all matrix products that run inside it, and remembers every operation's name."""

    def __init__(self) -> None:
        super().__init__()
        self.flops, self.names = 0, []

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        name = func.overloadpacket.__name__
        self.names.append(name)
        factors = {"mm": args[:2], "bmm": args[:2]}.get(name)
        if name.rstrip("_") in ("addmm", "baddbmm"):
            factors = args[1:3]
        if factors:
            self.flops += 2 * factors[0].numel() * factors[1].shape[-1]
        return func(*args, **(kwargs or {}))


def work(attention: Callable[..., Tensor], length: int, d: int = 64) -> list[float]:
    """FLOPs of the forward and of the backward pass, in units of L² d."""
    inputs = [x.requires_grad_() for x in torch.randn(3, 1, length, d, generator=generator(2))]
    with MatrixWork() as forward:
        output = attention(*inputs)
    with MatrixWork() as backward:
        output.sum().backward()
    return [counted.flops / (length**2 * d) for counted in (forward, backward)]


class SlowMemory:
    """Tensors that lie outside the chip; every number that is read or written is counted."""

    def __init__(self, **tensors: Tensor) -> None:
        self.tensors, self.moved = tensors, 0

    def load(self, name: str, rows: slice = slice(None)) -> Tensor:
        self.moved += self.tensors[name][rows].numel()
        return self.tensors[name][rows]

    def store(self, name: str, part: Tensor, rows: slice = slice(None)) -> None:
        self.moved += part.numel()
        self.tensors[name][rows] = part


def written_out(length: int, d: int) -> SlowMemory:
    """Attention with its matrices in slow memory: scores written and read, weights written and read."""
    memory = _filled(length, d, scores=torch.empty(length, length), weights=torch.empty(length, length))
    memory.store("scores", memory.load("query") @ memory.load("key").T / math.sqrt(d))
    memory.store("weights", memory.load("scores").softmax(-1))
    memory.store("output", memory.load("weights") @ memory.load("value"))
    return memory


def by_tiles(length: int, d: int, size: int) -> SlowMemory:
    """Attention by tiles: each block of queries is read once and reads all keys and values."""
    memory = _filled(length, d)
    for start in range(0, length, size):
        rows = slice(start, start + size)
        q = memory.load("query", rows)
        m, total, summed = torch.full((len(q), 1), -math.inf), torch.zeros(len(q), 1), torch.zeros(len(q), d)
        for first in range(0, length, size):
            keys = slice(first, first + size)
            tile = q @ memory.load("key", keys).T / math.sqrt(d)
            new = torch.maximum(m, tile.amax(1, keepdim=True))
            shrink, weights = torch.exp(m - new), torch.exp(tile - new)
            total = shrink * total + weights.sum(1, keepdim=True)
            summed, m = shrink * summed + weights @ memory.load("value", keys), new
        memory.store("output", summed / total, rows)
    return memory


def _filled(length: int, d: int, **more: Tensor) -> SlowMemory:
    query, key, value = torch.randn(3, length, d, generator=generator(18))
    return SlowMemory(query=query, key=key, value=value, output=torch.empty(length, d), **more)


def cache_bytes(groups: int, length: int, d_head: int = 128, layers: int = 32, bytes_per_number: int = 2) -> int:
    """Keys and values of one sequence in all layers."""
    return 2 * layers * groups * length * d_head * bytes_per_number


def weight_bytes(
    d_model: int = 4096, d_ff: int = 11008, layers: int = 32, vocabulary: int = 32000, bytes_per_number: int = 2
) -> int:
    """The weights of a model of LLaMA 7B's shape, H = G: four projections, three feed-forward matrices, two norms."""
    layer = 4 * d_model**2 + 3 * d_model * d_ff + 2 * d_model
    return (layers * layer + 2 * vocabulary * d_model + d_model) * bytes_per_number
