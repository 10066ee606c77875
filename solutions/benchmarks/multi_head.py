"""The reference's multi-head attention against torch's own, forward and backward, both giving the weights."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from attention.multi_head import MultiHeadAttention, load_torch_weights

from .gate import pass_gate
from .timing import ratio, time_in_turn

BATCH, LENGTH, D_MODEL, HEADS = 8, 256, 512, 8
OURS, TORCH = "attention.MultiHeadAttention", "nn.MultiheadAttention(need_weights=True)"


def layers(d_model: int, num_heads: int) -> tuple[MultiHeadAttention, nn.MultiheadAttention]:
    """Both layers, with the same weights."""
    theirs = nn.MultiheadAttention(d_model, num_heads, batch_first=True)
    nn.init.normal_(theirs.in_proj_bias, std=0.1)  # torch begins with zeros, which would hide a missing bias
    nn.init.normal_(theirs.out_proj.bias, std=0.1)
    ours = MultiHeadAttention(d_model, num_heads)
    load_torch_weights(ours, theirs)
    return ours, theirs


def answers(layer: nn.Module, x: Tensor, upstream: Tensor) -> dict[str, Tensor]:
    """Output, weights averaged over the heads, and the gradients that both layers have under one name."""
    layer.zero_grad(set_to_none=True)
    x = x.detach().requires_grad_()
    if isinstance(layer, nn.MultiheadAttention):
        output, weights = layer(x, x, x, need_weights=True)
    else:
        output, weights = layer(x, x, x)
        weights = weights.mean(dim=1)
    output.backward(upstream)
    out_proj = layer.out_proj
    found = {"output": output, "weights": weights, "gradient of x": x.grad}
    found |= {"gradient of W_o": out_proj.weight.grad, "gradient of b_o": out_proj.bias.grad}
    return {name: tensor.detach() for name, tensor in found.items()}


def run(quick: bool = False, ours: nn.Module | None = None) -> dict[str, Any]:
    """Gate, then time, one forward and backward pass at (8, 256, 512) with 8 heads in float32.

    quick: few rounds, for a test; ours: another layer in place of the reference's
    Returns the medians and quartiles in seconds, the errors, and the ratio ours to torch's.
    Raises GateError where ours is wrong; then nothing is timed.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        reference, theirs = layers(D_MODEL, HEADS)
        x, upstream = torch.randn(2, BATCH, LENGTH, D_MODEL).unbind()
    ours = ours or reference
    baseline = answers(theirs, x, upstream)
    exact = answers(theirs.double(), x.double(), upstream.double())
    theirs.float()
    errors = pass_gate(OURS, answers(ours, x, upstream), baseline, exact)

    def pass_through(layer: nn.Module, **more: bool) -> None:
        layer.zero_grad(set_to_none=True)
        source = x.detach().requires_grad_()
        layer(source, source, source, **more)[0].backward(upstream)

    timings = time_in_turn(
        {OURS: lambda: pass_through(ours), TORCH: lambda: pass_through(theirs, need_weights=True)},
        rounds=3 if quick else 40,
        warm_up=1 if quick else 5,
    )
    return {
        "what": "multi-head attention, forward and backward",
        "shape": {"batch": BATCH, "length": LENGTH, "d_model": D_MODEL, "heads": HEADS, "dtype": "float32"},
        "errors": errors,
        "seconds": {name: {"median": one.median, "quartiles": one.quartiles} for name, one in timings.items()},
        "rounds": len(timings[OURS].seconds),
        "ratio": ratio(timings[OURS], timings[TORCH]),
    }
