"""A small stand-in for NumPy, in plain Python: what the exercises of the page and usual answers to them need.

It is there because no NumPy for WebAssembly can be had from the registries this site is built from. Whatever it cannot
do it refuses by name; it never answers otherwise than NumPy. Where a real one is there, this folder goes.
"""

import math as _math

from . import _functions, _joining, _linear, _names, _scalars, _text, _ufuncs
from ._array import AxisError, array, asarray, ndarray
from ._dtypes import NotInThePage as _NotInThePage
from ._dtypes import dtype
from ._functions import *  # noqa: F403
from ._joining import *  # noqa: F403
from ._linear import dot, einsum, inner, matmul, outer, tensordot, trace, vdot
from ._making import *  # noqa: F403
from ._methods import give_methods as _give_methods
from ._scalars import bool_, finfo, float32, float64, floating, generic, int32, int64, integer, number
from ._ufuncs import UFuncTypeError, broadcast_shapes, ufunc

__version__ = "2.4"
inf, nan, pi, e, newaxis = _math.inf, _math.nan, _math.pi, _math.e, None
bool, float_, int_, double, single, intp, long = bool_, float64, int64, float64, float32, int64, int64  # noqa: A001

globals().update(_ufuncs.UFUNCS)
abs, pow, mod = absolute, power, remainder  # noqa: A001, F405, F821
true_divide, invert, fabs, concat = divide, logical_not, absolute, concatenate  # noqa: F405, F821
_ufuncs.give_operators()
_give_methods()


class linalg:  # noqa: N801  (NumPy's name)
    """The part of np.linalg that is here."""

    norm = staticmethod(_linear.norm)
    matmul = staticmethod(_linear.matmul)


class exceptions:  # noqa: N801
    """The exceptions of np.exceptions that are here."""

    AxisError = AxisError


def __getattr__(name: str):
    if name in _names.NAMES:
        text = str(_NotInThePage(f"np.{name}"))
        raise AttributeError(text)
    raise AttributeError(f"module 'numpy' has no attribute {name!r}", name=name, obj=_this())


def __dir__() -> list:
    return sorted({*globals(), *_names.NAMES})


def _this():
    import sys

    return sys.modules[__name__]
