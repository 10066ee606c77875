"""Reads and writes parts of an array: positions, slices, masks, lists of positions."""

from __future__ import annotations

import math

from ._dtypes import NotInThePage, dtype


def flattened(value) -> tuple[tuple, list, set]:
    """Shape, entries and the kinds of the entries of nested lists, tuples, arrays and numbers."""
    if isinstance(value, (bool, int, float)) and type(value) in (bool, int, float):
        return (), [value], {type(value)}
    if isinstance(getattr(value, "dtype", None), dtype):  # an array, or a number of NumPy's
        found = value if hasattr(value, "_values") else value.as_array()
        return found.shape, found._values(), {found.dtype}
    if isinstance(value, (bool, int, float)):
        return (), [value], {float if isinstance(value, float) else int}
    if not isinstance(value, (list, tuple, range)):
        if hasattr(value, "__index__") or hasattr(value, "__float__"):
            return (), [float(value)], {float}
        raise NotInThePage(f"arrays of {type(value).__name__}")
    shapes, flat, kinds = [], [], set()
    for row in value:
        shape, entries, inner = flattened(row)
        shapes.append(shape)
        flat += entries
        kinds |= inner
    if len(set(shapes)) > 1:
        depth = len(_shared(shapes))
        detected = (len(value), *_shared(shapes))
        raise ValueError(
            "setting an array element with a sequence. The requested array has an inhomogeneous shape after "
            f"{depth + 1} dimensions. The detected shape was {detected} + inhomogeneous part."
        )
    return (len(value), *(shapes[0] if shapes else ())), flat, kinds


def _shared(shapes: list) -> list:
    """The leading lengths that all shapes have."""
    shared = []
    for lengths in zip(*shapes, strict=False):
        if len(set(lengths)) > 1:
            break
        shared.append(lengths[0])
    return shared


def nested(flat: list, shape: tuple):
    """A flat list as nested lists."""
    if not shape:
        return flat[0]
    if len(shape) == 1:
        return list(flat)
    step = math.prod(shape[1:])
    return [nested(flat[at * step : (at + 1) * step], shape[1:]) for at in range(shape[0])]


def look_up(array, index):
    """A view where the index is made of positions and slices, else a copy."""
    from ._array import make

    view, advanced = _viewed(array, index)
    if not advanced:
        return view
    places, shape = _chosen(view, advanced)
    return make([view._store[place] for place in places], shape, array.dtype)


def assign(array, index, value) -> None:
    """Writes a value, which broadcasts, into a part of an array."""
    view, advanced = _viewed(array, index)
    places, shape = _chosen(view, advanced) if advanced else (view._places(), view.shape)
    entries = _spread(value, shape)
    if value.dtype is not array.dtype:
        entries = array.dtype.cast(entries)
    store = array._store
    for place, entry in zip(places, entries, strict=True):
        store[place] = entry


def _spread(value, shape: tuple) -> list:
    """The entries of a value that is broadcast to the shape of the place it is written to."""
    from ._array import shape_text

    given = value.shape
    while len(given) > len(shape) and given[0] == 1:
        given = given[1:]
    padded = (1,) * (len(shape) - len(given)) + given
    if len(given) > len(shape) or any(one not in (1, want) for one, want in zip(padded, shape, strict=True)):
        text = f"from shape {shape_text(value.shape)} into shape {shape_text(shape)}"
        if shape == ():
            raise ValueError("setting an array element with a sequence.")
        raise ValueError(f"could not broadcast input array {text}")
    return spread(value.reshape(given), shape)._values()


def spread(array, shape: tuple):
    """A view of an array with the lengths of a shape it broadcasts to."""
    added = len(shape) - array.ndim
    pairs = zip(array.shape, array._strides, shape[added:], strict=True)
    strides = [0 if have == 1 and want != 1 else stride for have, stride, want in pairs]
    return array._view(array._start, shape, (0,) * added + tuple(strides))


def _viewed(array, index) -> tuple:
    """The view that positions and slices give, and what else was asked for: by axis of the view, an array."""
    from ._array import asarray

    parts = list(index) if isinstance(index, tuple) else [index]
    parts = [asarray(one) if isinstance(one, (list, range)) else one for one in parts]
    used = sum(_axes_of(one) for one in parts)
    if used > array.ndim:
        text = f"array is {array.ndim}-dimensional, but {used} were indexed"
        raise IndexError(f"too many indices for array: {text}")
    dots = next((at for at, one in enumerate(parts) if one is Ellipsis), None)
    rest = [slice(None)] * (array.ndim - used)
    parts = [*parts, *rest] if dots is None else [*parts[:dots], *rest, *parts[dots + 1 :]]
    start, shape, strides, axis, advanced = array._start, [], [], 0, {}
    for one in parts:
        if one is None:
            shape.append(1)
            strides.append(0)
            continue
        if _is_array(one):
            advanced[len(shape)] = (one, axis)
            for at in range(axis, axis + _axes_of(one)):
                shape.append(array.shape[at])
                strides.append(array._strides[at])
            axis += _axes_of(one)
            continue
        length, stride = array.shape[axis], array._strides[axis]
        if isinstance(one, slice):
            first, _, step = one.indices(length)
            count = len(range(*one.indices(length)))
            start += first * stride if count else 0
            shape.append(count)
            strides.append(step * stride)
        else:
            start += _position(one, length, axis) * stride
        axis += 1
    return array._view(start, shape, strides), advanced


def _is_array(one) -> bool:
    return hasattr(one, "_values") and (one.ndim > 0 or one.dtype.kind == "b")


def _axes_of(one) -> int:
    if one is None or one is Ellipsis:
        return 0
    return one.ndim if _is_array(one) and one.dtype.kind == "b" else 1


def _position(one, length: int, axis: int) -> int:
    if isinstance(one, (bool, float, str)) or not hasattr(one, "__index__"):
        raise IndexError(
            "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean arrays are "
            "valid indices"
        )
    at = one.__index__()
    if not -length <= at < length:
        raise IndexError(f"index {at} is out of bounds for axis {axis} with size {length}")
    return at % length


def _chosen(view, advanced: dict) -> tuple[list, tuple]:
    """The places, and the shape, of what masks and lists of positions choose from a view."""
    from ._ufuncs import broadcast_shapes

    axes, indices = [], []
    for at, (one, axis) in advanced.items():
        if one.dtype.kind == "f":
            raise IndexError("arrays used as indices must be of integer (or boolean) type")
        for offset, (positions, shape) in enumerate(_positions(one, view.shape[at:], axis)):
            axes.append(at + offset)
            indices.append((positions, shape))
    whole = broadcast_shapes(*(shape for _, shape in indices))
    count = math.prod(whole)
    spread_out = [_repeat(positions, shape, whole) for positions, shape in indices]
    offsets = [
        sum(
            view._strides[axis] * _position(one[at], view.shape[axis], axis)
            for axis, one in zip(axes, spread_out, strict=True)
        )
        for at in range(count)
    ]
    kept = [axis for axis in range(view.ndim) if axis not in axes]
    together = axes == list(range(axes[0], axes[-1] + 1))
    before = [axis for axis in kept if axis < axes[0]] if together else []
    after = [axis for axis in kept if axis not in before]
    places = [view._start]
    for axis in before:
        places = [place + view._strides[axis] * step for place in places for step in range(view.shape[axis])]
    places = [place + offset for place in places for offset in offsets]
    for axis in after:
        places = [place + view._strides[axis] * step for place in places for step in range(view.shape[axis])]
    lengths = ([view.shape[axis] for axis in some] for some in (before, after))
    first, last = lengths
    return places, (*first, *whole, *last)


def _positions(one, lengths: tuple, axis: int) -> list:
    """The positions that an index array means along each axis it stands for."""
    if one.dtype.kind != "b":
        return [(one._values(), one.shape)]
    for at, (have, want) in enumerate(zip(one.shape, lengths, strict=False)):
        if have != want:
            raise IndexError(
                f"boolean index did not match indexed array along axis {axis + at}; size of axis is {want} but size "
                f"of corresponding boolean axis is {have}"
            )
    chosen = [at for at, value in enumerate(one._values()) if value]
    found, step = [], 1
    for length in reversed(one.shape):
        found.append(([at // step % length for at in chosen], (len(chosen),)))
        step *= length
    return found[::-1]


def _repeat(positions: list, shape: tuple, whole: tuple) -> list:
    from ._array import make
    from ._dtypes import INT64

    return spread(make(positions, shape, INT64), whole)._values()
