"""The dtypes that the stand-in knows: booleans, whole numbers of 32 and 64 bits, floats of 32 and 64 bits."""

from __future__ import annotations

import math
from array import array as machine_array


class NotInThePage(RuntimeError):
    """What NumPy can do and this stand-in cannot."""

    def __init__(self, what: str) -> None:
        super().__init__(f"the page computes with a small stand-in for NumPy, which cannot do {what}; {ELSEWHERE}")


ELSEWHERE = "write it another way here, or take the exercise to Colab or to your own machine"


class dtype:  # noqa: N801  (NumPy's name)
    """What kind of number an array holds; found by its name, by Python's type or by NumPy's."""

    __slots__ = ("itemsize", "kind", "letter", "name", "rank", "type")
    known: dict = {}  # noqa: RUF012

    def __new__(cls, wanted):
        if isinstance(wanted, dtype):
            return wanted
        found = cls.known.get(wanted) if isinstance(wanted, (str, type)) else None
        if found is None:
            if isinstance(wanted, str) and not wanted.strip("<>=|").isalnum():
                raise TypeError(f"data type {wanted!r} not understood")
            raise NotInThePage(f"the dtype {getattr(wanted, '__name__', wanted)}")
        return found

    def __eq__(self, other) -> bool:
        try:
            return self is dtype(other)
        except (TypeError, NotInThePage):
            return False

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return f"dtype('{self.name}')"

    def __str__(self) -> str:
        return self.name

    def cast(self, values: list) -> list:
        """The values as this dtype holds them."""
        if self.kind == "b":
            return [bool(value) for value in values]
        if self.kind == "i":
            return [self._whole(value) for value in values]
        try:
            values = [float(value) for value in values]
        except OverflowError:
            raise NotInThePage("whole numbers of more than 64 bits") from None
        return values if self.name == "float64" else machine_array("f", values).tolist()

    def _whole(self, value) -> int:
        bits = 8 * self.itemsize
        if isinstance(value, float) and not math.isfinite(value):
            return -(1 << (bits - 1))
        value = int(value)
        return ((value + (1 << (bits - 1))) & ((1 << bits) - 1)) - (1 << (bits - 1))


def _make(name: str, kind: str, letter: str, itemsize: int, rank: int, *names) -> dtype:
    made = object.__new__(dtype)
    made.name, made.kind, made.letter, made.itemsize, made.rank = name, kind, letter, itemsize, rank
    for one in (name, *names):
        dtype.known[one] = made
    return made


BOOL = _make("bool", "b", "?", 1, 0, bool, "?", "bool_")
INT32 = _make("int32", "i", "i", 4, 1, "i4", "<i4", "i")
INT64 = _make("int64", "i", "q", 8, 2, int, "int", "i8", "<i8", "q", "l")
FLOAT32 = _make("float32", "f", "f", 4, 3, "f4", "<f4", "f", "single")
FLOAT64 = _make("float64", "f", "d", 8, 4, float, "float", "f8", "<f8", "d", "double")


def common(one: dtype, other: dtype) -> dtype:
    """The dtype that holds the numbers of both."""
    high, low = (one, other) if one.rank >= other.rank else (other, one)
    return FLOAT64 if high is FLOAT32 and low.kind == "i" else high


def with_python(one: dtype, number) -> dtype:
    """The dtype of a result where one side is a number of Python's own, which gives way."""
    if isinstance(number, bool) or (isinstance(number, int) and one.kind != "b"):
        return one
    if isinstance(number, int):
        return INT64
    return one if one.kind == "f" else FLOAT64
