"""The array: a view of a list of numbers, with start, shape and strides."""

from __future__ import annotations

import math
import struct

from . import _indexing
from ._dtypes import BOOL, FLOAT32, FLOAT64, INT32, INT64, NotInThePage, dtype
from ._names import METHODS

AMBIGUOUS = "The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()"


class AxisError(ValueError, IndexError):
    """An axis that an array does not have."""


def normal_axis(axis, dimensions: int) -> int:
    """An axis counted from the front."""
    axis = axis.__index__()
    if not -dimensions <= axis < dimensions:
        raise AxisError(f"axis {axis} is out of bounds for array of dimension {dimensions}")
    return axis % dimensions


def is_whole(value) -> bool:
    """Whether a value is one whole number, and not an array of several."""
    return hasattr(value, "__index__") and not getattr(value, "ndim", 0)


def shape_text(shape) -> str:
    """A shape as NumPy's messages write it: (3,4), (3,)."""
    return f"({','.join(map(str, shape))}{',' if len(shape) == 1 else ''})"


def row_major(shape) -> tuple:
    """The strides of an array whose entries stand one behind the other."""
    strides, step = [], 1
    for length in reversed(shape):
        strides.append(step)
        step *= length
    return tuple(reversed(strides))


class ndarray:  # noqa: N801  (NumPy's name)
    """An array of numbers; a slice and a transpose are views of the same numbers, as in NumPy."""

    __slots__ = ("_shape", "_start", "_store", "_strides", "dtype")
    __array_priority__ = 1

    def __init__(self, *_, **__):
        raise NotInThePage("np.ndarray(…)")

    @property
    def shape(self) -> tuple:
        return self._shape

    @property
    def ndim(self) -> int:
        return len(self._shape)

    @property
    def size(self) -> int:
        return math.prod(self._shape)

    @property
    def itemsize(self) -> int:
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        return self.size * self.dtype.itemsize

    @property
    def strides(self) -> tuple:
        return tuple(stride * self.dtype.itemsize for stride in self._strides)

    @property
    def T(self) -> ndarray:  # noqa: N802
        return self.transpose()

    @property
    def mT(self) -> ndarray:  # noqa: N802
        if self.ndim < 2:
            raise ValueError("matrix transpose with ndim < 2 is undefined")
        return self.swapaxes(-1, -2)

    @property
    def flat(self):
        return iter(self.ravel())

    def _values(self) -> list:
        """All entries in row-major order, as Python numbers."""
        if self._strides == row_major(self._shape):
            return self._store[self._start : self._start + self.size]
        store = self._store
        return [store[place] for place in self._places()]

    def _places(self) -> list:
        """Where the entries stand in the list."""
        places = [self._start]
        for length, stride in zip(self._shape, self._strides, strict=True):
            steps = [stride * position for position in range(length)]
            places = [place + step for place in places for step in steps]
        return places

    def tolist(self):
        return _indexing.nested(self._values(), self._shape)

    def item(self, *position):
        found = self[position] if position else self
        if getattr(found, "size", 1) != 1:
            raise ValueError("can only convert an array of size 1 to a Python scalar")
        return asarray(found)._values()[0]

    def tobytes(self) -> bytes:
        return struct.pack(f"<{self.size}{self.dtype.letter}", *self._values())

    def copy(self, order="C") -> ndarray:
        return make(self._values(), self._shape, self.dtype)

    def astype(self, wanted, copy=True) -> ndarray:
        wanted = dtype(wanted)
        if wanted is self.dtype:
            return self.copy() if copy else self
        return make(wanted.cast(self._values()), self._shape, wanted)

    def fill(self, value) -> None:
        self[...] = value

    def _view(self, start: int, shape: tuple, strides: tuple) -> ndarray:
        """Another look at the same numbers."""
        return _new(self._store, start, tuple(shape), tuple(strides), self.dtype)

    def reshape(self, *shape, order="C") -> ndarray:
        if order != "C":
            raise NotInThePage("reshape with another order than the rows'")
        shape = shape[0] if len(shape) == 1 and not is_whole(shape[0]) else shape
        shape = [length.__index__() for length in shape]
        if shape.count(-1) == 1:
            rest = -math.prod(shape)
            fits = rest and self.size % rest == 0
            whole = [self.size // rest if length == -1 and fits else length for length in shape]
        else:
            whole = shape
        if math.prod(whole) != self.size or min(whole, default=0) < 0:
            raise ValueError(f"cannot reshape array of size {self.size} into shape {shape_text(shape)}")
        if self._strides == row_major(self._shape):
            return self._view(self._start, whole, row_major(whole))
        return make(self._values(), tuple(whole), self.dtype)

    def ravel(self) -> ndarray:
        return self.reshape(-1) if self.size else self.reshape(0)

    def flatten(self) -> ndarray:
        return self.copy().ravel()

    def transpose(self, *axes) -> ndarray:
        axes = axes[0] if len(axes) == 1 and not is_whole(axes[0]) else axes
        order = [normal_axis(axis, self.ndim) for axis in axes] if axes else list(range(self.ndim))[::-1]
        if sorted(order) != list(range(self.ndim)):
            raise ValueError("axes don't match array")
        shape, strides = ([one[axis] for axis in order] for one in (self._shape, self._strides))
        return self._view(self._start, shape, strides)

    def swapaxes(self, first, second) -> ndarray:
        order = list(range(self.ndim))
        first, second = normal_axis(first, self.ndim), normal_axis(second, self.ndim)
        order[first], order[second] = second, first
        return self.transpose(order)

    def squeeze(self, axis=None) -> ndarray:
        axes = range(self.ndim) if axis is None else [normal_axis(axis, self.ndim)]
        if axis is not None and self._shape[axis] != 1:
            raise ValueError("cannot select an axis to squeeze out which has size not equal to one")
        keep = [at for at in range(self.ndim) if at not in axes or self._shape[at] != 1]
        return self._view(self._start, *([one[at] for at in keep] for one in (self._shape, self._strides)))

    def __getitem__(self, index):
        found = _indexing.look_up(self, index)
        return _scalar(found.dtype, found._values()[0]) if found._shape == () and not _has_dots(index) else found

    def __setitem__(self, index, value) -> None:
        _indexing.assign(self, index, asarray(value))

    def __len__(self) -> int:
        if not self._shape:
            raise TypeError("len() of unsized object")
        return self._shape[0]

    def __iter__(self):
        if not self._shape:
            raise TypeError("iteration over a 0-d array")
        return (self[position] for position in range(self._shape[0]))

    def __contains__(self, value) -> bool:
        return any(entry == value for entry in self._values())

    def __bool__(self) -> bool:
        if self.size != 1:
            raise ValueError(AMBIGUOUS if self.size else "The truth value of an empty array is ambiguous.")
        return bool(self._values()[0])

    def _one(self):
        if self._shape:
            raise TypeError("only 0-dimensional arrays can be converted to Python scalars")
        return self._values()[0]

    def __float__(self) -> float:
        return float(self._one())

    def __int__(self) -> int:
        return int(self._one())

    def __index__(self) -> int:
        if self._shape or self.dtype.kind != "i":
            raise TypeError("only integer scalar arrays can be converted to a scalar index")
        return self._values()[0]

    def __copy__(self) -> ndarray:
        return self.copy()

    def __deepcopy__(self, memo) -> ndarray:
        return self.copy()

    __hash__ = None

    def __getattr__(self, name: str):
        if name in METHODS:
            raise NotInThePage(f"the method .{name} of an array")
        raise AttributeError(f"'numpy.ndarray' object has no attribute {name!r}", name=name, obj=self)


def _has_dots(index) -> bool:
    return index is Ellipsis or (isinstance(index, tuple) and any(one is Ellipsis for one in index))


def _new(store: list, start: int, shape: tuple, strides: tuple, kind: dtype) -> ndarray:
    made = object.__new__(ndarray)
    made._store, made._start, made._shape, made._strides, made.dtype = store, start, shape, strides, kind
    return made


def make(values: list, shape, kind: dtype) -> ndarray:
    """An array of numbers that are as its dtype holds them already."""
    shape = tuple(shape)
    return _new(values, 0, shape, row_major(shape), kind)


def _scalar(kind: dtype, value):
    return kind.type(value)


def asarray(value, dtype=None) -> ndarray:  # noqa: A002
    """The value as an array; an array of the dtype asked for is left as it is."""
    if not isinstance(value, ndarray):
        return array(value, dtype)
    return value if dtype is None else value.astype(dtype, copy=False)


def array(value, dtype=None, copy=True, ndmin=0) -> ndarray:
    """A new array of numbers, nested lists or arrays."""
    if isinstance(value, ndarray):
        made = value.copy() if dtype is None else value.astype(dtype)
    else:
        shape, flat, kinds = _indexing.flattened(value)
        kind = _kind(flat, kinds) if dtype is None else _dtype(dtype)
        made = make(kind.cast(flat), shape, kind)
    return made.reshape((1,) * max(0, ndmin - made.ndim) + made.shape)


_dtype = dtype


def _kind(flat: list, kinds: set) -> dtype:
    found = {FLOAT64 if kind is float else BOOL if kind is bool else INT64 if kind is int else kind for kind in kinds}
    if not flat or FLOAT64 in found:
        return FLOAT64
    if FLOAT32 in found:
        return FLOAT64 if found & {INT64, INT32} else FLOAT32
    return max(found, key=lambda one: one.rank)
