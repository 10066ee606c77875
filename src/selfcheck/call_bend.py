"""Moves numbers a little: what a watched function is given, and the masks that it makes."""

from __future__ import annotations

import sys
from typing import Any

FLIPPED_FROM = 1e-3  # a mask has no small changes: a weaker bend leaves it as it is


def bent(value: Any, by: float) -> Any:
    """What floating numbers become when each is moved a little, no two neighbours alike; the rest as it is."""
    if type(value) in (list, tuple):
        return type(value)(bent(item, by) for item in value)
    if type(value) is float:
        return value
    torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
    if torch and isinstance(value, torch.Tensor):
        if not value.is_floating_point() or value.is_quantized or value.layout != torch.strided or value.is_nested:
            return value
        pattern = torch.arange(value.numel(), dtype=torch.float64, device=value.device).reshape(value.shape)
        moves = (((pattern * 7 + 3) % 11 - 5) * (by / 5)).to(value.dtype)
        return value * (1 + moves) + moves
    if numpy and isinstance(value, numpy.ndarray) and value.dtype.kind == "f":
        moves = ((numpy.arange(value.size) * 7 + 3) % 11 - 5).reshape(value.shape) * (by / 5)
        return value * (1 + moves) + moves
    return value


def flipped(made: Any, by: float) -> Any:
    """A mask with its last entry turned round; everything else, and what a weak bend leaves alone, as it is."""
    torch = sys.modules.get("torch")
    if by >= FLIPPED_FROM and torch and type(made) is torch.Tensor and made.dtype == torch.bool and made.numel():
        made = made.clone()
        made.view(-1)[-1] ^= True
    return made
