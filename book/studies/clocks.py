"""Measures the times that deeper pages show: `python -m studies.clocks [PART …]`.

In the folder `book`, with `solutions` on Python's path; some two minutes on one thread. Times are CPU time, the fastest
of some rounds in which all variants take turns, each after a comparison with float64. The results go to
`studies/results/clocks.json`, each part with its machine, the date and the versions. A part that is not named stays.
"""

from __future__ import annotations

import copy
import math
import sys
import warnings
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

from attention.masks import causal_mask
from attention.multi_head import MultiHeadAttention
from attention.scores import additive_scores, bilinear_scores, dot_scores, scaled_dot_scores
from benchmarks.gate import error
from studies import sdpa
from studies.counting import generator
from studies.efficient import checked_seconds, cpu_seconds, made_for, masked_naive
from studies.recording import Part, Record

__all__ = ["LENGTHS", "PARTS", "RECORD", "WIDTH", "exponentials", "layer_times", "machine", "score_times", "spellings"]

RECORD = Record("clocks.json")
LENGTHS, WIDTH, KERNEL = (16, 32, 64, 128, 256, 512, 1024, 2048), 64, 3  # of the layers that are compared
Times = dict[str, float]


def machine(part: str) -> str:
    """Where and when a part was measured, in a line."""
    about = RECORD.load()[part]["environment"]
    return f"{about['date'][:10]}, {about['processor']}, {about['threads']} thread, torch {about['torch']}"


def score_times(rounds: int = 25) -> Times:
    """Milliseconds of each score for 200 queries and 240 keys, 64 wide, float32."""
    draw = generator(1)
    query, key = torch.randn(200, 64, generator=draw), torch.randn(240, 64, generator=draw)
    w1, w2 = torch.randn(64, 128, generator=draw) / 8, torch.randn(64, generator=draw) / 8
    weight = torch.randn(64, 64, generator=draw) / 8
    forms: dict[str, tuple[Callable[..., Tensor], tuple[Tensor, ...]]] = {
        "additive": (additive_scores, (w1, w2)),
        "bilinear": (bilinear_scores, (weight,)),
        "dot": (dot_scores, ()),
        "scaled dot": (scaled_dot_scores, ()),
    }
    for score, extra in forms.values():
        exact = score(query.double(), key.double(), *(x.double() for x in extra))
        assert (score(query, key, *extra) - exact).abs().max() < 1e-4
    runs = {name: lambda score=score, extra=extra: score(query, key, *extra) for name, (score, extra) in forms.items()}
    return {name: 1000 * seconds for name, seconds in cpu_seconds(runs, rounds).items()}


def layers_compared() -> dict[str, nn.Module]:
    """Four layers that make n vectors of n vectors, by name."""
    torch.manual_seed(0)
    return {
        "attention": MultiHeadAttention(WIDTH, 1).eval(),
        "tanh recurrence": nn.RNN(WIDTH, WIDTH, batch_first=True),
        "GRU": nn.GRU(WIDTH, WIDTH, batch_first=True),
        "convolution": nn.Conv1d(WIDTH, WIDTH, KERNEL, padding=1),
    }


def applied(layer: nn.Module, x: Tensor) -> Tensor:
    """(1, n, d) → (1, n, d), whatever the layer's interface."""
    if isinstance(layer, MultiHeadAttention):
        return layer(x, x, x)[0]
    return layer(x.mT).mT if isinstance(layer, nn.Conv1d) else layer(x)[0]


def layer_times(rounds: int = 9) -> dict[str, list[float]]:
    """Milliseconds of each layer at each length, forward alone."""
    those, found = layers_compared(), {}
    with torch.no_grad():
        for n in LENGTHS:
            x = torch.randn(1, n, WIDTH, generator=generator(n))
            for name, layer in those.items():
                exact = applied(copy.deepcopy(layer).double(), x.double())
                assert (applied(layer, x) - exact).abs().max() < 1e-5, name
            runs = {name: lambda layer=layer, x=x: applied(layer, x) for name, layer in those.items()}
            for name, seconds in cpu_seconds(runs, rounds).items():
                found.setdefault(name, []).append(1000 * seconds)
    return found


def exponentials(rounds: int = 15) -> dict[str, list[float]]:
    """Nanoseconds per entry of exp(s) and of 2^(s log2 e), by where the scores lie."""
    entries = 2**20
    some, result = torch.rand(entries, generator=generator(6)), torch.empty(entries)
    inputs = {"between −1 and 0": -some, "near −90": -90 + 0.5 * some, "near −200": -200 + some}
    inputs["−∞"] = torch.full((entries,), -math.inf)
    smallest, found = torch.finfo(torch.float32).tiny, {}  # below it answers may be flushed to 0
    for name, x in inputs.items():
        scaled = x * math.log2(math.e)  # 2^scaled = e^x
        runs = {"e": lambda x=x: torch.exp(x, out=result), "2": lambda x=scaled: torch.exp2(x, out=result)}
        for base, right in (("e", torch.exp(x.double())), ("2", torch.exp2(scaled.double()))):
            assert torch.allclose(runs[base]().double(), right, rtol=1e-5, atol=smallest), (name, base)
        found[name] = [1e9 * seconds / entries for seconds in cpu_seconds(runs, rounds).values()]
    return found


def unmasked_naive(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """The naive form, as torch.compile recognises it."""
    return (q @ k.mT / q.shape[-1] ** 0.5).softmax(dim=-1) @ v


def spellings(rounds: int = 9, compiled: bool = True) -> Times:
    """Milliseconds at (1, 8, 1024, 64), forward: without a mask, then causal; compiled: also what is compiled."""
    (q, k, v), exact, naive = made_for(1024)
    seen = causal_mask(1024)
    exact_causal = masked_naive(q.double(), k.double(), v.double(), seen)
    block_mask = create_block_mask(lambda b, h, i, j: i >= j, None, None, 1024, 1024, device="cpu")
    full = {"SDPA": lambda: F.scaled_dot_product_attention(q, k, v), "naive": lambda: unmasked_naive(q, k, v)}
    causal = {
        "SDPA, is_causal": lambda: F.scaled_dot_product_attention(q, k, v, is_causal=True),
        "naive, masked_fill": lambda: masked_naive(q, k, v, seen),
        "flex, not compiled": lambda: flex_attention(q, k, v, block_mask=block_mask),
    }
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # flex_attention says itself that it should be compiled
        if compiled:
            fast, fast_masked, fast_flex = (torch.compile(f) for f in (unmasked_naive, masked_naive, flex_attention))
            assert torch.equal(fast(q, k, v), full["SDPA"]()), "the compiler no longer makes SDPA of the formula"
            full["compile(naive)"] = lambda: fast(q, k, v)
            causal["compile(naive, masked_fill)"] = lambda: fast_masked(q, k, v, seen)
            causal["compile(flex)"] = lambda: fast_flex(q, k, v, block_mask=block_mask)
        took = checked_seconds(full, exact, naive, rounds)
        took |= checked_seconds(causal, exact_causal, masked_naive(q, k, v, seen), rounds)
    return {name: 1000 * seconds for name, seconds in took.items()}


def flex_errors() -> dict[str, list[float]]:
    """Length → error against float64, without a mask: compiled flex, as a multiple of naive's, and SDPA's."""
    found = {}
    torch.compiler.reset()
    with torch.no_grad():
        for length in (512, 1024, 2048, 4096):
            flex = torch.compile(flex_attention, dynamic=False)
            (q, k, v), exact, naive = made_for(length, heads=2)
            off, base = error(flex(q, k, v), exact), error(naive, exact)
            found[str(length)] = [off, off / base, error(F.scaled_dot_product_attention(q, k, v), exact)]
    return found


def halves(rounds: int = 9) -> Times:
    """Milliseconds of SDPA at (1, 8, 1024, 64) in float32 and in bfloat16."""
    (q, k, v), _, _ = made_for(1024)
    half = [x.bfloat16() for x in (q, k, v)]
    runs = {
        "float32": lambda: F.scaled_dot_product_attention(q, k, v),
        "bfloat16": lambda: F.scaled_dot_product_attention(*half),
    }
    return {name: 1000 * seconds for name, seconds in cpu_seconds(runs, rounds).items()}


PARTS = {
    "scores": Part(lambda _: score_times(), seeds=1),
    "layers": Part(lambda _: layer_times(), seeds=1),
    "exponentials": Part(lambda _: exponentials(), seeds=1),
    "spellings": Part(lambda _: spellings(), seeds=1),
    "flex": Part(lambda _: flex_errors(), seeds=1),
    "torch_layers": Part(lambda _: sdpa.layers(9), seeds=1),
    "halves": Part(lambda _: halves(), seeds=1),
}

if __name__ == "__main__":
    RECORD.run(PARTS, sys.argv[1:])
