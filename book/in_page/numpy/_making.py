"""NumPy's functions that make arrays."""

from __future__ import annotations

import math

from . import _indexing
from ._array import array, asarray, is_whole, make
from ._dtypes import dtype as _dtype
from ._ufuncs import broadcast_shapes

asanyarray = ascontiguousarray = asarray


def _lengths(shape) -> tuple:
    return (shape.__index__(),) if is_whole(shape) else tuple(one.__index__() for one in shape)


def full(shape, fill_value, dtype=None):
    value = asarray(fill_value, dtype)
    return broadcast_to(value, _lengths(shape)).copy()


def zeros(shape, dtype=float):
    return full(shape, 0, dtype)


def ones(shape, dtype=float):
    return full(shape, 1, dtype)


empty = zeros


def full_like(a, fill_value, dtype=None):
    a = asarray(a)
    return full(a.shape, fill_value, dtype or a.dtype)


def zeros_like(a, dtype=None):
    return full_like(a, 0, dtype)


def ones_like(a, dtype=None):
    return full_like(a, 1, dtype)


empty_like = zeros_like


def copy(a):
    return array(a)


def frombuffer(buffer, dtype=float):
    import struct

    kind = _dtype(dtype)
    count = len(buffer) // kind.itemsize
    return make(list(struct.unpack(f"<{count}{kind.letter}", buffer)), (count,), kind)


def arange(*ends, dtype=None):
    start, stop, step = (0, *ends, 1) if len(ends) == 1 else (*ends, 1)[:3]
    count = max(0, math.ceil((stop - start) / step))
    return array([start + step * at for at in range(count)] or [], dtype or (None if count else int))


def linspace(start, stop, num=50, endpoint=True):
    parts = num - 1 if endpoint else num
    return array([start + (stop - start) * at / parts if parts else start for at in range(num)], float)


def tri(N, M=None, k=0, dtype=float):  # noqa: N803  (NumPy's names)
    return array([[int(j <= i + k) for j in range(N if M is None else M)] for i in range(N)], dtype)


def eye(N, M=None, k=0, dtype=float):  # noqa: N803
    return array([[int(j == i + k) for j in range(N if M is None else M)] for i in range(N)], dtype)


def identity(n, dtype=float):
    return eye(n, dtype=dtype)


def broadcast_to(value, shape):
    value, shape = asarray(value), _lengths(shape)
    if broadcast_shapes(value.shape, shape) != shape:
        text = f"operands could not be broadcast together with remapped shapes [original->remapped]: {value.shape} and "
        raise ValueError(f"{text}requested shape {shape}")
    return _indexing.spread(value, shape)


HELPERS = ("annotations", "broadcast_shapes", "is_whole", "make", "math")
__all__ = [name for name in dir() if not name.startswith("_") and name not in ("HELPERS", *HELPERS)]
