"""Functions of single numbers, carried over arrays that are broadcast to one shape."""

from __future__ import annotations

import math
import operator

from ._array import asarray, make, ndarray, normal_axis, row_major, shape_text
from ._dtypes import BOOL, FLOAT64, INT64, NotInThePage, common, with_python
from ._dtypes import dtype as _dtype
from ._indexing import spread
from ._numbers import BOTH, FLOAT, INF, ONE, TESTS, TWO, divide, log_of_sum
from ._scalars import COMPARISONS, OPERATORS, generic


class UFuncTypeError(TypeError):
    """A result that does not fit the array it is written into."""


def broadcast_shapes(*shapes) -> tuple:
    """The shape that arrays of these shapes are broadcast to."""
    most = max(map(len, shapes), default=0)
    padded = [(1,) * (most - len(shape)) + tuple(shape) for shape in shapes]
    whole = []
    for lengths in zip(*padded, strict=True):
        others = set(lengths) - {1}
        if len(others) > 1:
            text = " ".join(shape_text(shape) for shape in shapes)
            raise ValueError(f"operands could not be broadcast together with shapes {text} ")
        whole.append(others.pop() if others else 1)
    return tuple(whole)


class ufunc:  # noqa: N801  (NumPy's name)
    """A function of one or two numbers, over arrays."""

    def __init__(self, name: str, count: int, function, result: str = "same", identity=None) -> None:
        self.__name__, self._count, self.identity = name, count, identity
        self._function, self._result = function, result

    def __repr__(self) -> str:
        return f"<ufunc '{self.__name__}'>"

    def __call__(self, *given, out=None, dtype=None, where=True):
        if len(given) == self._count + 1:
            *given, out = given
        if len(given) != self._count:
            takes = f"takes from {self._count} to {self._count + 1} positional arguments but {len(given)} were given"
            text = f"{self.__name__}() {takes}"
            raise TypeError(text)
        if where is not True:
            raise NotInThePage(f"where= in np.{self.__name__}")
        arrays, kind = _together(given)
        if self._result == "float" and kind.kind != "f":
            kind = FLOAT64
        if self.__name__ in ("subtract", "negative") and kind is BOOL:
            raise TypeError(f"numpy boolean {self.__name__}, the `-` operator, is not supported")
        shape = broadcast_shapes(*(one.shape for one in arrays))
        columns = [(one if one.shape == shape else spread(one, shape))._values() for one in arrays]
        found = list(map(self._function, *columns))
        kind = BOOL if self._result == "bool" else kind
        kind = kind if dtype is None else _dtype(dtype)
        if out is not None:
            return _into(out[0] if isinstance(out, tuple) else out, found, shape, kind, self.__name__)
        made = make(found if kind is FLOAT64 and self._result == "float" else kind.cast(found), shape, kind)
        return made if shape else kind.type(made._store[0])

    def reduce(self, array, axis=0, dtype=None, out=None, keepdims=False, initial=None, where=True):
        return reduced(self._running(initial), asarray(array, dtype), axis, keepdims, self._kind_of)

    def _running(self, initial):
        def run(values: list):
            values = values if initial is None else [initial, *values]
            if not values:
                if self.identity is None:
                    raise ValueError(f"zero-size array to reduction operation {self.__name__} which has no identity")
                return self.identity
            found = values[0]
            for value in values[1:]:
                found = self._function(found, value)
            return found

        return run

    def _kind_of(self, kind):
        return BOOL if self._result == "bool" else FLOAT64 if self._result == "float" and kind.kind != "f" else kind

    def accumulate(self, array, axis=0):
        array, function = asarray(array), self._function

        def run(values: list) -> list:
            found = values[:1]
            for value in values[1:]:
                found.append(function(found[-1], value))
            return found

        return along(run, array, axis)

    def outer(self, first, second):
        first, second = asarray(first), asarray(second)
        return self(first.reshape(first.shape + (1,) * second.ndim), second)

    def at(self, *_):
        raise NotInThePage(f"np.{self.__name__}.at")


def _together(given) -> tuple[list, _dtype]:
    """The arguments as arrays, and the dtype of their result: Python's own numbers give way."""
    arrays = [asarray(one) for one in given]
    strong = [one.dtype for one, before in zip(arrays, given, strict=True) if type(before) not in (bool, int, float)]
    if not strong:
        strong = [one.dtype for one in arrays]
    kind = strong[0]
    for one in strong[1:]:
        kind = common(kind, one)
    for one in given:
        if type(one) in (bool, int, float):
            kind = with_python(kind, one)
    if kind.name == "float32":
        arrays = [one.astype(kind) if one.dtype is FLOAT64 else one for one in arrays]
    return arrays, kind


def _into(out: ndarray, found: list, shape: tuple, kind, name: str) -> ndarray:
    if kind.kind == "f" and out.dtype.kind != "f":
        ends = f"output from {kind!r} to {out.dtype!r} with casting rule 'same_kind'"
        raise UFuncTypeError(f"Cannot cast ufunc {name!r} {ends}")
    if shape != out.shape:
        raise ValueError(
            f"non-broadcastable output operand with shape {shape_text(out.shape)} doesn't match the broadcast shape "
            f"{shape_text(shape)}"
        )
    out[...] = make(kind.cast(found), shape, kind)
    return out


def reduced(function, array: ndarray, axis, keepdims, kind_of=None):
    """What a function makes of the entries along one axis, several, or all (None)."""
    dimensions = array.ndim
    if axis is None:
        axes = list(range(dimensions))
    else:
        axes = [normal_axis(one, dimensions) for one in (axis if isinstance(axis, (tuple, list)) else (axis,))]
        if len(set(axes)) < len(axes):
            raise ValueError("duplicate value in 'axis'")
    kept = [one for one in range(dimensions) if one not in axes]
    flat = array.transpose(kept + axes)._values() if dimensions else array._values()
    shape = tuple(array.shape[one] for one in kept)
    step = math.prod(array.shape[one] for one in axes)
    found = [function(flat[at * step : (at + 1) * step]) for at in range(math.prod(shape))]
    kind = kind_of(array.dtype) if kind_of else array.dtype
    if keepdims:
        shape = tuple(1 if one in axes else length for one, length in enumerate(array.shape))
    made = make(kind.cast(found), shape, kind)
    return made if shape else kind.type(made._store[0])


def along(function, array: ndarray, axis, kind=None) -> ndarray:
    """An array in which each row along an axis is what a function makes of it, a list of the same length or another."""
    if axis is None:
        array, axis = array.ravel(), 0
    axis = normal_axis(axis, array.ndim)
    order = [one for one in range(array.ndim) if one != axis] + [axis]
    turned = array.transpose(order)
    flat, step = turned._values(), array.shape[axis]
    count = math.prod(turned.shape[:-1])
    rows = [function(flat[at * step : (at + 1) * step]) for at in range(count)]
    kind = kind or array.dtype
    made = make(
        kind.cast([one for row in rows for one in row]), (*turned.shape[:-1], len(rows[0]) if rows else 0), kind
    )
    return made.transpose([order.index(one) for one in range(array.ndim)]).copy()


def added(values, start=0):
    """The sum, rounded after each number: Python's own sum is more exact than NumPy's."""
    for value in values:
        start += value
    return start


UFUNCS = {
    **{name: ufunc(name, 1, function) for name, function in ONE.items()},
    **{name: ufunc(name, 1, function, "float") for name, function in FLOAT.items()},
    **{name: ufunc(name, 1, function, "bool") for name, function in TESTS.items()},
    **{name: ufunc(name, 2, function, identity=start) for name, (function, start) in TWO.items()},
    **{name: ufunc(name, 2, function, "bool", start) for name, (function, start) in BOTH.items()},
    "divide": ufunc("divide", 2, divide, "float"),
    "logaddexp": ufunc("logaddexp", 2, log_of_sum, "float", -INF),
    "hypot": ufunc("hypot", 2, math.hypot, "float"),
    "arctan2": ufunc("arctan2", 2, math.atan2, "float"),
    "bitwise_and": ufunc("bitwise_and", 2, operator.and_),
    "bitwise_or": ufunc("bitwise_or", 2, operator.or_),
    "bitwise_xor": ufunc("bitwise_xor", 2, operator.xor),
}


def _operator(name: str):
    """An operator of arrays and of NumPy's numbers; what is neither is left to the other side."""
    function = UFUNCS[name]

    def forth(self, other):
        return function(self, other) if _is_numeric(other) else NotImplemented

    def back(self, other):
        return function(other, self) if _is_numeric(other) else NotImplemented

    def in_place(self, other):
        return function(self, other, out=self)

    return forth, back, in_place


def _is_numeric(other) -> bool:
    return isinstance(other, (ndarray, generic, bool, int, float, list, tuple))


def give_operators() -> None:
    """Has arrays and NumPy's numbers compute with Python's operators."""
    bitwise = {"and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor"}
    for short, long in {**OPERATORS, **bitwise}.items():
        forth, back, in_place = _operator(long)
        for kind in (ndarray, *_numbers()):
            setattr(kind, f"__{short}__", forth)
            setattr(kind, f"__r{short}__", back)
        setattr(ndarray, f"__i{short}__", in_place)
    for short, long in COMPARISONS.items():
        for kind in (ndarray, *_numbers()):
            setattr(kind, f"__{short}__", _operator(long)[0])
    for short, long in {"neg": "negative", "pos": "positive", "abs": "absolute", "invert": "logical_not"}.items():
        for kind in (ndarray, *_numbers()):
            setattr(kind, f"__{short}__", lambda self, function=UFUNCS[long]: function(self))


def _numbers() -> list:
    from . import _scalars

    return [_scalars.float64, _scalars.float32, _scalars.int64, _scalars.int32, _scalars.bool_]


__all__ = ["INT64", "UFUNCS", "added", "along", "broadcast_shapes", "give_operators", "reduced", "row_major", "ufunc"]
