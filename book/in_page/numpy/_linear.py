"""Products of arrays: matmul, dot, einsum and their relatives."""

from __future__ import annotations

import math
import operator

from ._array import asarray, is_whole, make, ndarray, normal_axis
from ._dtypes import NotInThePage, common
from ._indexing import spread
from ._joining import moveaxis
from ._scalars import generic
from ._ufuncs import UFUNCS, added, broadcast_shapes, reduced


def _separate(one: float, other: float, total: float) -> float:
    return one * other + total


def _guarded(one: float, other: float, total: float) -> float:
    try:
        return math.fma(one, other, total)
    except (ValueError, OverflowError):  # infinite, or no number
        return one * other + total


fma = _guarded if hasattr(math, "fma") else _separate  # of Python 3.13


def _times(rows: list, columns: list, kind) -> list:
    """Each row with each column: the sums of products."""
    if kind.kind != "f":
        return kind.cast([added(map(operator.mul, row, column)) for row in rows for column in columns])
    return kind.cast([_fused(row, column) for row in rows for column in columns])


def _fused(row: list, column: list) -> float:
    """The sum of products, each added before it is rounded, as processors do it for NumPy."""
    total = 0.0
    for one, other in zip(row, column, strict=True):
        total = fma(one, other, total)
    return total


def _lines(matrix: ndarray) -> list:
    flat, width = matrix._values(), matrix.shape[1]
    return [flat[at * width : (at + 1) * width] for at in range(matrix.shape[0])]


def _product(one: ndarray, other: ndarray, kind) -> ndarray:
    return make(_times(_lines(one), _lines(other.T), kind), (one.shape[0], other.shape[1]), kind)


def matmul(x1, x2):
    one, other = asarray(x1), asarray(x2)
    for at, array in enumerate((one, other)):
        if not array.ndim:
            text = f"matmul: Input operand {at} does not have enough dimensions (has 0, gufunc core with signature "
            raise ValueError(f"{text}(n?,k),(k,m?)->(n?,m?) requires 1)")
    left = one.reshape(1, -1) if one.ndim == 1 else one
    right = other.reshape(-1, 1) if other.ndim == 1 else other
    if left.shape[-1] != right.shape[-2]:
        raise ValueError(
            "matmul: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature "
            f"(n?,k),(k,m?)->(n?,m?) (size {right.shape[-2]} is different from {left.shape[-1]})"
        )
    kind = common(one.dtype, other.dtype)
    if left.ndim == right.ndim == 2:
        made = _product(left, right, kind)
    else:
        lead = broadcast_shapes(left.shape[:-2], right.shape[:-2])
        left, right = spread(left, lead + left.shape[-2:]), spread(right, lead + right.shape[-2:])
        pairs = zip(_matrices(left), _matrices(right), strict=True)
        flat = [value for a, b in pairs for value in _product(a, b, kind)._values()]
        made = make(flat, (*lead, left.shape[-2], right.shape[-1]), kind)
    return _without_added_axes(made, one.ndim == 1, other.ndim == 1)


def _without_added_axes(made: ndarray, first: bool, last: bool):
    shape = list(made.shape)
    if last:
        del shape[-1]
    if first:
        del shape[-2 if not last else -1]
    made = made.reshape(shape)
    return made if shape else made[()]


def _matrices(array: ndarray):
    lead = math.prod(array.shape[:-2])
    return array.reshape(lead, *array.shape[-2:])


def dot(a, b):
    a, b = asarray(a), asarray(b)
    if not a.ndim or not b.ndim:
        return a * b
    inner_axis = b.ndim - 2 if b.ndim > 1 else 0
    if a.shape[-1] != b.shape[inner_axis]:
        text = f"{a.shape[-1]} (dim {a.ndim - 1}) != {b.shape[inner_axis]} (dim {inner_axis})"
        shapes = " and ".join(str(one.shape).replace(" ", "") for one in (a, b))
        raise ValueError(f"shapes {shapes} not aligned: {text}")
    return tensordot(a, b, ([a.ndim - 1], [inner_axis]))[()]


def inner(a, b):
    a, b = asarray(a), asarray(b)
    if not a.ndim or not b.ndim:
        return a * b
    if a.shape[-1] != b.shape[-1]:
        text = f"{a.shape[-1]} (dim {a.ndim - 1}) != {b.shape[-1]} (dim {b.ndim - 1})"
        shapes = " and ".join(str(one.shape).replace(" ", "") for one in (a, b))
        raise ValueError(f"shapes {shapes} not aligned: {text}")
    return tensordot(a, b, ([a.ndim - 1], [b.ndim - 1]))[()]


def outer(a, b):
    return UFUNCS["multiply"].outer(asarray(a).ravel(), asarray(b).ravel())


def vdot(a, b):
    return dot(asarray(a).ravel(), asarray(b).ravel())


def tensordot(a, b, axes=2):
    a, b = asarray(a), asarray(b)
    if is_whole(axes):
        first, second = list(range(a.ndim - axes, a.ndim)), list(range(axes))
    else:
        first, second = ([one] if is_whole(one) else list(one) for one in axes)
    first, second = [normal_axis(one, a.ndim) for one in first], [normal_axis(one, b.ndim) for one in second]
    if [a.shape[one] for one in first] != [b.shape[one] for one in second]:
        raise ValueError("shape-mismatch for sum")
    a, b = moveaxis(a, first, range(a.ndim - len(first), a.ndim)), moveaxis(b, second, range(len(second)))
    step = math.prod(a.shape[a.ndim - len(first) :])
    shape = a.shape[: a.ndim - len(first)] + b.shape[len(second) :]
    kind = common(a.dtype, b.dtype)
    return _product(a.reshape(-1, step) if step else a, b.reshape(step, -1) if step else b, kind).reshape(shape)


def einsum(subscripts, *operands):
    if not isinstance(subscripts, str):
        raise NotInThePage("np.einsum without a text of subscripts")
    arrays = [asarray(one) for one in operands]
    text, _, result = subscripts.replace(" ", "").partition("->")
    inputs = text.split(",")
    if len(inputs) != len(arrays):
        raise ValueError("more operands provided to einstein sum function than specified in the subscripts string")
    inputs, dots = _without_dots(inputs, arrays)
    if "->" not in subscripts:
        letters = "".join(inputs)
        result = "..." + "".join(sorted(one for one in set(letters) - set(dots) if letters.count(one) == 1))
    result = result.replace("...", dots)
    lengths: dict = {}
    for labels, one in zip(inputs, arrays, strict=True):
        if len(labels) != one.ndim:
            raise ValueError(
                "einstein sum subscripts string contains too many subscripts for operand 0"
                if len(labels) > one.ndim
                else "operand has more dimensions than subscripts given in einstein sum, but no '...' ellipsis "
                "provided to broadcast the extra dimensions."
            )
        for letter, length in zip(labels, one.shape, strict=True):
            if lengths.setdefault(letter, length) not in (length, 1) and length != 1:
                raise ValueError(
                    "operands could not be broadcast together with remapped shapes [original->remapped]: "
                    + " ".join(f"{array.shape}" for array in arrays)
                )
            lengths[letter] = max(lengths[letter], length)
    order = result + "".join(one for one in lengths if one not in result)
    whole = tuple(lengths[one] for one in order)
    found = None
    for labels, one in zip(inputs, arrays, strict=True):
        seen = spread(_in_order(one, labels, order), whole)
        found = seen if found is None else UFUNCS["multiply"](found, seen)
    gone = tuple(range(len(result), len(order)))
    return reduced(added, found, gone, False) if gone else found


def _without_dots(inputs: list, arrays: list) -> tuple[list, str]:
    """The labels of each operand with capital letters for the axes that `...` stands for, and all of these."""
    capitals, most = "ABCDEFGHIJ", ""
    found = []
    for labels, one in zip(inputs, arrays, strict=True):
        count = one.ndim - len(labels.replace("...", "")) if "..." in labels else 0
        letters = capitals[len(capitals) - count :] if count else ""
        most = letters if len(letters) > len(most) else most
        found.append(labels.replace("...", letters))
    return found, most


def _in_order(array: ndarray, labels: str, order: str) -> ndarray:
    """An array with the axes of an order of letters, of length 1 where it has none; a letter twice is a diagonal."""
    strides = [sum(s for s, one in zip(array._strides, labels, strict=True) if one == letter) for letter in order]
    shape = [array.shape[labels.index(letter)] if letter in labels else 1 for letter in order]
    return array._view(array._start, shape, strides)


def trace(a, offset=0):
    a = asarray(a)
    return sum(a[at, at + offset] for at in range(min(a.shape[0], a.shape[1] - offset)))


def norm(x, ord=None, axis=None, keepdims=False):  # noqa: A002
    if ord not in (None, 2, 1) or (ord == 2 and axis is None and asarray(x).ndim > 1):
        raise NotInThePage(f"np.linalg.norm of the order {ord}")
    x = asarray(x, float)
    if ord == 1:
        return reduced(lambda values: added(map(abs, values)), x, axis, keepdims)
    return reduced(lambda values: math.sqrt(added(value * value for value in values)), x, axis, keepdims)


def _at(self, other):
    if isinstance(other, (ndarray, list, tuple, generic)):
        return matmul(self, other)
    if isinstance(other, (bool, int, float)):
        return matmul(self, other)
    return NotImplemented


def _at_right(self, other):
    return matmul(other, self) if isinstance(other, (list, tuple, generic, bool, int, float)) else NotImplemented


ndarray.__matmul__, ndarray.__rmatmul__ = _at, _at_right
