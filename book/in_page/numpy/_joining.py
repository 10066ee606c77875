"""Joins arrays, cuts them apart and moves their axes."""

from __future__ import annotations

import math

from ._array import asarray, is_whole, make, ndarray, normal_axis
from ._dtypes import common


def _arrays(given) -> list:
    arrays = [asarray(one) for one in given]
    if not arrays:
        raise ValueError("need at least one array to concatenate")
    return arrays


def concatenate(arrays, axis=0):
    arrays = _arrays(arrays)
    if axis is None:
        arrays, axis = [one.ravel() for one in arrays], 0
    if not arrays[0].ndim:
        raise ValueError("zero-dimensional arrays cannot be concatenated")
    axis = normal_axis(axis, arrays[0].ndim)
    first = arrays[0].shape
    for at, one in enumerate(arrays):
        if one.ndim != len(first):
            raise ValueError(
                "all the input arrays must have same number of dimensions, but the array at index 0 has "
                f"{len(first)} dimension(s) and the array at index {at} has {one.ndim} dimension(s)"
            )
        for dimension, (have, want) in enumerate(zip(one.shape, first, strict=True)):
            if dimension != axis and have != want:
                raise ValueError(
                    "all the input array dimensions except for the concatenation axis must match exactly, but along "
                    f"dimension {dimension}, the array at index 0 has size {want} and the array at index {at} has "
                    f"size {have}"
                )
    kind = arrays[0].dtype
    for one in arrays[1:]:
        kind = common(kind, one.dtype)
    before = math.prod(first[:axis])
    flats = [(one._values(), math.prod(one.shape[axis:])) for one in arrays]
    found = [value for at in range(before) for flat, step in flats for value in flat[at * step : (at + 1) * step]]
    length = sum(one.shape[axis] for one in arrays)
    return make(kind.cast(found), (*first[:axis], length, *first[axis + 1 :]), kind)


def stack(arrays, axis=0):
    arrays = _arrays(arrays)
    if len({one.shape for one in arrays}) > 1:
        raise ValueError("all input arrays must have the same shape")
    return concatenate([expand_dims(one, axis) for one in arrays], axis)


def vstack(arrays):
    return concatenate([atleast_2d(one) for one in arrays], 0)


row_stack = vstack


def hstack(arrays):
    arrays = [atleast_1d(one) for one in arrays]
    return concatenate(arrays, 0 if arrays and arrays[0].ndim == 1 else 1)


def column_stack(arrays):
    arrays = [asarray(one) for one in arrays]
    return concatenate([one.reshape(-1, 1) if one.ndim < 2 else one for one in arrays], 1)


def atleast_1d(a):
    a = asarray(a)
    return a if a.ndim else a.reshape(1)


def atleast_2d(a):
    a = asarray(a)
    return a if a.ndim > 1 else a.reshape(1, -1)


def split(array, indices_or_sections, axis=0):
    array = asarray(array)
    length = array.shape[normal_axis(axis, array.ndim)]
    if is_whole(indices_or_sections):
        count = indices_or_sections.__index__()
        if length % count:
            raise ValueError("array split does not result in an equal division")
        ends = [length // count * at for at in range(1, count)]
    else:
        ends = [int(one) for one in indices_or_sections]
    front = (slice(None),) * normal_axis(axis, array.ndim)
    return [array[(*front, slice(start, end))] for start, end in zip([0, *ends], [*ends, length], strict=True)]


def expand_dims(a, axis):
    a = asarray(a)
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    places = [normal_axis(one, a.ndim + len(axes)) for one in axes]
    lengths = iter(a.shape)
    return a.reshape([1 if at in places else next(lengths) for at in range(a.ndim + len(axes))])


def squeeze(a, axis=None):
    return asarray(a).squeeze(axis)


def reshape(a, shape, order="C"):
    return asarray(a).reshape(shape, order=order)


def ravel(a):
    return asarray(a).ravel()


def transpose(a, axes=None):
    a = asarray(a)
    return a.transpose() if axes is None else a.transpose(axes)


permute_dims = transpose


def matrix_transpose(x):
    return asarray(x).mT


def swapaxes(a, axis1, axis2):
    return asarray(a).swapaxes(axis1, axis2)


def moveaxis(a, source, destination):
    a = asarray(a)
    sources, targets = ((one,) if is_whole(one) else one for one in (source, destination))
    sources, targets = ([normal_axis(one, a.ndim) for one in some] for some in (sources, targets))
    order = [one for one in range(a.ndim) if one not in sources]
    for target, source in sorted(zip(targets, sources, strict=True)):
        order.insert(target, source)
    return a.transpose(order)


def flip(m, axis=None):
    m = asarray(m)
    axes = range(m.ndim) if axis is None else [normal_axis(axis, m.ndim)]
    return m[tuple(slice(None, None, -1) if at in axes else slice(None) for at in range(m.ndim))]


def tile(A, reps):  # noqa: N803  (NumPy's name)
    a, reps = asarray(A), (reps,) if is_whole(reps) else tuple(reps)
    dimensions = max(a.ndim, len(reps))
    a = a.reshape((1,) * (dimensions - a.ndim) + a.shape)
    for axis, count in enumerate((1,) * (dimensions - len(reps)) + reps):
        a = concatenate([a] * count, axis) if count > 1 else a
    return a.copy()


def repeat(a, repeats, axis=None):
    a = asarray(a)
    a, axis = (a.ravel(), 0) if axis is None else (a, axis)
    positions = [at for at in range(a.shape[axis]) for _ in range(repeats)]
    return take(a, positions, axis)


def take(a, indices, axis=None):
    a = asarray(a)
    a, axis = (a.ravel(), 0) if axis is None else (a, normal_axis(axis, a.ndim))
    found = a[(*(slice(None),) * axis, asarray(indices, int))]
    return found if isinstance(found, ndarray) else asarray(found)


def diag(v, k=0):
    v = asarray(v)
    if v.ndim == 1:
        size = v.size + abs(k)
        made = make(v.dtype.cast([0] * size * size), (size, size), v.dtype)
        for at, value in enumerate(v._values()):
            made[at + max(-k, 0), at + max(k, 0)] = value
        return made
    rows, columns = v.shape
    entries = [v[at, at + k] for at in range(rows) if 0 <= at + k < columns]
    return asarray(entries, v.dtype)


__all__ = [
    name
    for name in dir()
    if not name.startswith("_") and name not in ("annotations", "common", "is_whole", "math", "make", "normal_axis")
]
