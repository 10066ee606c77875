"""NumPy's single numbers: np.float64 is a float of Python's, the others stand beside it."""

from __future__ import annotations

from . import _dtypes
from ._array import asarray, make
from ._text import number_text

OPERATORS = {
    "add": "add",
    "sub": "subtract",
    "mul": "multiply",
    "truediv": "divide",
    "floordiv": "floor_divide",
    "mod": "remainder",
    "pow": "power",
}
COMPARISONS = {
    "eq": "equal",
    "ne": "not_equal",
    "lt": "less",
    "le": "less_equal",
    "gt": "greater",
    "ge": "greater_equal",
}


class generic:  # noqa: N801  (NumPy's name)
    """A number that an array gives; what else one asks of it is asked of an array without axes."""

    __slots__ = ()
    shape, ndim, size = (), 0, 1

    def as_array(self):
        return make([self.item()], (), self.dtype)

    def item(self):
        return self._number

    def tolist(self):
        return self.item()

    def __repr__(self) -> str:
        return f"np.{type(self).__name__}({number_text(self.item(), self.dtype)})"

    def __str__(self) -> str:
        return number_text(self.item(), self.dtype)

    def __format__(self, how: str) -> str:
        return format(self.item(), how) if how else str(self)

    def __getitem__(self, index):
        if index in ((), Ellipsis):
            return self if index == () else self.as_array()
        raise IndexError("invalid index to scalar variable.")

    def __getattr__(self, name: str):
        if name.startswith("__"):
            raise AttributeError(name)
        try:
            return getattr(self.as_array(), name)
        except AttributeError:
            text = f"'numpy.{type(self).__name__}' object has no attribute {name!r}"
            raise AttributeError(text, name=name, obj=self) from None


class number(generic):  # noqa: N801
    __slots__ = ()


class integer(number):  # noqa: N801
    __slots__ = ()


class floating(number):  # noqa: N801
    __slots__ = ()


class float64(floating, float):  # noqa: N801
    __slots__ = ()

    def item(self) -> float:
        return float.__float__(self)

    def __hash__(self) -> int:
        return float.__hash__(self)


class _Boxed(generic):
    __slots__ = ("_number",)

    def __init__(self, value=0) -> None:
        object.__setattr__(self, "_number", asarray(value, self.dtype).item())

    def __hash__(self) -> int:
        return hash(self._number)

    def __bool__(self) -> bool:
        return bool(self._number)

    def __int__(self) -> int:
        return int(self._number)

    def __float__(self) -> float:
        return float(self._number)

    def __round__(self, digits=None):
        return round(self._number, digits)


class float32(_Boxed, floating):  # noqa: N801
    __slots__ = ()


class _Whole(_Boxed, integer):
    __slots__ = ()

    def __index__(self) -> int:
        return self._number


class int64(_Whole):  # noqa: N801
    __slots__ = ()


class int32(_Whole):  # noqa: N801
    __slots__ = ()


class bool_(_Boxed):  # noqa: N801
    __slots__ = ()

    def __str__(self) -> str:
        return str(self._number)

    def __repr__(self) -> str:
        return f"np.{self._number}"


bool_.__name__ = "bool"

for _kind, _type in (
    (_dtypes.FLOAT64, float64),
    (_dtypes.FLOAT32, float32),
    (_dtypes.INT64, int64),
    (_dtypes.INT32, int32),
    (_dtypes.BOOL, bool_),
):
    _kind.type = _type
    _type.dtype = _kind
    _dtypes.dtype.known[_type] = _kind


class finfo:  # noqa: N801
    """The limits of a dtype of floats, by the dtype, its type or a number of it."""

    def __init__(self, of) -> None:
        self.dtype = of.dtype if isinstance(of, generic) else _dtypes.dtype(of)
        if self.dtype.kind != "f":
            raise ValueError(f"data type {of!r} not inexact")
        self.bits = 8 * self.dtype.itemsize
        digits, lowest = (23, -126) if self.bits == 32 else (52, -1022)
        number = self.dtype.type
        self.eps, self.tiny = number(2.0**-digits), number(2.0**lowest)
        self.max = number((2.0 - 2.0**-digits) * 2.0 ** (1 - lowest))
        self.min, self.smallest_normal = -self.max, self.tiny
