"""NumPy's functions that make, reduce and rearrange arrays."""

from __future__ import annotations

import builtins
import contextlib
import math

from . import _indexing
from ._array import array, asarray, is_whole, make, ndarray, normal_axis
from ._dtypes import BOOL, FLOAT64, INT64, NotInThePage, common
from ._dtypes import dtype as _dtype
from ._making import broadcast_to, tri, zeros
from ._scalars import generic
from ._ufuncs import UFUNCS, added, along, broadcast_shapes, reduced


def tril(m, k=0):
    return where(tri(*asarray(m).shape[-2:], k=k, dtype=bool), m, zeros(1, asarray(m).dtype))


def triu(m, k=0):
    return where(tri(*asarray(m).shape[-2:], k=k - 1, dtype=bool), zeros(1, asarray(m).dtype), m)


def shape(a):
    return asarray(a).shape


def ndim(a):
    return asarray(a).ndim


def size(a, axis=None):
    return asarray(a).size if axis is None else asarray(a).shape[axis]


def where(condition, *choices):
    if not choices:
        return nonzero(condition)
    condition, (x, y) = asarray(condition), choices
    kind = UFUNCS["add"](asarray(x).reshape(-1)[:0] if not _python(x) else x, _none_of(y, x)).dtype
    kind = BOOL if asarray(x).dtype is BOOL and asarray(y).dtype is BOOL else kind
    x, y = asarray(x), asarray(y)
    whole = broadcast_shapes(condition.shape, x.shape, y.shape)
    columns = (_indexing.spread(one, whole)._values() for one in (condition, x, y))
    found = [a if chosen else b for chosen, a, b in zip(*columns, strict=True)]
    return make(kind.cast(found), whole, kind)


def _python(value) -> bool:
    return type(value) in (bool, int, float)


def _none_of(value, other):
    """No entries of a value, of its dtype; a number of Python's own as it is."""
    if _python(value) and not _python(other):
        return value
    return asarray(value).reshape(-1)[:0] if not _python(other) else asarray(value)


def nonzero(a):
    a = asarray(a)
    positions = _indexing._positions(a.astype(bool), a.shape, 0)
    return tuple(make(found, lengths, INT64) for found, lengths in positions)


def sum(a, axis=None, dtype=None, out=None, keepdims=False, initial=0, where=True):  # noqa: A001
    _whole_only("sum", out, where)
    kind = INT64 if asarray(a).dtype.kind != "f" and dtype is None else dtype
    return reduced(lambda values: added(values, initial), asarray(a, kind), axis, keepdims)


def prod(a, axis=None, dtype=None, keepdims=False):
    return reduced(math.prod, asarray(a, INT64 if asarray(a).dtype is BOOL else dtype), axis, keepdims)


def _extreme(name: str, ufunc_name: str):
    def function(a, axis=None, out=None, keepdims=False, initial=None, where=True):
        _whole_only(name, out, where)
        return UFUNCS[ufunc_name].reduce(a, axis, keepdims=keepdims, initial=initial)

    function.__name__ = name
    return function


max = amax = _extreme("max", "maximum")  # noqa: A001
min = amin = _extreme("min", "minimum")  # noqa: A001


def _whole_only(name: str, out, where) -> None:
    if out is not None or where is not True:
        raise NotInThePage(f"out= or where= in np.{name}")


def mean(a, axis=None, dtype=None, keepdims=False):
    a = asarray(a, dtype)
    a = a if a.dtype.kind == "f" else a.astype(float)
    return reduced(lambda values: added(values) / len(values) if values else math.nan, a, axis, keepdims)


average = mean


def var(a, axis=None, ddof=0, keepdims=False):
    a = asarray(a, float)
    centred = a - mean(a, axis, keepdims=True)
    return reduced(lambda values: added(values) / (len(values) - ddof), centred * centred, axis, keepdims)


def std(a, axis=None, ddof=0, keepdims=False):
    return UFUNCS["sqrt"](var(a, axis, ddof, keepdims))


def any(a, axis=None, keepdims=False):  # noqa: A001
    return UFUNCS["logical_or"].reduce(asarray(a, bool), axis, keepdims=keepdims)


def all(a, axis=None, keepdims=False):  # noqa: A001
    return UFUNCS["logical_and"].reduce(asarray(a, bool), axis, keepdims=keepdims)


def _place_of_extreme(values: list, better) -> int:
    found = 0
    for place, value in enumerate(values):
        if value != value:
            return place
        if better(value, values[found]):
            found = place
    return found


def argmax(a, axis=None, keepdims=False):
    return reduced(lambda v: _place_of_extreme(v, float.__gt__), asarray(a, float), axis, keepdims, lambda _: INT64)


def argmin(a, axis=None, keepdims=False):
    return reduced(lambda v: _place_of_extreme(v, float.__lt__), asarray(a, float), axis, keepdims, lambda _: INT64)


def cumsum(a, axis=None):
    return UFUNCS["add"].accumulate(asarray(a, INT64 if asarray(a).dtype is BOOL else None), axis)


def sort(a, axis=-1):
    return along(sorted, asarray(a), axis)


def argsort(a, axis=-1):
    return along(lambda values: sorted(range(len(values)), key=values.__getitem__), asarray(a), axis, INT64)


def clip(a, a_min=None, a_max=None):
    a = asarray(a) if a_min is None else UFUNCS["maximum"](a, a_min)
    return a if a_max is None else UFUNCS["minimum"](a, a_max)


def round(a, decimals=0):  # noqa: A001
    a = asarray(a)
    if a.dtype.kind != "f":
        return a.copy()
    factor = 10.0**decimals
    found = UFUNCS["rint"](a * factor)
    return found / factor if decimals else found


around = round


def nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None):
    most = 3.4028234663852886e38 if asarray(x).dtype.name == "float32" else 1.7976931348623157e308
    high, low = (posinf if posinf is not None else most), (neginf if neginf is not None else -most)
    x = asarray(x)
    found = [nan if v != v else high if v == math.inf else low if v == -math.inf else v for v in x._values()]
    made = make(x.dtype.cast(found), x.shape, x.dtype)
    if not copy:
        x[...] = made
    return made if x.shape else made[()]


def isneginf(x):
    return UFUNCS["equal"](x, -math.inf)


def isposinf(x):
    return UFUNCS["equal"](x, math.inf)


def isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    a, b = asarray(a, float), asarray(b, float)
    whole = broadcast_shapes(a.shape, b.shape)
    pairs = zip(*(_indexing.spread(one, whole)._values() for one in (a, b)), strict=True)
    found = [x == y or abs(x - y) <= atol + rtol * abs(y) or (equal_nan and x != x and y != y) for x, y in pairs]
    return make([bool(one) for one in found], whole, BOOL)


def allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    return bool(all(isclose(a, b, rtol, atol, equal_nan)))


def array_equal(a, b):
    a, b = asarray(a), asarray(b)
    return a.shape == b.shape and bool(all(a == b))


def apply_along_axis(func1d, axis, arr, *args, **kwargs):
    arr = asarray(arr)
    axis = normal_axis(axis, arr.ndim)
    order = [one for one in range(arr.ndim) if one != axis] + [axis]
    turned = arr.transpose(order)
    lead = turned.shape[:-1]
    rows = turned.reshape(math.prod(lead), arr.shape[axis])
    found = [asarray(func1d(row, *args, **kwargs)) for row in rows]
    made = array(found).reshape(lead + found[0].shape)
    inner = found[0].ndim
    back = list(range(len(lead)))
    return made.transpose(back[:axis] + list(range(len(lead), len(lead) + inner)) + back[axis:])


@contextlib.contextmanager
def errstate(**_):
    yield


def seterr(**_):
    return {}


def isscalar(element) -> bool:
    return isinstance(element, (generic, bool, int, float, str))


def result_type(*given):
    kinds = [one.dtype if isinstance(one, (ndarray, generic)) else asarray(one).dtype for one in given]
    kind = kinds[0]
    for one in kinds[1:]:
        kind = common(kind, one)
    return kind


def unique(a):
    a = asarray(a)
    found = sorted(set(a._values()))
    return make(found, (len(found),), a.dtype)


__all__ = [name for name in dir() if not name.startswith("_")]
__all__ = [
    name
    for name in __all__
    if name
    not in (
        "annotations",
        "builtins",
        "contextlib",
        "math",
        "FLOAT64",
        "added",
        "along",
        "common",
        "make",
        "reduced",
        "is_whole",
        "normal_axis",
        "UFUNCS",
    )
]
