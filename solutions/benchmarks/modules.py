"""torch's attention layers against lean ones on SDPA with the same weights, forward, one row each."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .gate import error, pass_gate
from .timing import time_in_turn

LENGTH, D_MODEL, HEADS = 2048, 512, 8
Layer = Callable[[Tensor], Tensor]


def lean_attention(layer: nn.MultiheadAttention, x: Tensor, mask: Tensor | None, plain: bool = False) -> Tensor:
    """Self-attention with the layer's weights: one product for query, key and value, then SDPA.

    x: (B, L, d_model); mask: bool (L, L), True = attend, or None; causal where there is one
    plain: softmax(QKᵀ)V written out instead of SDPA, for the gate
    """
    projected = F.linear(x, layer.in_proj_weight, layer.in_proj_bias)
    query, key, value = projected.unflatten(-1, (3, layer.num_heads, -1)).permute(2, 0, 3, 1, 4)  # (B, H, L, d)
    if plain:
        scores = query @ key.mT / query.shape[-1] ** 0.5
        scores = scores if mask is None else scores.masked_fill(~mask, -torch.inf)
        heads = scores.softmax(dim=-1) @ value
    else:
        heads = F.scaled_dot_product_attention(query, key, value, is_causal=mask is not None)
    return layer.out_proj(heads.transpose(1, 2).flatten(2))


def lean_layer(layer: nn.TransformerEncoderLayer, x: Tensor, mask: Tensor | None, plain: bool = False) -> Tensor:
    """The encoder layer (post-norm, no dropout) on lean_attention."""
    x = layer.norm1(x + lean_attention(layer.self_attn, x, mask, plain))
    return layer.norm2(x + layer.linear2(F.relu(layer.linear1(x))))


@contextmanager
def fast_path(on: bool) -> Iterator[None]:
    before = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(on)
    try:
        yield
    finally:
        torch.backends.mha.set_fastpath_enabled(before)


def functions(layer: nn.TransformerEncoderLayer, mask: Tensor | None) -> dict[str, Layer]:
    """What is timed, by name. torch's layers hide where a mask is True, and may be told that the mask is causal."""
    hidden = None if mask is None else ~mask
    causal = mask is not None
    layers = {(p, train): copy.deepcopy(layer).train(train) for p in (0.0, 0.1) for train in (False, True)}
    for (p, _), one in layers.items():
        for module in one.modules():
            if isinstance(module, nn.Dropout):
                module.p = p
        one.self_attn.dropout = p

    def attention(x: Tensor, weights: bool) -> Tensor:
        return layer.self_attn(x, x, x, attn_mask=hidden, is_causal=causal and not weights, need_weights=weights)[0]

    def encoder(x: Tensor, p: float, train: bool, fast: bool = False) -> Tensor:
        with fast_path(fast):
            return layers[p, train](x, src_mask=hidden, is_causal=causal)

    return {
        "fused QKV": lambda x: lean_attention(layer.self_attn, x, mask),
        "MultiheadAttention": partial(attention, weights=False),
        "MultiheadAttention, weights": partial(attention, weights=True),
        "fused layer": lambda x: lean_layer(layer, x, mask),
        "EncoderLayer, dropout 0": partial(encoder, p=0.0, train=True),
        "EncoderLayer, dropout 0.1": partial(encoder, p=0.1, train=True),
        "EncoderLayer, eval, fast path": partial(encoder, p=0.0, train=False, fast=True),
        "EncoderLayer, eval, no fast path": partial(encoder, p=0.0, train=False),
    }


def run(quick: bool = False, threads: int = 0, others: Mapping[str, Layer] | None = None) -> list[dict[str, Any]]:
    """Rows for full and causal attention; others: functions in place of some.

    A layer in training keeps what backward needs, so gradients are on for those alone. With dropout the answer is
    random: the same layer is then checked with dropout 0, as the row says.
    Raises GateError where an answer is wrong; then nothing is timed.
    """
    torch.set_num_threads(threads or torch.get_num_threads())
    length = 64 if quick else LENGTH
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        layer = nn.TransformerEncoderLayer(D_MODEL, HEADS, 4 * D_MODEL, dropout=0.0, batch_first=True).eval()
        nn.init.normal_(layer.self_attn.in_proj_bias, std=0.1)
        x = torch.randn(1, length, D_MODEL)
        return [row for causal in (False, True) for row in _rows(layer, x, causal, quick, others or {})]


def _rows(
    layer: nn.TransformerEncoderLayer, x: Tensor, causal: bool, quick: bool, others: Mapping[str, Layer]
) -> list[dict[str, Any]]:
    length = x.shape[1]
    mask = torch.ones(length, length, dtype=torch.bool).tril() if causal else None
    timed = functions(layer, mask) | dict(others)
    wide = copy.deepcopy(layer).double()
    checks = {}
    with torch.no_grad():
        parts = {"attention": (lean_attention, layer.self_attn, wide.self_attn), "layer": (lean_layer, layer, wide)}
        baseline = {part: {"output": one(own, x, mask, plain=True)} for part, (one, own, _) in parts.items()}
        exact = {part: {"output": one(own, x.double(), mask, plain=True)} for part, (one, _, own) in parts.items()}
        for name in timed:
            part = "layer" if "ayer" in name else "attention"
            right = "EncoderLayer, dropout 0" if name.endswith("0.1") else name
            found = pass_gate(name, {"output": timed[right](x)}, baseline[part], exact[part])
            checks[name] = found["output"], error(baseline[part]["output"], exact[part]["output"])

    def call(name: str) -> None:
        with torch.set_grad_enabled("dropout" in name):
            timed[name](x)

    rounds = {"rounds": 2, "warm_up": 1} if quick else {"rounds": 7, "warm_up": 1}
    timings = time_in_turn({name: partial(call, name) for name in timed}, **rounds)
    return [
        {
            **{"what": "module", "variant": name, "pass": "forward", "dtype": "float32", "causal": causal},
            **{"batch": 1, "heads": HEADS, "length": length, "width": D_MODEL // HEADS, "backend": "eager"},
            "seconds": {"median": one.median, "quartiles": one.quartiles, "rounds": len(one.seconds)},
            **{"peak_bytes": None, "error": checks[name][0], "baseline_error": checks[name][1], "exact_rows": length},
            "checked": "output, with dropout 0" if name.endswith("0.1") else "output",
        }
        for name, one in timings.items()
    ]
