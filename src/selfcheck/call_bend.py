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
    if torch and issubclass(type(value), torch.Tensor):
        with torch._C.DisableTorchFunction():  # what a subclass or a mode makes of these operations is not asked
            return _bent_tensor(value, by)
    if numpy and issubclass(type(value), numpy.ndarray) and value.dtype.kind == "f":
        value = numpy.asarray(value)
        moves = ((numpy.arange(value.size) * 7 + 3) % 11 - 5).reshape(value.shape) * (by / 5)
        return value * (1 + moves) + moves
    return value


def _bent_tensor(value: Any, by: float) -> Any:
    """A tensor whose floating numbers are moved, in its own layout."""
    import torch

    if not value.is_floating_point() or value.is_quantized:
        return value
    if value.is_nested:
        return torch.nested.as_nested_tensor([_bent_tensor(one, by) for one in value.unbind()], layout=value.layout)
    if value.layout == torch._mkldnn:  # type: ignore[attr-defined]
        return _bent_tensor(value.to_dense(), by).to_mkldnn()
    if value.layout == torch.sparse_coo:
        value = value.coalesce()
        return torch.sparse_coo_tensor(
            value.indices(), _bent_tensor(value.values(), by), value.shape, check_invariants=False
        )
    if value.layout != torch.strided:
        return value
    pattern = torch.arange(value.numel(), dtype=torch.float64, device=value.device).reshape(value.shape)
    moves = (((pattern * 7 + 3) % 11 - 5) * (by / 5)).to(value.dtype)
    return value * (1 + moves) + moves


def flipped(made: Any, by: float) -> Any:
    """A mask with its last entry turned round; everything else, and what a weak bend leaves alone, as it is."""
    torch = sys.modules.get("torch")
    if by >= FLIPPED_FROM and torch and type(made) is torch.Tensor and made.dtype == torch.bool and made.numel():
        made = made.clone()
        made.view(-1)[-1] ^= True
    return made
