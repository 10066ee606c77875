"""The check of an ungraded exercise that a page runs itself: a Triton kernel."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from attention.masks import causal_mask
from benchmarks.gate import error
from studies.counting import generator
from studies.efficient import masked_naive

__all__ = ["check_kernel", "kernel_errors"]

Attend = Callable[[Tensor, Tensor, Tensor], Tensor]


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
