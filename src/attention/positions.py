# Generated: write your answers where it raises NotImplementedError. As it was handed out: 26e80ebdb0d3
"""Positions: how attention, which sees a set, learns about order."""

import torch
from torch import Tensor, nn

from ._argument_kinds import check_vectors
from ._arguments import (
    check_batched,
    check_even,
    check_floating,
    check_integers,
    check_length,
    check_number,
    check_probability,
    check_sequence,
    check_whole,
)

__all__ = [
    "LearnedPositionalEmbedding",
    "PositionalEncoding",
    "alibi_bias",
    "apply_rotary",
    "apply_rotary_at",
    "half_split",
    "interleaved",
    "longer_base",
    "shift_matrix",
    "sinusoidal_encoding",
]


def sinusoidal_encoding(max_length: int, d_model: int, base: float = 10000.0) -> Tensor:
    """PE[p, 2i] = sin(p · base^(-2i / d_model)), PE[p, 2i + 1] = cos of the same   (Vaswani et al. 2017, section 3.5).

    max_length: number of positions, of which the first is 0; d_model: even
    Returns (max_length, d_model) in the default dtype.
    Raises ValueError for an odd d_model, a negative length or a base that is not positive.
    """
    check_length("max_length", max_length)
    check_even("d_model", d_model)
    _check_base(base)
    raise NotImplementedError("exercise 6.1: The sinusoidal table")


def shift_matrix(offset: int, d_model: int, base: float = 10000.0) -> Tensor:
    """The matrix M with encoding[p] @ M = encoding[p + offset] for every position p.

    offset: positions to move, negative ones too; d_model: even
    Returns (d_model, d_model) in the default dtype: along the diagonal a 2×2 rotation for each pair of columns.
    Raises ValueError for an odd d_model or a base that is not positive, TypeError for an offset that is no int.
    Source: Vaswani et al. 2017, section 3.5, which states that such a matrix exists.
    """
    if isinstance(offset, bool) or not isinstance(offset, int):
        raise TypeError(f"offset must be an int, got {type(offset).__name__} {offset!r}")
    check_even("d_model", d_model)
    _check_base(base)
    raise NotImplementedError("exercise 6.2: The matrix that shifts")


class PositionalEncoding(nn.Module):
    """dropout(x + PE): the sinusoidal encoding added to each sequence of a batch   (Vaswani et al. 2017, section 3.5).

    d_model: even; max_length: the longest sequence; dropout: acts on the sum, in training only
    The module has no parameters and an empty state dict: nothing here is learned, so nothing needs to be saved.
    Raises ValueError for an odd d_model, a length below 0 or a dropout that is no probability.
    """

    def __init__(self, d_model: int, max_length: int = 1024, dropout: float = 0.0) -> None:
        super().__init__()
        check_even("d_model", d_model)
        check_length("max_length", max_length)
        check_probability("dropout", dropout)
        self.d_model, self.max_length = d_model, max_length
        raise NotImplementedError("exercise 6.3: Adding positions")

    def forward(self, x: Tensor) -> Tensor:
        """x: (B, L, d_model) with L up to max_length; returns the same shape and dtype.

        Raises ValueError for another shape, TypeError for a wrong dtype.
        """
        _check_input(x, self.d_model, self.max_length)
        raise NotImplementedError("exercise 6.3: Adding positions")


class LearnedPositionalEmbedding(nn.Module):
    """x + weight: one learned vector per position   (Gehring et al. 2017; Devlin et al. 2019).

    d_model: any width; max_length: the longest sequence
    The one parameter is `weight` (max_length, d_model), drawn from a normal distribution of deviation 0.02.
    Raises ValueError for a length or width below 0.
    """

    def __init__(self, d_model: int, max_length: int = 1024) -> None:
        super().__init__()
        check_length("d_model", d_model, least=1)
        check_length("max_length", max_length)
        self.d_model, self.max_length = d_model, max_length
        raise NotImplementedError("exercise 6.4: Learned positions")

    def forward(self, x: Tensor) -> Tensor:
        """x: (B, L, d_model) with L up to max_length; returns the same shape and dtype.

        Raises ValueError for another shape, TypeError for a wrong dtype.
        """
        _check_input(x, self.d_model, self.max_length)
        raise NotImplementedError("exercise 6.4: Learned positions")


def apply_rotary(x: Tensor, base: float = 10000.0, offset: int = 0) -> Tensor:
    """Rotate columns (2i, 2i + 1) by the angle (position + offset) · base^(-2i / d_head)   (Su et al. 2021).

    x: (..., L, d_head), queries or keys, d_head even; offset: the position of the first row
    Returns the same shape and dtype. A rotated query and a rotated key have a dot product that depends on their
    positions only through the difference.
    Raises ValueError for an odd d_head, a single axis or a base that is not positive, TypeError for a wrong dtype or an
    offset that is no int.
    """
    check_floating(x=x)
    check_sequence(x=x)
    check_even("d_head", x.shape[-1])
    _check_base(base)
    check_whole("offset", offset)
    raise NotImplementedError("exercise 6.5: Rotary positions")


def apply_rotary_at(x: Tensor, position_ids: Tensor, base: float = 10000.0) -> Tensor:
    """apply_rotary for rows at positions of their own, as after padding on the left or in packed sequences.

    Given, no part of an exercise; it reads the sines and cosines from what apply_rotary makes of unit vectors.
    x: (..., L, d_head); position_ids: integers from 0 on that broadcast to (..., L)   (Su et al. 2021, section 3.4)
    Returns the same shape and dtype.
    Raises ValueError for an odd d_head, ids that do not fit or are negative, TypeError for ids that are no integers.
    """
    check_floating(x=x)
    check_sequence(x=x)
    check_even("d_head", x.shape[-1])
    check_integers("position_ids", position_ids, dimensions=None)
    try:
        position_ids = position_ids.expand(x.shape[:-1])
    except RuntimeError:
        shapes = f"{tuple(x.shape[:-1])}, got {tuple(position_ids.shape)}"
        raise ValueError(f"position_ids must broadcast to {shapes}; add axes?") from None
    least, most = (int(position_ids.min()), int(position_ids.max())) if position_ids.numel() else (0, -1)
    if least < 0:
        raise ValueError(f"position_ids must be at least 0, got {least}")
    wide = torch.promote_types(x.dtype, torch.float32)
    unit = torch.tensor([1.0, 0.0], dtype=wide, device=x.device).repeat(most + 1, x.shape[-1] // 2)
    turns = torch.view_as_complex(apply_rotary(unit, base).unflatten(-1, (-1, 2)).contiguous())  # cos + i sin
    pairs = torch.view_as_complex(x.to(wide).unflatten(-1, (-1, 2)).contiguous())
    return torch.view_as_real(pairs * turns[position_ids.long()]).flatten(-2).to(x.dtype)


def longer_base(base: float, factor: float, d_head: int) -> float:
    """base · factor^(d_head / (d_head - 2)): the slowest pair turns factor times more slowly, the fastest as before.

    Given, no part of an exercise ("NTK-aware" scaling; Peng et al. 2024, section 3.1): so a model reads texts factor
    times as long. Linear interpolation (Chen et al. 2023) divides the positions instead, those of the fastest pair too.
    Raises ValueError for an odd d_head, one below 4, a base that is not positive or a factor below 1.
    """
    check_even("d_head", d_head)
    _check_base(base)
    check_number("factor", factor)
    if d_head < 4 or factor < 1:
        raise ValueError(f"d_head must be at least 4 and factor at least 1, got {d_head} and {factor}")
    return base * factor ** (d_head / (d_head - 2))


def half_split(x: Tensor) -> Tensor:
    """From pairs of neighbours (2i, 2i + 1) to pairs half a head apart (i, i + d_head / 2), along the last axis.

    Given, no part of an exercise. Llama in Hugging Face's form and GPT-NeoX rotate the second kind of pairs:
    `half_split(apply_rotary(interleaved(x)))` is what they do to x. Where queries and keys are permuted alike, scores
    stay as they are, so it is enough to convert the rows of each head in the two projections, once.
    The pairs: Su et al. 2021. x: (..., d_head); returns the same shape and dtype.
    Raises ValueError for an odd d_head or no axis, TypeError for what is no tensor.
    """
    check_vectors(x)
    check_even("d_head", x.shape[-1])
    return torch.cat((x[..., ::2], x[..., 1::2]), dim=-1)


def interleaved(x: Tensor) -> Tensor:
    """The inverse of half_split: from pairs (i, i + d_head / 2) to pairs of neighbours   (Su et al. 2021).

    x: (..., d_head); returns the same shape and dtype.
    Raises ValueError for an odd d_head or no axis, TypeError for what is no tensor.
    """
    check_vectors(x)
    check_even("d_head", x.shape[-1])
    return torch.stack(x.chunk(2, dim=-1), dim=-1).flatten(-2)


def alibi_bias(num_heads: int, query_length: int, key_length: int | None = None) -> Tensor:
    """-slope_h · |i + (S - L) - j|, to be added to scores: the further a key, the less it counts   (Press et al. 2022).

    num_heads: H, a power of two; head h = 1 … H has the slope 2^(-8h / H)
    query_length: L; key_length: S, the same as L where it is None; aligned to the end, like causal_mask
    Returns (H, L, S) in the default dtype.
    Raises ValueError for an H that is no power of two or a negative length.
    """
    check_length("num_heads", num_heads, least=1)
    if num_heads & (num_heads - 1):
        raise ValueError(f"num_heads must be a power of two for ALiBi's slopes, got {num_heads}; try 2, 4, 8 or 16")
    if key_length is None:
        key_length = query_length
    check_length("query_length", query_length)
    check_length("key_length", key_length)
    raise NotImplementedError("exercise 6.6: ALiBi")


def _check_base(base: float) -> None:
    check_number("base", base)
    if not base > 0:
        raise ValueError(f"base must be positive, got {base}; the usual value is 10000")


def _check_input(x: Tensor, d_model: int, max_length: int) -> None:
    check_floating(x=x)
    check_batched(x=x)
    if x.shape[-1] != d_model:
        raise ValueError(
            f"x must be (B, L, {d_model}), got shape {tuple(x.shape)}; the module was made for that d_model"
        )
    if x.shape[1] > max_length:
        raise ValueError(
            f"x must be at most {max_length} long, got {x.shape[1]}; make the module with a larger max_length"
        )
