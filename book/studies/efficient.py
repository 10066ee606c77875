"""Measures what chapter 11 and its deeper pages show: `python -m studies.efficient [PART …]`.

In the folder `book`, with `solutions` on Python's path; some six minutes. Times are CPU time of one thread, the
fastest of some rounds in which all variants take turns: what else the machine does can only add to it. No variant is
timed before its answer has passed the gate. The results go to `studies/results/efficient.json`, each part with its
machine, the date and the versions. A part that is not named stays.
"""

from __future__ import annotations

import math
import resource
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from attention.efficient import blockwise_attention, grouped_query_attention
from attention.masks import causal_mask
from benchmarks.gate import pass_gate
from peak_memory import naive_attention, one_pass_attention, peak_memory
from studies.counting import MatrixWork, generator
from studies.recording import Part, Record

__all__ = ["PARTS", "RECORD", "machine"]

RECORD = Record("efficient.json")
LENGTHS = {"naive": (1024, 2048, 4096), "one pass, autograd": (1024, 2048, 4096)}
LENGTHS |= {"blockwise": (2048, 4096, 8192), "SDPA": (2048, 4096, 8192)}
Form = Callable[..., Tensor]


def machine(part: str) -> str:
    """Where and when a part was measured, in a line."""
    about = RECORD.load()[part]["environment"]
    return f"{about['date'][:10]}, {about['processor']}, {about['threads']} thread, torch {about['torch']}"


def timed_rounds(
    variants: Mapping[str, Callable[[], object]], rounds: int, clock: Callable[[], float] = time.process_time
) -> dict[str, list[float]]:
    """Seconds by `clock` of each variant in each round; all take turns, and the first round does not count."""
    found: dict[str, list[float]] = {name: [] for name in variants}
    for number in range(rounds + 1):
        for name in list(variants)[:: -1 if number % 2 else 1]:
            start = clock()
            variants[name]()
            if number:
                found[name].append(clock() - start)
    return found


def cpu_seconds(variants: Mapping[str, Callable[[], object]], rounds: int = 5) -> dict[str, float]:
    """CPU seconds of each variant in its fastest round."""
    return {name: min(times) for name, times in timed_rounds(variants, rounds).items()}


def checked_seconds(
    variants: Mapping[str, Callable[[], Tensor]], exact: Tensor, baseline: Tensor, rounds: int = 5
) -> dict[str, float]:
    """The same, once each variant's answer is found right: GateError where it is not."""
    for name, run in variants.items():
        pass_gate(name, {"output": run()}, {"output": baseline}, {"output": exact})
    return cpu_seconds(variants, rounds)


def new_memory(run: Callable[[], object]) -> float:
    """MiB in pages that the operating system hands out, at first touch, during a call."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    run()
    return (resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before) * resource.getpagesize() / 2**20


def rates(n: int = 1024, rounds: int = 15) -> dict[str, float]:
    """What one thread of this machine does per second; what a new page costs varies, so that rate is the median."""
    square, numbers = torch.randn(n, n, generator=generator(3)), torch.randn(8 * n * n, generator=generator(4))
    target, rows = torch.empty_like(numbers), numbers.view(-1, n)
    took = timed_rounds(
        {
            "product": lambda: square @ square,
            "used": lambda: target.copy_(numbers),
            "new": lambda: numbers.clone(),
            "softmax": lambda: torch.softmax(rows, -1, out=target.view(-1, n)),
            "exp2": lambda: torch.exp2(numbers[: n * n], out=target[: n * n]),
        },
        rounds,
    )
    return {
        "matrix product, FLOP/s": 2 * n**3 / min(took["product"]),
        "memory used before, byte/s": 8 * numbers.numel() / min(took["used"]),
        "new memory, byte/s": 8 * numbers.numel() / statistics.median(took["new"]),
        "exp inside softmax, 1/s": numbers.numel() / min(took["softmax"]),
        "exp2, 1/s": n * n / min(took["exp2"]),
    }


def predict_naive(heads: int, length: int, d: int, rates: Mapping[str, float]) -> dict[str, float]:
    """Seconds of the naive form, operation by operation; its three matrices are written into new memory."""
    matrix = 4 * heads * length**2  # bytes
    product = 2 * heads * length**2 * d / rates["matrix product, FLOP/s"]
    new, used = (matrix / rates[name] for name in ("new memory, byte/s", "memory used before, byte/s"))
    return {
        "Q Kᵀ": max(product, new),
        "scale": 2 * new,  # reads one matrix, writes another; the rate counts both
        "softmax": max(2 * new, heads * length**2 / rates["exp inside softmax, 1/s"]),
        "weights · V": max(product, used),
    }


def predict_tiles(heads: int, length: int, d: int, rates: Mapping[str, float]) -> dict[str, float]:
    """Seconds by tiles that stay in a cache: the same core does products, then exponentials."""
    return {
        "products": 4 * heads * length**2 * d / rates["matrix product, FLOP/s"],
        "exponentials": heads * length**2 / rates["exp2, 1/s"],
    }


def made_for(length: int, heads: int = 8, d: int = 64, seed: int = 5) -> tuple[Tensor, Tensor, Tensor]:
    """Random q, k, v of (1, heads, length, d), with naive attention's answer in float64 and in float32."""
    inputs = torch.randn(3, 1, heads, length, d, generator=generator(seed))
    return inputs, naive_attention(*inputs.double()), naive_attention(*inputs)


def forward(rounds: int = 15) -> dict[str, Any]:
    """Predicted and measured seconds of three forms at (1, 8, 1024, 64), with the rates of the same minute."""
    found = rates(rounds=rounds)
    inputs, exact, baseline = made_for(1024)
    forms: dict[str, Form] = {
        "naive": naive_attention,
        "blockwise": lambda *x: blockwise_attention(*x, block_size=256),
        "SDPA": F.scaled_dot_product_attention,
    }
    runs = {name: lambda form=form: form(*inputs) for name, form in forms.items()}
    measured = checked_seconds(runs, exact, baseline, rounds)
    tiles = predict_tiles(8, 1024, 64, found)
    predicted = {"naive": predict_naive(8, 1024, 64, found), "blockwise": tiles, "SDPA": tiles}
    pages = {name: new_memory(run) for name, run in runs.items()}
    return {"rates": found, "predicted": predicted, "measured": measured, "new_memory": pages}


def loop_over_heads(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """The naive form, one head after the other: (B, H, L, d) → the same."""
    return torch.stack([naive_attention(q[:, h], k[:, h], v[:, h]) for h in range(q.shape[1])], dim=1)


def training(rounds: int = 7) -> dict[str, Any]:
    """CPU seconds of five forms at (1, 8, 1024, 64), forward and with the backward pass; gradients pass the gate."""
    inputs = torch.randn(3, 1, 8, 1024, 64, generator=generator(5))
    upstream = torch.randn(1, 8, 1024, 64, generator=generator(17))
    forms: dict[str, Form] = {
        "naive": naive_attention,
        "naive, head by head": loop_over_heads,
        "one pass, autograd": one_pass_attention,
        "blockwise": lambda *x: blockwise_attention(*x, block_size=256),
        "SDPA": F.scaled_dot_product_attention,
    }

    def trained(form: Form, given: Tensor) -> dict[str, Tensor]:
        leaves = [x.detach().requires_grad_() for x in given]
        output = form(*leaves)
        gradients = torch.autograd.grad(output, leaves, upstream.to(output.dtype))
        return {"output": output.detach(), **dict(zip("qkv", gradients, strict=True))}

    exact, baseline = trained(naive_attention, inputs.double()), trained(naive_attention, inputs)
    errors = {name: pass_gate(name, trained(form, inputs), baseline, exact) for name, form in forms.items()}
    one = cpu_seconds({name: lambda form=form: form(*inputs) for name, form in forms.items()}, rounds)
    both = {name: lambda form=form: trained(form, inputs) for name, form in forms.items()}
    pages = {name: new_memory(run) for name, run in both.items()}
    return {"forward": one, "both": cpu_seconds(both, rounds), "new_memory": pages, "errors": errors}


def memory(short: bool = False) -> list[list[Any]]:
    """MiB above the inputs at the peak: [form, length, with backward, MiB], each case in a process of its own."""
    cases = [
        (form, n, backward)
        for backward in (False, True)
        for form, lengths in LENGTHS.items()
        for n in (lengths[:2] if short else lengths)
    ]
    return [[*case, found] for case, found in zip(cases, peak_memory(cases), strict=True)]


def decode(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """One query per head, H a multiple of G: the H/G queries that share a head form the rows of one product."""
    grouped = q.unflatten(1, (k.shape[1], -1)).squeeze(-2)  # (B, G, H/G, d)
    weights = (grouped @ k.mT / math.sqrt(q.shape[-1])).softmax(dim=-1)  # (B, G, H/G, S)
    return (weights @ v).flatten(1, 2).unsqueeze(-2)  # (B, H, 1, d)


def decode_copied(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """The same with copies of the shared heads."""
    times = q.shape[1] // k.shape[1]
    return decode(q, k.repeat_interleave(times, dim=1), v.repeat_interleave(times, dim=1))


def decoding(rounds: int = 25, heads: int = 16, length: int = 4096, d: int = 64) -> dict[str, Any]:
    """One new token against 4096 keys, by number of key heads: MFLOP, MiB read, milliseconds shared and copied."""
    query, rows = torch.randn(1, heads, 1, d, generator=generator(10)), {}
    for groups in (16, 4, 1):
        key, value = torch.randn(2, 1, groups, length, d, generator=generator(11))
        exact = grouped_query_attention(query.double(), key.double(), value.double())[0]
        baseline = grouped_query_attention(query, key, value)[0]
        forms = {"shared": decode, "copied": decode_copied}
        runs = {name: lambda form=form, k=key, v=value: form(query, k, v) for name, form in forms.items()}
        took = checked_seconds(runs, exact, baseline, rounds)
        with MatrixWork() as counted:
            decode(query, key, value)
        size = 2 * groups * length * d * 4 / 2**20
        rows[str(groups)] = [counted.flops / 1e6, size, *(1000 * t for t in took.values())]
    return rows


def masks(rounds: int = 9, length: int = 1024) -> dict[str, float]:
    """CPU seconds of causal attention by flag and by dense mask, (1, 8, L, 64), and of SDPA without a mask."""
    (q, k, v), exact, baseline = made_for(length)
    unmasked = {"SDPA, no mask": lambda: F.scaled_dot_product_attention(q, k, v)}
    pass_gate("SDPA", {"output": unmasked["SDPA, no mask"]()}, {"output": baseline}, {"output": exact})
    seen = causal_mask(length)
    causal = {
        "SDPA, is_causal": lambda: F.scaled_dot_product_attention(q, k, v, is_causal=True),
        "SDPA, dense mask": lambda: F.scaled_dot_product_attention(q, k, v, attn_mask=seen),
        "blockwise, is_causal": lambda: blockwise_attention(q, k, v, is_causal=True),
        "blockwise, dense mask": lambda: blockwise_attention(q, k, v, attn_mask=seen),
        "naive, dense mask": lambda: masked_naive(q, k, v, seen),
    }
    exact, baseline = masked_naive(q.double(), k.double(), v.double(), seen), masked_naive(q, k, v, seen)
    for name, run in causal.items():
        pass_gate(name, {"output": run()}, {"output": baseline}, {"output": exact})
    return cpu_seconds(causal | unmasked, rounds)


def masked_naive(q: Tensor, k: Tensor, v: Tensor, seen: Tensor) -> Tensor:
    """The naive form with a boolean mask, True = attend."""
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    return scores.masked_fill(~seen, -math.inf).softmax(dim=-1) @ v


def _kernel() -> dict[str, Any]:
    from studies import interpreted

    return interpreted.run()


def _beside_sdpa() -> list[dict[str, Any]]:
    from studies import beside_sdpa

    return beside_sdpa.ratios()


def _misses() -> dict[str, Any]:
    from studies import misses

    return misses.run()


def _kept_memory() -> list[dict[str, Any]]:
    from studies import kept_memory

    return kept_memory.run()


PARTS = {
    "forward": Part(lambda _: forward(), seeds=1),
    "training": Part(lambda _: training(), seeds=1),
    "memory": Part(lambda _: memory(), seeds=1),
    "decoding": Part(lambda _: decoding(), seeds=1),
    "masks": Part(lambda _: masks(), seeds=1),
    "misses": Part(lambda _: _misses(), seeds=1),
    "kernel": Part(lambda _: _kernel(), seeds=1),
    "kept memory": Part(lambda _: _kept_memory(), seeds=1),
    # last: in a process that has freed large tensors new memory is old memory, and the parts above need new
    "beside SDPA": Part(lambda _: _beside_sdpa(), seeds=1),
}

if __name__ == "__main__":
    RECORD.run(PARTS, sys.argv[1:])
