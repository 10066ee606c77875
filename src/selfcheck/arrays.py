"""Plain arrays, the only values that pass between a learner's process and the one that compares.

Standard library only: no NumPy and no torch unless a value is one of theirs.
"""

from __future__ import annotations

import base64
import binascii
import itertools
import math
import struct
import sys
from collections.abc import Callable, Iterable, MutableSequence, Sequence
from dataclasses import dataclass
from types import FunctionType, GeneratorType
from typing import Any

from .held import Room

#: struct letters per dtype; bfloat16 has none and is widened by hand.
LETTERS = {"float64": "d", "float32": "f", "float16": "e", "int64": "q", "int32": "i", "int16": "h", "int8": "b"}
LETTERS |= {"uint8": "B", "bool": "?"}
SIZES = {name: struct.calcsize("<" + letter) for name, letter in LETTERS.items()} | {"bfloat16": 2}
#: Reads a number from its text, by the name of its type.
NUMBERS: dict[str, Callable[[str], bool | int | float]] = {
    "bool": lambda text: text == "True",
    "int": int,
    "float": float,
}
MOST_ENTRIES = 200_000
MOST_ITEMS = 1000  # of a tuple
MOST_DEPTH = 8
#: What a `return` of one line makes of several results; `(… for …)` does so too.
ONE_LINERS: tuple[type, ...] = (map, zip, type({}.values()))
MOST_AXES = 64  # as many as torch and NumPy know


@dataclass(frozen=True)
class Array:
    """An array as dtype, shape and little-endian bytes; kind says what it is on the learner's side."""

    kind: str  # "tensor", "ndarray" or "list"
    dtype: str
    shape: tuple[int, ...]
    data: bytes

    def values(self) -> list[Any]:
        """All entries in row-major order, as Python numbers."""
        count = len(self.data) // SIZES[self.dtype]
        if self.dtype == "bfloat16":
            halves = struct.unpack(f"<{count}H", self.data)
            return list(struct.unpack(f"<{count}f", struct.pack(f"<{count}I", *(half << 16 for half in halves))))
        return list(struct.unpack(f"<{count}{LETTERS[self.dtype]}", self.data))

    def nested(self) -> Any:
        """The entries as nested lists; a number where the shape is ()."""
        return nest(self.values(), self.shape)

    @property
    def floating(self) -> bool:
        return "float" in self.dtype


def array(values: Any, kind: str = "list", dtype: str | None = None) -> Array:
    """An Array from nested lists of numbers; ValueError where they are ragged or hold something else."""
    return _array(*_flatten(values), kind, dtype)


def _array(shape: tuple[int, ...], flat: list[Any], kind: str = "list", dtype: str | None = None) -> Array:
    if dtype is None:
        kinds = {type(value) for value in flat}
        dtype = "bool" if kinds == {bool} else "int64" if kinds and float not in kinds else "float64"
    if dtype == "bfloat16":
        words = struct.unpack(f"<{len(flat)}I", struct.pack(f"<{len(flat)}f", *flat))
        return Array(kind, dtype, shape, struct.pack(f"<{len(flat)}H", *(word >> 16 for word in words)))
    if "float" in dtype:
        flat = [float(value) for value in flat]
    try:
        return Array(kind, dtype, shape, struct.pack(f"<{len(flat)}{LETTERS[dtype]}", *flat))
    except struct.error as error:
        raise ValueError(f"a number does not fit {dtype}: {error}") from None


def nest(flat: list[Any], shape: tuple[int, ...]) -> Any:
    """A flat list as nested lists of a shape."""
    if not shape:
        return flat[0]
    step = math.prod(shape[1:])
    return [nest(flat[i * step : (i + 1) * step], shape[1:]) for i in range(shape[0])]


def _flatten(values: Any, depth: int = 0, has_arrays: bool = False) -> tuple[tuple[int, ...], list[Any]]:
    """Shape and entries; has_arrays: whether arrays may stand among the lists, as if they were nested lists."""
    if isinstance(values, (bool, int, float)):
        return (), [_plain(values)]
    if has_arrays and isinstance(values, Array):
        shape = values.shape[: values.shape.index(0) + 1] if 0 in values.shape else values.shape  # [] has no inside
        if depth + len(shape) <= MOST_DEPTH + 1:
            return shape, values.values()
    if not isinstance(values, (list, tuple)) or depth > MOST_DEPTH:
        if isinstance(getattr(values, "shape", None), tuple) and values.shape == () and hasattr(values, "item"):
            return (), [values.item()]  # a NumPy scalar
        raise ValueError(f"not a number: {type(values).__name__}")
    shapes, flat = set(), []
    for value in values:
        inner, entries = _flatten(value, depth + 1, has_arrays)
        shapes.add(inner)
        flat += entries
        if len(shapes) > 1:
            raise ValueError("rows of different lengths")
        if len(flat) > MOST_ENTRIES:
            raise ValueError("too many entries")
    return (len(values), *(shapes.pop() if shapes else ())), flat


def pack(value: Any) -> dict[str, Any]:
    """Any value as a JSON tree; what is no plain array, number or container of them becomes its type's name."""
    if isinstance(value, Array):
        return _tree(value.kind, value.dtype, value.shape, value.data)
    if value is None:
        return {"kind": "none"}
    if isinstance(value, (bool, int, float)):
        value = _plain(value)
        return {"kind": "number", "type": type(value).__name__, "value": _number_text(value)}
    if isinstance(value, str):
        return {"kind": "text", "value": value[:1000]}
    torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
    if torch and issubclass(type(value), torch.Tensor):  # a subclass of somebody's own, too
        return _pack_tensor(value)
    if torch and type(value) is torch.dtype:
        return {"kind": "dtype", "value": str(value).removeprefix("torch.")}
    if numpy and issubclass(type(value), (numpy.ndarray, numpy.generic)):
        return _pack_ndarray(value)
    value = unpacked(value)
    if isinstance(value, (list, tuple)):
        try:
            if isinstance(value, list):
                return pack(array(value))
        except (ValueError, OverflowError):
            pass
        if len(value) <= MOST_ITEMS:
            kind = "tuple" if isinstance(value, tuple) else "items"
            return {"kind": kind, "items": [pack(item) for item in value]}
    return {"kind": "other", "type": type(value).__name__}


def _tree(kind: str, dtype: str, shape: Iterable[int], data: bytes) -> dict[str, Any]:
    text = binascii.b2a_base64(data, newline=False).decode("ascii")
    return {"kind": kind, "dtype": dtype, "shape": list(shape), "data": text}


def unpacked(value: Any) -> Any:
    """An object that unpacks as a tuple does, as a tuple; everything else, arrays and the like among it, as it is."""
    kind = type(value)
    unpacks = isinstance(getattr(kind, "__iter__", None), FunctionType)  # as of a class that is written in Python
    is_array = hasattr(kind, "__getitem__") or hasattr(kind, "__array__")
    is_fixed = issubclass(kind, Sequence) and not issubclass(kind, MutableSequence)
    if kind in ONE_LINERS or (kind is GeneratorType and value.gi_code.co_name == "<genexpr>"):
        return tuple(itertools.islice(value, MOST_ITEMS + 1))
    if unpacks and (hasattr(kind, "__dataclass_fields__") or is_fixed or not is_array):
        return tuple(itertools.islice(iter(value), MOST_ITEMS + 1))
    return value


def unpack(tree: dict[str, Any]) -> Any:
    """The trusted side's form of a tree: Array, number, None, tuple or list of them, or the tree itself for the rest.

    Raises ValueError for a tree that no `pack` would make: it comes from a hostile process.
    """
    try:
        kind = tree["kind"]
        if kind in ("tensor", "ndarray", "list"):
            array = Array(kind, tree["dtype"], tuple(tree["shape"]), base64.b64decode(tree["data"], validate=True))
            lengths = all(type(length) is int and 0 <= length < 2**48 for length in array.shape)
            if not lengths or len(array.shape) > MOST_AXES:
                raise ValueError("no shape")
            if math.prod(array.shape) * SIZES[array.dtype] != len(array.data):
                raise ValueError("shape and data disagree")
            if math.prod(length or 1 for length in array.shape) > MOST_ENTRIES:  # lists of empty rows grow as well
                raise ValueError("too many entries")
            return array
        if kind == "none":
            return None
        if kind == "number":
            return NUMBERS[tree["type"]](tree["value"])
        if kind == "tuple":
            return tuple(unpack(item) for item in tree["items"])
        if kind == "items":
            return [unpack(item) for item in tree["items"]]
    except (KeyError, TypeError, AttributeError, RecursionError, OverflowError) as error:
        raise ValueError(f"not an answer: {type(error).__name__}") from None
    return tree


def revive(tree: dict[str, Any], room: Room | None = None) -> Any:
    """The learner's side's form of a tree: tensors, NumPy arrays, nested lists, numbers.

    room: where the memory of arrays is to lie; None for memory of their own
    """
    if tree["kind"] == "text":
        return tree["value"]
    if tree["kind"] == "dtype":
        import torch

        return getattr(torch, tree["value"])
    if tree["kind"] in ("tuple", "items"):
        items = [revive(item, room) for item in tree["items"]]
        return tuple(items) if tree["kind"] == "tuple" else items
    value = unpack(tree)
    if not isinstance(value, Array) or value.kind == "list":
        return value.nested() if isinstance(value, Array) else value
    if value.kind == "ndarray":
        import numpy

        if room and value.data:
            return numpy.frombuffer(room.put(value.data), dtype=value.dtype).reshape(value.shape)
        return numpy.frombuffer(value.data, dtype=value.dtype).reshape(value.shape).copy()
    import ctypes

    import torch

    dtype = getattr(torch, value.dtype)
    if room and value.data:
        there = torch.frombuffer(room.put(value.data), dtype=dtype).view(value.shape)
        return torch.empty(0, dtype=dtype).set_(there.untyped_storage(), 0, there.shape, there.stride())  # no view
    made = torch.empty(value.shape, dtype=dtype)
    ctypes.memmove(made.data_ptr(), value.data, len(value.data))
    return made


def _pack_tensor(value: Any) -> dict[str, Any]:
    import torch

    if type(value) is not torch.Tensor:
        with torch._C.DisableTorchFunctionSubclass():  # what a subclass makes of its methods is not asked
            value = torch.Tensor.as_subclass(torch.Tensor.detach(value), torch.Tensor)
    dtype = str(value.dtype).removeprefix("torch.")
    if dtype not in SIZES or value.numel() > MOST_ENTRIES:
        return {"kind": "other", "type": f"tensor of dtype {dtype} and shape {tuple(value.shape)}"}
    return _tree("tensor", dtype, value.shape, _bytes_of(value))


def _bytes_of(tensor: Any) -> bytes:
    """The entries of a tensor in row-major order; RuntimeError where its memory was given back."""
    import ctypes

    if not tensor.is_cpu or not tensor.is_contiguous() or tensor.is_neg():
        tensor = tensor.detach().cpu().contiguous().resolve_neg()
    size = tensor.nbytes
    if tensor.untyped_storage().nbytes() < tensor.storage_offset() * tensor.itemsize + size:
        raise RuntimeError("the memory of a tensor was given back")
    return ctypes.string_at(tensor.data_ptr(), size)


def _pack_ndarray(value: Any) -> dict[str, Any]:
    import numpy

    value = numpy.asarray(value)  # of a subclass, its plain entries
    dtype = str(value.dtype)
    if dtype not in SIZES or value.size > MOST_ENTRIES:
        return {"kind": "other", "type": f"NumPy array of dtype {dtype} and shape {tuple(value.shape)}"}
    if sys.byteorder != "little":
        value = value.astype(value.dtype.newbyteorder("<"))
    return _tree("ndarray", dtype, value.shape, value.tobytes())


def _plain(number: float) -> float:
    """A Python number: numpy.float64 is a float by inheritance, but not by type."""
    if type(number) in (bool, int, float):
        return number
    return float(number) if isinstance(number, float) else int(number)


def _number_text(value: float) -> str:
    text = repr(value) if abs(value) < 1e300 or value != value or value in (math.inf, -math.inf) else "inf"
    return text[:100]


def as_array(value: Any) -> Array | None:
    """A number or nested numbers as an array; None for anything else, ragged rows among it."""
    if isinstance(value, Array):
        return value
    try:
        return _array(*_flatten(value, has_arrays=True))  # all at once: level by level, depth would cost as much again
    except (ValueError, OverflowError):  # something else, ragged rows, a number beyond all dtypes
        return None
