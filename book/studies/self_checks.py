"""Checks of ungraded exercises that the pages run themselves: the backward pass of a tile, a Triton kernel."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from attention.masks import causal_mask
from benchmarks.gate import error
from studies.counting import generator
from studies.efficient import masked_naive

__all__ = ["check_kernel", "check_tile", "gradients_by_tiles", "kernel_errors", "tile_errors"]

Tile = Callable[..., tuple[Tensor, Tensor, Tensor]]
Attend = Callable[[Tensor, Tensor, Tensor], Tensor]


def gradients_by_tiles(tile: Tile, q: Tensor, k: Tensor, v: Tensor, g: Tensor, size: int) -> list[Tensor]:
    """Gradients of q, k and v of one head, added up from what `tile` gives for each tile."""
    scale = 1 / math.sqrt(q.shape[1])
    scores = q @ k.T * scale
    log_sum = scores.logsumexp(1, keepdim=True)
    row_sums = (g * (scores.softmax(1) @ v)).sum(1, keepdim=True)  # D
    found = [torch.zeros_like(x) for x in (q, k, v)]
    for i in torch.arange(len(q)).split(size):
        for j in torch.arange(len(k)).split(size):
            parts = tile(q[i], k[j], v[j], g[i], log_sum[i], row_sums[i], scale)
            for gradient, rows, part in zip(found, (i, j, j), parts, strict=True):
                gradient[rows] += part
    return found


def tile_errors(tile: Tile) -> dict[str, float]:
    """The largest difference to autograd's gradients of q, k and v, float64, 5 queries and 7 keys in tiles of 2."""
    draw = generator(1)
    q, k, v, g = (torch.randn(n, 3, generator=draw).double() for n in (5, 7, 7, 5))
    leaves = [x.clone().requires_grad_() for x in (q, k, v)]
    output = (leaves[0] @ leaves[1].T / math.sqrt(3)).softmax(1) @ leaves[2]
    right = torch.autograd.grad(output, leaves, g)
    found = gradients_by_tiles(tile, q, k, v, g, 2)
    return {name: (one - other).abs().max().item() for name, one, other in zip("qkv", found, right, strict=True)}


def check_tile(tile: Tile) -> None:
    """Prints for each gradient whether it is autograd's."""
    for name, off in tile_errors(tile).items():
        print(f"gradient of {name}:", "right" if off < 1e-9 else f"off by up to {off:.2f}")


def kernel_errors(attend: Attend, device: str = "cpu") -> dict[str, tuple[float, float]]:
    """Case → relative errors of causal attention, aligned to the end: those of attend and of naive in float16."""
    found = {}
    cases = ("one tile", 32, 32), ("more tiles", 96, 96), ("a short last block", 50, 50), ("after a cache", 20, 70)
    for name, length, keys in cases:
        q = torch.randn(2, length, 16, generator=generator(length)).half().to(device)
        k, v = torch.randn(2, 2, keys, 16, generator=generator(keys)).half().to(device)
        seen = causal_mask(length, keys, device=device)
        exact = masked_naive(q.double(), k.double(), v.double(), seen)
        off = error(attend(q, k, v), exact), error(masked_naive(q, k, v, seen), exact)
        found[f"{name}, L = {length}, S = {keys}"] = off
    return found


def check_kernel(attend: Attend, device: str = "cpu") -> None:
    """Prints for each case whether the kernel's error stays below twice naive attention's."""
    for name, (off, allowed) in kernel_errors(attend, device).items():
        print(f"{name}:", "right" if off < 2 * allowed else f"wrong, relative error {off:.2g}")
