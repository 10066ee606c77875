# Generated: write your answers where it raises NotImplementedError. As it was handed out: c849da14d011
"""The Transformer encoder: attention and feed-forward layers with residual connections and layer normalisation."""

import math

import torch
from torch import Tensor, nn

from ._argument_kinds import check_choice
from ._arguments import (
    check_batched,
    check_floating,
    check_heads,
    check_length,
    check_number,
    check_probability,
    check_width,
)
from .multi_head import MultiHeadAttention

__all__ = ["Encoder", "EncoderLayer", "FeedForward", "RMSNorm", "SwiGLU", "attention_columns", "layer_norm"]

ACTIVATIONS = {"relu": nn.functional.relu, "gelu": nn.functional.gelu}


def layer_norm(x: Tensor, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5) -> Tensor:
    """weight · (x - mean) / √(variance + eps) + bias, over the last dimension   (Ba et al. 2016).

    x: (..., d); weight, bias: (d,), or None for ones and zeros
    The variance is that of the population: the mean of the squared deviations, divided by d and not by d - 1.
    Returns the shape and dtype of x.
    Raises ValueError where the shapes do not fit or eps is negative, TypeError for a wrong dtype.
    """
    given = {name: one for name, one in (("weight", weight), ("bias", bias)) if one is not None}
    check_floating(x=x, **given)
    if x.dim() == 0:
        raise ValueError("x must have at least one axis, got a single number")
    for name, one in given.items():
        if one.shape != x.shape[-1:]:
            raise ValueError(f"{name} must be ({x.shape[-1]},), one entry per feature, got shape {tuple(one.shape)}")
    check_number("eps", eps)
    if eps < 0:
        raise ValueError(f"eps must be at least 0, got {eps}")
    raise NotImplementedError("exercise 7.1: Layer normalisation")


class FeedForward(nn.Module):
    """linear2(dropout(activation(linear1(x)))), on every position by itself   (Vaswani et al. 2017, section 3.3).

    d_model: width of input and output; d_ff: width between; dropout: acts on the activations, in training only
    activation: "relu", or "gelu", the exact one with the normal distribution's own integral
    Attributes: `linear1` (d_model → d_ff) and `linear2` (d_ff → d_model).
    Raises ValueError for an unknown activation, a width below 1 or a dropout that is no probability.
    """

    def __init__(self, d_model: int, d_ff: int, dropout: float = 0.0, activation: str = "relu") -> None:
        super().__init__()
        check_length("d_model", d_model, least=1)
        check_length("d_ff", d_ff, least=1)
        check_probability("dropout", dropout)
        check_choice("activation", activation, ACTIVATIONS)
        self.d_model = d_model
        raise NotImplementedError("exercise 7.2: The feed-forward layer")

    def forward(self, x: Tensor) -> Tensor:
        """x: (..., d_model); returns the same shape.

        Raises ValueError for another width, TypeError for a wrong dtype.
        """
        check_floating(x=x)
        check_width(self, self.d_model, x=x)
        raise NotImplementedError("exercise 7.2: The feed-forward layer")


class RMSNorm(nn.Module):
    """weight · x / √(mean(x²) + eps), over the last dimension: no mean is subtracted   (Zhang and Sennrich 2019).

    Given, no part of an exercise. d_model: the last dimension; the one parameter is `weight` (d_model,)
    """

    def __init__(self, d_model: int, eps: float = 1e-5) -> None:
        super().__init__()
        check_length("d_model", d_model, least=1)
        self.d_model, self.eps = d_model, eps
        self.weight = nn.Parameter(torch.ones(d_model))

    def forward(self, x: Tensor) -> Tensor:
        """x: (..., d_model); returns the same shape and dtype."""
        check_floating(x=x)
        check_width(self, self.d_model, x=x)
        wide = x.to(torch.promote_types(x.dtype, torch.float32))
        size = wide.square().mean(dim=-1, keepdim=True)  # (..., 1)
        return (wide * torch.rsqrt(size + self.eps)).to(x.dtype) * self.weight


class SwiGLU(nn.Module):
    """linear2(silu(gate(x)) · linear1(x)): a feed-forward layer with a gate   (Shazeer 2020).

    Given, no part of an exercise. It has three matrices: with d_ff two thirds as wide it is as large as FeedForward.
    Attributes: `gate` and `linear1` (d_model → d_ff), `linear2` (d_ff → d_model), none with a bias.
    """

    def __init__(self, d_model: int, d_ff: int, dropout: float = 0.0) -> None:
        super().__init__()
        check_length("d_model", d_model, least=1)
        check_length("d_ff", d_ff, least=1)
        check_probability("dropout", dropout)
        self.d_model = d_model
        self.gate, self.linear1 = (nn.Linear(d_model, d_ff, bias=False) for _ in range(2))
        self.linear2 = nn.Linear(d_ff, d_model, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        """x: (..., d_model); returns the same shape."""
        check_floating(x=x)
        check_width(self, self.d_model, x=x)
        return self.linear2(self.dropout(nn.functional.silu(self.gate(x)) * self.linear1(x)))


class EncoderLayer(nn.Module):
    """Self-attention, then feed-forward, each with a residual connection and layer normalisation.

    post-norm (Vaswani et al. 2017):  x ← norm1(x + attention(x));  x ← norm2(x + feed_forward(x))
    pre-norm (Xiong et al. 2020):     x ← x + attention(norm1(x));  x ← x + feed_forward(norm2(x))

    d_model, num_heads, d_ff, activation: as in MultiHeadAttention and FeedForward
    dropout: in training only; acts on the attention weights, on the activations, and on each result before it is added
    norm_first: True for pre-norm
    Attributes: `self_attention`, `feed_forward`, `norm1` and `norm2` (nn.LayerNorm, whose eps is 1e-5).
    Raises ValueError as MultiHeadAttention and FeedForward do.
    """

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        d_ff: int,
        dropout: float = 0.1,
        activation: str = "relu",
        norm_first: bool = False,
    ) -> None:
        super().__init__()
        check_heads(d_model, num_heads)
        check_probability("dropout", dropout)
        self.d_model = d_model
        raise NotImplementedError("exercise 7.3: An encoder layer")

    def forward(self, x: Tensor, attn_mask: Tensor | None = None, key_mask: Tensor | None = None) -> Tensor:
        """x: (B, L, d_model); masks as in MultiHeadAttention, with S = L; returns (B, L, d_model).

        Raises ValueError where the shapes do not fit, TypeError for a wrong dtype.
        """
        check_floating(x=x)
        check_batched(x=x)
        check_width(self, self.d_model, x=x)
        raise NotImplementedError("exercise 7.3: An encoder layer")


class Encoder(nn.Module):
    """num_layers encoder layers, one after the other, each with weights of its own   (Vaswani et al. 2017).

    num_layers: at least 1; the other arguments are those of EncoderLayer
    Attributes: `layers` (nn.ModuleList), and for pre-norm `final_norm` (nn.LayerNorm), which normalises the last sum.
    Raises ValueError as EncoderLayer does.
    """

    def __init__(
        self,
        num_layers: int,
        d_model: int,
        num_heads: int,
        d_ff: int,
        dropout: float = 0.1,
        activation: str = "relu",
        norm_first: bool = False,
    ) -> None:
        super().__init__()
        check_length("num_layers", num_layers, least=1)
        self.d_model = d_model
        raise NotImplementedError("exercise 7.4: The encoder")

    def forward(
        self,
        x: Tensor,
        attn_mask: Tensor | None = None,
        key_mask: Tensor | None = None,
        return_weights: bool = False,
    ) -> Tensor | tuple[Tensor, list[Tensor]]:
        """x: (B, L, d_model); masks as in EncoderLayer, the same for every layer; returns (B, L, d_model).

        return_weights: True gives (x, weights), weights being a list with one (B, H, L, L) per layer. They are
            computed a second time, from the public parts of each layer.
        Raises ValueError where the shapes do not fit, TypeError for a wrong dtype.
        """
        check_floating(x=x)
        check_batched(x=x)
        check_width(self, self.d_model, x=x)
        raise NotImplementedError("exercise 7.4: The encoder")


def attention_columns(x: Tensor, w_query: Tensor, w_key: Tensor, w_value: Tensor) -> Tensor:
    """V · softmax_column(Kᵀ Q / √d): self-attention where one token is one column.

    x: (d_model, n); w_query, w_key: (d, d_model); w_value: (d_v, d_model); Q = w_query x, K = w_key x, V = w_value x
    Returns (d_v, n): the transpose of the row form's output on xᵀ with the transposed weights.
    Raises ValueError where the shapes do not fit, TypeError for a wrong dtype.
    """
    weights = {"w_query": w_query, "w_key": w_key, "w_value": w_value}
    check_floating(x=x, **weights)
    for name, one in {"x": x, **weights}.items():
        if one.dim() != 2:
            raise ValueError(f"{name} must be a matrix, got shape {tuple(one.shape)}")
        if name != "x" and one.shape[1] != x.shape[0]:
            raise ValueError(f"{name} must have one column per feature of x, {x.shape[0]}, got {tuple(one.shape)}")
    if w_query.shape[0] != w_key.shape[0]:
        raise ValueError(
            f"w_query and w_key must have as many rows, got {tuple(w_query.shape)} and {tuple(w_key.shape)}"
        )
    raise NotImplementedError("exercise 7.5: Attention by columns")
