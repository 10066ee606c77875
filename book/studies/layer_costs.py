"""What layers cost: multiplications, the longest chain of dependent steps, and the shortest path between positions."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, log2
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.utils.flop_counter import FlopCounterMode

from attention.scores import scaled_dot_scores

__all__ = ["LAYERS", "NETWORKS", "WIDTH", "counted", "leaves", "longest_chain", "shortest_path"]

WIDTH = 4  # of the networks whose graph is walked


# Multiplications


def _core(x: Tensor, weight: Tensor) -> Tensor:
    return scaled_dot_scores(x, x).softmax(-1) @ x


def _layer(x: Tensor, weight: Tensor) -> Tensor:
    q, k, v = x @ weight, x @ weight, x @ weight
    return scaled_dot_scores(q, k).softmax(-1) @ v @ weight


def _recurrent(gates: int) -> Callable[[Tensor, Tensor], Tensor]:
    """Three gates cost what a GRU costs, four what an LSTM costs."""

    def run(x: Tensor, weight: Tensor) -> Tensor:
        state, states = torch.zeros_like(x[:1]), []
        for step in x.split(1):
            for _ in range(gates):
                new = torch.tanh(step @ weight + state @ weight)
            states.append(state := new)
        return torch.cat(states)

    return run


def _convolution(x: Tensor, weight: Tensor) -> Tensor:
    return F.conv1d(x.T[None], weight[:, :, None].expand(-1, -1, 3), padding="same")[0].T


#: Name → the layer, and the formula for its multiplications with n vectors of width d.
LAYERS: dict[str, tuple[Callable[[Tensor, Tensor], Tensor], Callable[[float, float], float]]] = {
    "attention, core": (_core, lambda n, d: 2 * n * n * d),
    "attention, layer": (_layer, lambda n, d: 2 * n * n * d + 4 * n * d * d),
    "recurrent, tanh": (_recurrent(1), lambda n, d: 2 * n * d * d),
    "recurrent, GRU": (_recurrent(3), lambda n, d: 6 * n * d * d),
    "recurrent, LSTM": (_recurrent(4), lambda n, d: 8 * n * d * d),
    "convolution, k = 3": (_convolution, lambda n, d: 3 * n * d * d),
}


def counted(name: str, n: int, d: int) -> int:
    """Multiplications inside matrix products and convolutions while a layer runs, counted by PyTorch."""
    with FlopCounterMode(display=False) as counter:
        LAYERS[name][0](torch.randn(n, d), torch.randn(d, d))
    return counter.get_total_flops() // 2  # it counts a multiplication and an addition as two


# Walks through autograd's graph


def longest_chain(output: Tensor) -> int:
    """Operations on the longest chain of dependent results that ends in `output`."""
    depth: dict[Any, int] = {}
    stack: list[Any] = [output.grad_fn]
    while stack:
        node = stack[-1]
        parents = [parent for parent, _ in node.next_functions if parent is not None]
        waiting = [parent for parent in parents if parent not in depth]
        if waiting:
            stack.extend(waiting)
        else:
            depth[stack.pop()] = 1 + max((depth[parent] for parent in parents), default=-1)
    return depth[output.grad_fn]


def shortest_path(output: Tensor, leaf: Tensor) -> int:
    """Operations on the shortest path from `leaf` to `output`; ValueError if there is none."""
    frontier: set[Any] = {output.grad_fn}
    seen: set[Any] = set()
    length = 0
    while frontier:
        if any(getattr(node, "variable", None) is leaf for node in frontier):
            return length
        seen |= frontier
        frontier = {parent for node in frontier for parent, _ in node.next_functions} - seen - {None}
        length += 1
    raise ValueError("expected an output that depends on leaf, got one that does not")


# Every position is a tensor of its own, so that no path can hide inside a batched operation


def leaves(n: int) -> list[Tensor]:
    return [torch.randn(WIDTH, requires_grad=True) for _ in range(n)]


def rnn_steps(rows: list[Tensor]) -> list[Tensor]:
    weight = torch.randn(WIDTH, WIDTH)
    state, states = torch.zeros(WIDTH), []
    for row in rows:
        states.append(state := torch.tanh(row @ weight + state @ weight))
    return states


def conv_steps(rows: list[Tensor], k: int = 3, dilation: int = 1) -> list[Tensor]:
    """Position i sees i, i - dilation, …: k inputs, zeros before the start."""
    zero, weight = torch.zeros(WIDTH), torch.randn(k * WIDTH, WIDTH)
    seen = [[rows[j] if j >= 0 else zero for j in range(i, i - k * dilation, -dilation)] for i in range(len(rows))]
    return [torch.tanh(torch.cat(window) @ weight) for window in seen]


def attention_steps(rows: list[Tensor]) -> list[Tensor]:
    x, weight = torch.stack(rows), torch.randn(WIDTH, WIDTH)
    return list(scaled_dot_scores(x @ weight, x @ weight).softmax(-1) @ (x @ weight))


def deep_convolution(rows: list[Tensor]) -> list[Tensor]:
    for _ in range(ceil((len(rows) - 1) / 2)):  # k = 3 reaches back 2 per layer
        rows = conv_steps(rows)
    return rows


def deep_dilated(rows: list[Tensor]) -> list[Tensor]:
    for layer in range(ceil(log2(len(rows)))):  # k = 2 with dilations 1, 2, 4, …
        rows = conv_steps(rows, k=2, dilation=2**layer)
    return rows


#: Networks just deep enough that the last output depends on the first input.
NETWORKS: dict[str, Callable[[list[Tensor]], list[Tensor]]] = {
    "recurrent": rnn_steps,
    "convolutions, k = 3": deep_convolution,
    "dilated, k = 2": deep_dilated,
    "self-attention": attention_steps,
}
