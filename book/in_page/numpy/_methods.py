"""Gives arrays the functions that NumPy has as methods as well, and their texts."""

from __future__ import annotations

from . import _functions, _joining, _linear
from ._array import ndarray
from ._text import array_text

REDUCING = ("sum", "prod", "max", "min", "mean", "var", "std", "any", "all", "argmax", "argmin", "cumsum", "argsort")
OTHERS = ("clip", "round", "nonzero")
JOINED = ("repeat", "take")


def give_methods() -> None:
    """Completes the class of arrays."""
    for name in (*REDUCING, *OTHERS):
        setattr(ndarray, name, getattr(_functions, name))
    for name in JOINED:
        setattr(ndarray, name, getattr(_joining, name))
    ndarray.dot = _linear.dot
    ndarray.trace = _linear.trace
    ndarray.sort = _sort
    ndarray.__str__ = lambda self: array_text(self)
    ndarray.__repr__ = _repr
    ndarray.__format__ = lambda self, how: format(self.item(), how) if how else str(self)
    ndarray.__round__ = lambda self, digits=0: _functions.round(self, digits or 0)


def _sort(self, axis=-1) -> None:
    self[...] = _functions.sort(self, axis)


def _repr(self) -> str:
    shown = {"float64": "", "int64": "", "bool": ""}.get(self.dtype.name, f", dtype={self.dtype.name}")
    return f"array({array_text(self, ', ', 'array(')}{shown})"
