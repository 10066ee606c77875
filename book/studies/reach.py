"""How far convolutions, recurrent networks and attention see, by the gradient of an output with respect to inputs."""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attention.scores import scaled_dot_scores

__all__ = ["NETWORKS", "averaging", "dependence", "gradient_by_distance", "influence"]

Layer = Callable[[Tensor], Tensor]


def averaging(kernel: int, dilation: int) -> nn.Conv1d:
    """A convolution with all weights 1/kernel, so that no gradient cancels."""
    padding = dilation * (kernel - 1) // 2
    convolution = nn.Conv1d(1, 1, kernel, dilation=dilation, padding=padding, bias=False)
    nn.init.constant_(convolution.weight, 1 / kernel)
    return convolution


def influence(layers: list[nn.Conv1d], n: int) -> Tensor:
    """|d y_middle / d x_j| for every input j of n, (n,)."""
    x = torch.zeros(1, 1, n, requires_grad=True)
    nn.Sequential(*layers)(x)[0, 0, n // 2].backward()
    return x.grad[0, 0].abs()  # type: ignore[index]


def dependence(layer: Layer, x: Tensor) -> Tensor:
    """The norm of the block d y_i / d x_j for every pair of positions, (n, n)."""
    return torch.func.jacrev(layer)(x).norm(dim=(1, 3)).detach()


# What the last output feels of each input, before any training


def _recurrent(
    cell: Callable[..., nn.Module], adjust: Callable[[nn.Module], None] | None = None
) -> Callable[..., Layer]:
    def make(d: int) -> Layer:
        net = cell(d, d, batch_first=True)
        if adjust:
            adjust(net)
        return lambda x: net(x)[0]

    return make


def _keep_state(gru: nn.Module) -> None:
    with torch.no_grad():
        d = gru.hidden_size
        gru.bias_hh_l0[d : 2 * d] = 4.0  # the update gate starts near "keep"


def _convolutions(d: int) -> Layer:
    net = nn.Sequential(*[nn.Conv1d(d, d, 3, padding=1) for _ in range(8)])
    for layer in net:
        nn.init.normal_(layer.weight, std=1 / sqrt(3 * d))  # keeps a signal's size
    return lambda x: net(x.transpose(1, 2)).transpose(1, 2)


def _attention(d: int) -> Layer:
    w_query, w_key, w_value = (torch.randn(d, d) / sqrt(d) for _ in range(3))
    return lambda x: scaled_dot_scores(x @ w_query, x @ w_key).softmax(-1) @ (x @ w_value)


NETWORKS: dict[str, Callable[[int], Layer]] = {
    "tanh RNN": _recurrent(nn.RNN),
    "tanh RNN, orthogonal": _recurrent(nn.RNN, lambda net: nn.init.orthogonal_(net.weight_hh_l0)),
    "GRU": _recurrent(nn.GRU),
    "GRU told to keep": _recurrent(nn.GRU, _keep_state),
    "8 convolutions": _convolutions,
    "self-attention": _attention,
}


def gradient_by_distance(name: str, seed: int, n: int = 64, d: int = 32, size: int = 64) -> Tensor:
    """Mean |d (u · y_last) / d x_j| over `size` random u and x, by distance to the end, (n,); distance 0 first."""
    torch.manual_seed(seed)
    run = NETWORKS[name](d)
    x = torch.randn(size, n, d, requires_grad=True)
    direction = F.normalize(torch.randn(size, d), dim=-1)
    (run(x)[:, -1] * direction).sum().backward()
    return x.grad.double().norm(dim=-1).mean(0).flip(0)  # type: ignore[union-attr]
