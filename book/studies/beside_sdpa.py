"""Times blockwise attention as a multiple of torch's SDPA: one thread and two, forward and with the backward pass."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor

from attention.efficient import blockwise_attention
from benchmarks.exact import answers_at, answers_of, checked_rows
from benchmarks.gate import pass_gate
from studies.counting import generator
from studies.efficient import timed_rounds

__all__ = ["LENGTHS", "ratios"]

LENGTHS, HEADS, WIDTH = (2048, 8192), 8, 64
Form = Callable[[Tensor, Tensor, Tensor], Tensor]


def ratios(rounds: int = 7, lengths: tuple[int, ...] = LENGTHS) -> list[dict[str, int | bool | float]]:
    """A row per number of threads, length and mask: seconds of blockwise's fastest round over those of SDPA's.

    On one thread it is CPU time, on several the time by the clock. Leaves torch with one thread.
    """
    found = []
    for threads, length, causal in _cases(lengths):
        torch.set_num_threads(threads)
        inputs = torch.randn(4, 1, HEADS, length, WIDTH, generator=generator(length)).unbind()
        forms: dict[str, Form] = {
            "blockwise": lambda q, k, v, causal=causal: blockwise_attention(q, k, v, is_causal=causal),
            "SDPA": lambda q, k, v, causal=causal: F.scaled_dot_product_attention(q, k, v, is_causal=causal),
        }
        rows = checked_rows(length)[1:]  # under the mask the first query's gradient is 0: roundings alone are left
        exact, baseline = (answers_at(rows, *inputs, causal, dtype) for dtype in (torch.float64, torch.float32))
        for name, form in forms.items():
            pass_gate(name, answers_of(form, rows, *inputs, True), baseline, exact)
        took = timed_rounds(_passes(forms, inputs), rounds, time.process_time if threads == 1 else time.perf_counter)
        row = {"threads": threads, "length": length, "causal": causal}
        for pass_ in ("forward", "both"):
            row[pass_] = min(took[f"blockwise, {pass_}"]) / min(took[f"SDPA, {pass_}"])
        found.append(row)
    torch.set_num_threads(1)
    return found


def _cases(lengths: tuple[int, ...]) -> Iterator[tuple[int, int, bool]]:
    for threads in (1, 2):
        for length in lengths:
            yield from ((threads, length, causal) for causal in (False, True))


def _passes(forms: Mapping[str, Form], inputs: Sequence[Tensor]) -> dict[str, Callable[[], object]]:
    """Each form's forward pass, and one with its backward pass, as functions to be timed."""
    runs: dict[str, Callable[[], object]] = {}
    for name, form in forms.items():
        runs[f"{name}, forward"] = torch.no_grad()(partial(form, *inputs[:3]))
        runs[f"{name}, both"] = partial(_both, form, *inputs)
    return runs


def _both(form: Form, q: Tensor, k: Tensor, v: Tensor, upstream: Tensor) -> None:
    form(*(x.detach().requires_grad_() for x in (q, k, v))).backward(upstream)
