"""Moves numbers a little: what a watched function is given, and the masks that it makes.

A number moves for two reasons: by its size, as a curve has it that is this process's own, and by chance, in each call
anew. Nothing tells either beforehand: code that knew them could give the function what is moved to the right input. The
part of chance keeps code from undoing the curve; the curve stays where code takes the mean over many calls, in which
chance has none.
"""

from __future__ import annotations

import functools
import math
import os
import sys
from collections.abc import Callable
from typing import Any

FLIPPED_FROM = 1e-3  # a mask has no small changes: a weaker bend leaves it as it is
PRIME = 2**31 - 1
LEAST = 0.2  # of the bend: each number is moved by half as much by its size, and more by chance


def bent(value: Any, by: float) -> Any:
    """What floating numbers become when each is moved a little, no two neighbours alike; the rest as it is."""
    if type(value) in (list, tuple):
        return type(value)(_bent_number(item, by) if type(item) is float else bent(item, by) for item in value)
    if type(value) is float:  # a setting, such as eps
        return value
    torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
    if torch and issubclass(type(value), torch.Tensor):
        # What a subclass or a mode makes of these operations is not asked: it could undo them.
        with torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch():
            return _bent_tensor(value, by)
    if numpy and issubclass(type(value), numpy.ndarray) and value.dtype.kind == "f":
        value = numpy.asarray(value)
        numbers = numpy.where(numpy.isfinite(value), value, 0.0).astype(float)
        by_chance = _chance()(numpy.arange(value.size)).reshape(value.shape)
        return (value + by * (1 + abs(numbers)) * _curve()(numbers, by_chance, numpy.sin)).astype(value.dtype)
    return value


def _bent_number(value: float, by: float) -> float:
    if not math.isfinite(value):
        return value
    return value + by * (1 + abs(value)) * float(_curve()(value, float(_chance()(1)), math.sin))


def _chance() -> Callable[[Any], Any]:
    """What makes of places, as whole numbers, by how much chance moves each: between 0 and 1, no two calls alike."""
    square, factor, start = (int.from_bytes(os.urandom(4), "little") % PRIME for _ in range(3))

    def moves(place: Any) -> Any:
        place = place % PRIME
        return ((place * square % PRIME + factor) * place + start) % PRIME / PRIME

    return moves


@functools.cache
def _curve() -> Callable[[Any, Any, Callable[[Any], Any]], Any]:
    """What makes of numbers, and of the part of chance, by how much each is moved: up to 1, all in one direction."""
    pace, start, direction = (int.from_bytes(os.urandom(4), "little") / 2**32 for _ in range(3))
    sign = 1.0 if direction < 0.5 else -1.0

    def moves(numbers: Any, by_chance: Any, sine: Callable[[Any], Any]) -> Any:
        by_size = LEAST + (1 - LEAST) * (1 + sine((1 + 2 * pace) * numbers + 2 * math.pi * start)) / 2
        return sign * (by_size + by_chance) / 2

    return moves


def _bent_tensor(value: Any, by: float) -> Any:
    """A tensor whose floating numbers are moved, in its own layout."""
    import torch

    if not value.is_floating_point() or value.is_quantized:
        return value
    if torch._C._dispatch_keys(value).has(torch._C.DispatchKey.Python) and _is_without_memory(value):
        raise TypeError("a tensor that holds others cannot be moved")  # counts as a use: see call_effect.py
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
    numbers = value.detach().double().nan_to_num(0.0, 0.0, 0.0)  # what is not finite stays as it is
    moves = by * (1 + numbers.abs()) * _curve()(numbers, _chance()(places).double(), torch.sin)
    return value + moves.to(value.dtype)


def _is_without_memory(value: Any) -> bool:
    return value.numel() > 0 and (str(value.layout) != "torch.strided" or not value.data_ptr())


def flipped(made: Any, by: float) -> Any:
    """A mask with its last entry turned round; everything else, and what a weak bend leaves alone, as it is."""
    torch = sys.modules.get("torch")
    if by >= FLIPPED_FROM and torch and type(made) is torch.Tensor and made.dtype == torch.bool and made.numel():
        made = made.clone()
        made.view(-1)[-1] ^= True
    return made
