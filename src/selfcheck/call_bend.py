"""Moves numbers a little: what a watched function is given, and the masks that it makes.

No two calls move alike, and nothing tells beforehand how: code that knew it could give the function what is moved to
the right input.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

FLIPPED_FROM = 1e-3  # a mask has no small changes: a weaker bend leaves it as it is
PRIME = 2**31 - 1
LEAST = 0.3  # of the bend: each number is moved by this much, or more


def bent(value: Any, by: float) -> Any:
    """What floating numbers become when each is moved a little, no two neighbours alike; the rest as it is."""
    if type(value) in (list, tuple):
        return type(value)(_bent_number(item, by) if type(item) is float else bent(item, by) for item in value)
    if type(value) is float:  # a setting, such as eps
        return value
    torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
    if torch and issubclass(type(value), torch.Tensor):
        with torch._C.DisableTorchFunction():  # what a subclass or a mode makes of these operations is not asked
            return _bent_tensor(value, by)
    if numpy and issubclass(type(value), numpy.ndarray) and value.dtype.kind == "f":
        value = numpy.asarray(value)
        moves = _moves()(numpy.arange(value.size)).reshape(value.shape) * by
        return value * (1 + moves) + moves
    return value


def _bent_number(value: float, by: float) -> float:
    move = float(_moves()(1)) * by
    return value * (1 + move) + move


def _moves() -> Callable[[Any], Any]:
    """What makes of places, as whole numbers, by how much each is moved: between LEAST and 1, of either sign."""
    square, factor, start = (int.from_bytes(os.urandom(4), "little") % PRIME for _ in range(3))

    def moves(place: Any) -> Any:
        place = place % PRIME
        mixed = ((place * square % PRIME + factor) * place + start) % PRIME
        share = mixed / (PRIME / 2) - 1
        return LEAST * (1 - 2 * (share < 0)) + (1 - LEAST) * share

    return moves


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
    places = torch.arange(value.numel(), device=value.device).reshape(value.shape)
    moves = (_moves()(places).double() * by).to(value.dtype)
    return value * (1 + moves) + moves


def flipped(made: Any, by: float) -> Any:
    """A mask with its last entry turned round; everything else, and what a weak bend leaves alone, as it is."""
    torch = sys.modules.get("torch")
    if by >= FLIPPED_FROM and torch and type(made) is torch.Tensor and made.dtype == torch.bool and made.numel():
        made = made.clone()
        made.view(-1)[-1] ^= True
    return made
