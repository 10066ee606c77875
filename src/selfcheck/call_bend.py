"""Moves numbers a little: what a watched function is given, and what it makes.

A number moves for two reasons: by its size, as a curve has it that is this process's own, and by chance, in each call
anew. Nothing tells either beforehand: code that knew them could give the function what is moved to the right input. The
part of chance keeps code from undoing the curve; the curve stays where code takes the mean over many calls, in which
chance has none.

What is given may hide its numbers, as an object of the learner's own or a closure does; what is made is moved as well.
"""

from __future__ import annotations

import functools
import math
import os
import sys
from collections.abc import Callable
from functools import partial
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

FLIPPED_FROM = 1e-3  # a mask has no small changes: a weaker bend leaves it as it is
PRIME = 2**31 - 1
LEAST = 0.2  # of the bend: each number is moved by half as much by its size, and more by chance
#: What makes an object of Python's own class of one whose class is made of that, whatever this has of its own.
_PLAINLY: dict[type, Callable[[Any], Any]] = {
    tuple: lambda value: tuple(tuple.__iter__(value)),
    list: lambda value: list(list.__iter__(value)),
    int: int.__int__,
    str: str.__str__,
}


def bent(value: Any, by: float) -> Any:
    """What floating numbers become when each is moved a little, no two neighbours alike; the rest as it is.

    Raises TypeError for a tensor whose numbers cannot be reached.
    """
    if type(value) in (list, tuple):
        return type(value)(_bent_number(item, by) if type(item) is float else bent(item, by) for item in value)
    if type(value) is dict:
        return {key: bent(item, by) for key, item in value.items()}
    if type(value) is float:  # a setting, such as eps
        return value
    torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
    if torch and issubclass(type(value), torch.Tensor):
        # What a subclass or a mode makes of these operations is not asked: it could undo them.
        with torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch():
            return _bent_tensor(value, by)
    if numpy and issubclass(type(value), numpy.ndarray) and value.dtype.kind in "fc":
        return _bent_array(numpy.asarray(value), by)
    return value


def made_otherwise(made: Any, given: tuple[Any, ...], by: float) -> Any:
    """What a function made, moved; where it is one of the tensors that were given, that one holds it.

    Raises TypeError for an object whose numbers cannot be reached: one of a learner's own, or of a trace.
    """
    torch, numpy, kind = sys.modules.get("torch"), sys.modules.get("numpy"), type(made)
    if torch and issubclass(kind, torch.Tensor):
        if kind is not torch.Tensor and _is_of_a_library(kind):  # has other attributes; what is made of it is moved
            return made
        moved = _flipped(made, by) if _is_mask(made) else _with_others_masked(bent(made, by), made, by)
        if not any(made is one for one in given):
            return moved
        with torch.no_grad(), torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch():
            made.copy_(moved)
        return made
    if kind is float:
        return _bent_number(made, by)
    if numpy and issubclass(kind, numpy.generic):
        return bent(numpy.asarray(made), by)[()]
    if kind in (list, tuple) or kind.__module__ == "torch.return_types":
        return kind([made_otherwise(item, given, by) for item in made])
    if kind is dict:
        return {key: made_otherwise(item, given, by) for key, item in made.items()}
    if made is None or isinstance(made, (FunctionType, BuiltinFunctionType, MethodType)) or _is_of_a_library(kind):
        return bent(made, by)
    raise TypeError(f"what is in a {kind.__qualname__} cannot be moved")  # counts as a use: see call_effect.py


def plain(value: Any) -> Any:
    """What is given to a function, with Python's own classes in place of those that are made of them.

    Raises TypeError for what may stand for numbers that cannot be moved: an object of one's own, which records what a
    function does with it, would know its steps. So would a function or a class that has attributes for this.
    """
    kind: type[Any] = type(value)
    if issubclass(kind, type):
        if not _is_of_a_library(value):
            raise TypeError("what is in a class cannot be moved")
        return value
    if kind in (FunctionType, MethodType, partial):
        if vars(value).keys() - {"__wrapped__"}:
            raise TypeError("a function that has attributes cannot be moved")
        return value
    torch = sys.modules.get("torch")
    if torch and issubclass(kind, torch.Tensor):
        return _of_torch(value)
    if torch and issubclass(kind, torch.nn.Module):  # whose attributes are anybody's
        raise TypeError("what is in a layer cannot be moved")
    if type(value) is dict:
        return {key: plain(item) for key, item in value.items()}
    if type(value) in (list, tuple):
        return type(value)([plain(item) for item in value])
    if value is None or _is_of_a_library(kind) or issubclass(kind, BuiltinFunctionType):
        return value
    if torch and issubclass(kind, torch._C._FunctionBase):  # what a function of autograd keeps for its derivative
        return value
    for own, plainly in _PLAINLY.items():
        if issubclass(kind, own):
            return plainly(value)
    raise TypeError(f"what is in a {kind.__qualname__} cannot be moved")


def _of_torch(value: Any) -> Any:
    """A tensor, as one of torch's own class where its numbers are not moved; `bent` does that where they are."""
    import torch

    with torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch():
        if _is_of_a_library(type(value)) or value.is_floating_point() or value.is_complex():
            return value
        if _holds_others(value):
            raise TypeError("a tensor that holds others cannot be moved")
        return value.as_subclass(torch.Tensor)


def _is_of_a_library(kind: type) -> bool:
    """Whether a class is Python's own or of a library of arrays, and its objects are no trace of operations."""
    package = kind.__module__.partition(".")[0]
    if package not in ("torch", "numpy", "keras", "builtins") or kind.__module__.startswith("torch.fx."):
        return False
    return getattr(sys.modules.get(kind.__module__), kind.__qualname__, None) is kind


def _bent_number(value: float, by: float) -> float:
    if not math.isfinite(value):
        return value
    return value + by * (1 + abs(value)) * float(_curve()(value, float(_chance()(1)), math.sin))


def _bent_array(value: Any, by: float) -> Any:
    import numpy

    if value.dtype.kind == "c":
        return _bent_array(value.real, by) + 1j * _bent_array(value.imag, by)
    numbers = numpy.where(numpy.isfinite(value), value, 0.0).astype(float)
    by_chance = _chance()(numpy.arange(value.size)).reshape(value.shape)
    return (value + by * (1 + abs(numbers)) * _curve()(numbers, by_chance, numpy.sin)).astype(value.dtype)


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

    if value.is_quantized:
        return _bent_quantized(value, by)
    if value.is_complex():
        return torch.view_as_complex(_bent_tensor(torch.view_as_real(value.resolve_conj()), by))
    if not value.is_floating_point():
        return value
    if _is_fake(value):
        return value
    if _holds_others(value):
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
    if value.layout != torch.strided:  # compressed rows or columns
        return _bent_tensor(value.to_dense(), by).to_sparse(layout=value.layout)
    places = torch.arange(value.numel(), device=value.device).reshape(value.shape)
    numbers = value.detach().double().nan_to_num(0.0, 0.0, 0.0)  # what is not finite stays as it is
    moves = by * (1 + numbers.abs()) * _curve()(numbers, _chance()(places).double(), torch.sin)
    return value + moves.to(value.dtype)


def _bent_quantized(value: Any, by: float) -> Any:
    import torch

    if value.qscheme() != torch.per_tensor_affine:
        raise TypeError("a tensor with a scale for each channel cannot be moved")
    moved = _bent_tensor(value.dequantize(), by)
    return torch.quantize_per_tensor(moved, value.q_scale(), value.q_zero_point(), value.dtype)


def _is_fake(value: Any) -> bool:
    """Whether a tensor has no numbers, as in a trace of torch's compiler of what flex_attention calls."""
    module = sys.modules.get("torch._subclasses.fake_tensor")
    return module is not None and type(value) is module.FakeTensor


def _holds_others(value: Any) -> bool:
    """Whether a tensor has no memory of its own, as a subclass that wraps others."""
    import torch

    if not torch._C._dispatch_keys(value).has(torch._C.DispatchKey.Python):
        return False
    return value.numel() > 0 and (str(value.layout) != "torch.strided" or not value.data_ptr())


def _is_mask(made: Any) -> bool:
    """Whether a tensor says yes or no: true and false, or 0 and infinite, as a mask to be added to scores does."""
    import torch

    with torch.no_grad(), torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch():
        if made.dtype == torch.bool:
            return True
        has_infinity = made.is_floating_point() or made.is_complex()
        if not has_infinity or made.layout != torch.strided or _holds_others(made):
            return False
        try:
            return bool((made.isinf() | (made == 0)).all())
        except RuntimeError:  # of many at once under torch.vmap, of none on the meta device: no single yes or no
            return False


def _with_others_masked(moved: Any, made: Any, by: float) -> Any:
    """Numbers of which chance has made about half of the infinite ones 0, and of those that were 0 ones: where they are
    may be a mask.
    """
    import torch

    if by < FLIPPED_FROM or made.layout != torch.strided or made.is_nested or not made.is_floating_point():
        return moved
    with torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch():
        infinite, zero = moved.detach().isinf(), made.detach() == 0
        return moved.masked_fill(infinite & _flipped(infinite, by), 0.0).masked_fill(zero & _flipped(zero, by), 1.0)


def _flipped(made: Any, by: float) -> Any:
    """A mask of which chance has turned round about half; as it is for a weak bend."""
    import torch

    if by < FLIPPED_FROM or not made.numel():
        return made
    with torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch():
        chance = _chance()(torch.arange(made.numel(), device=made.device)).reshape(made.shape) < 0.5
        if made.dtype == torch.bool:
            return made ^ chance
        other = torch.full_like(made, -torch.inf).masked_fill(made.isinf(), 0)
        return torch.where(chance, other, made)
