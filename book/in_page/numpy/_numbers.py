"""What NumPy's functions make of single numbers, infinite ones and those that are no number among them."""

from __future__ import annotations

import math
import operator

from ._scalars import COMPARISONS

INF, NAN = math.inf, math.nan


def divide(a, b):
    try:
        return a / b
    except ZeroDivisionError:
        return NAN if a != a or a == 0 else INF * math.copysign(1, a) * math.copysign(1, b)


def _floor_divide(a, b):
    if b == 0:
        return 0 if isinstance(a, int) and isinstance(b, int) else divide(a, b)
    return a // b


def _remainder(a, b):
    if b == 0:
        return 0 if isinstance(a, int) and isinstance(b, int) else NAN
    return a % b if math.isfinite(a) else NAN


def _power(a, b):
    if isinstance(a, int) and isinstance(b, int):
        if b < 0:
            raise ValueError("Integers to negative integer powers are not allowed.")
        return a**b
    try:
        return math.pow(a, b)
    except OverflowError:
        return -INF if a < 0 and b % 2 == 1 else INF
    except ValueError:
        return INF if a == 0 else NAN


def _guarded(function, overflow=INF, invalid=lambda x: NAN):
    def call(x):
        try:
            return function(x)
        except OverflowError:
            return overflow
        except ValueError:
            return invalid(x)

    return call


def _greater_of(a, b):
    return a if a >= b or a != a else b


def _smaller_of(a, b):
    return a if a <= b or a != a else b


def log_of_sum(a, b):
    if a == b == -INF:
        return -INF
    high, low = (a, b) if a >= b else (b, a)
    return high + math.log1p(math.exp(low - high)) if math.isfinite(high) else high


def _logarithm(function):
    return _guarded(function, invalid=lambda x: -INF if x == 0 else NAN)


def _whole(function):
    return lambda x: math.copysign(function(x), x) if isinstance(x, float) and math.isfinite(x) else x


ONE = {
    "negative": operator.neg,
    "positive": operator.pos,
    "absolute": abs,
    "sign": lambda x: x if x != x else (x > 0) - (x < 0),
    "square": lambda x: x * x,
    "floor": _whole(math.floor),
    "ceil": _whole(math.ceil),
    "trunc": _whole(math.trunc),
    "rint": _whole(round),
    "conjugate": operator.pos,
}
FLOAT = {
    "exp": _guarded(math.exp),
    "exp2": _guarded(math.exp2),
    "expm1": _guarded(math.expm1),
    "log": _logarithm(math.log),
    "log2": _logarithm(math.log2),
    "log10": _logarithm(math.log10),
    "log1p": _guarded(math.log1p, invalid=lambda x: -INF if x == -1 else NAN),
    "sqrt": _guarded(math.sqrt),
    "tanh": math.tanh,
    "sin": _guarded(math.sin),
    "cos": _guarded(math.cos),
    "reciprocal": lambda x: divide(1.0, x),
}
TESTS = {
    "isnan": lambda x: x != x,
    "isinf": lambda x: x in (INF, -INF),
    "isfinite": math.isfinite,
    "logical_not": operator.not_,
    "signbit": lambda x: math.copysign(1, x) < 0,
}
TWO = {
    "add": (operator.add, 0),
    "subtract": (operator.sub, None),
    "multiply": (operator.mul, 1),
    "floor_divide": (_floor_divide, None),
    "remainder": (_remainder, None),
    "power": (_power, None),
    "maximum": (_greater_of, None),
    "minimum": (_smaller_of, None),
    "fmax": (lambda a, b: b if a != a else a if b != b else max(a, b), None),
    "fmin": (lambda a, b: b if a != a else a if b != b else min(a, b), None),
}
BOTH = {
    "logical_and": (lambda a, b: bool(a) and bool(b), True),
    "logical_or": (lambda a, b: bool(a) or bool(b), False),
    "logical_xor": (lambda a, b: bool(a) != bool(b), False),
    **{long: (getattr(operator, short), None) for short, long in COMPARISONS.items()},
}
