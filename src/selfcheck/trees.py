"""Compares trees of arrays, tuples and numbers, entry by entry."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from .arrays import Array, as_array
from .shapes import shape_advice, shape_slip
from .words import apart, expected_form, form_advice, form_slip, index_text, name_of


@dataclass(frozen=True)
class Difference:
    """Where an answer parts from the expected one.

    kind: "missing", "not started", "import", "raised", "stopped", "no error", "structure", "shape", "dtype", "nan",
        "values", "facts", "gradient", "changed", "parameters", "state", "kept", "generator" or "memory"
    text: what a learner reads; open text may hold expected values, so it is made only for visible checks
    cause: the id of the slip that it is a sign of (see generic_slips.py); "" where it could be many
    """

    kind: str
    text: str
    cause: str = ""


def compare_trees(wanted: Any, came: Any, tolerance: float, reveal: bool, where: str) -> Difference | None:
    if isinstance(wanted, (tuple, list)):
        parts = _as_parts(came, len(wanted))
        if parts is None:
            count = f"{len(wanted)} results, as a tuple{where}"
            text = f"expected {count}, got {name_of(came)}{form_advice(None, came)}"
            return Difference("structure", text, form_slip(None, came))
        for position, (want, part) in enumerate(zip(wanted, parts, strict=True)):
            inner = f" in result {position + 1} of {len(wanted)}"
            difference = compare_trees(want, part, tolerance, reveal, inner)
            if difference and difference.kind == "shape" and isinstance(came, Array) and came.kind != "list":
                return Difference(
                    "structure", f"expected {len(wanted)} results, as a tuple{where}, got {name_of(came)}"
                )
            if difference:
                return difference
        return None
    if isinstance(wanted, dict) and wanted == came:  # what holds no numbers, such as a function
        return None
    if wanted is None or came is None:
        if wanted is came:
            return None
        # One result of several may be None: then something was returned, and no return is missing.
        advice, slip = ("", "") if where else (form_advice(wanted, came), form_slip(wanted, came))
        return Difference("structure", f"expected {expected_form(wanted)}{where}, got {name_of(came)}{advice}", slip)
    want, part = as_array(wanted), as_array(came)
    if part is None or want is None or (want.shape != part.shape and isinstance(came, tuple)):
        text = f"expected {expected_form(wanted)}{where}, got {name_of(came)}{form_advice(wanted, came)}"
        return Difference("structure", text, form_slip(wanted, came))
    return compare_arrays(want, part, tolerance, reveal, where)


def compare_arrays(want: Array, part: Array, tolerance: float, reveal: bool, where: str) -> Difference | None:
    if want.shape != part.shape:
        advice = shape_advice(want.shape, part.shape)
        text = f"expected shape {want.shape}{where}, got {part.shape}{advice}"
        return Difference("shape", text, shape_slip(want.shape, part.shape))
    pairs = list(zip(want.values(), part.values(), strict=True))
    wrong = [place for place, (a, b) in enumerate(pairs) if not close(a, b, tolerance)]
    if not wrong:
        return None
    first = index_text(wrong[0], want.shape)
    a, b = pairs[wrong[0]]
    if isinstance(b, float) and math.isnan(b):
        return Difference("nan", f"NaN at {first}{where}; {len(wrong)} of {len(pairs)} entries are wrong")
    numbers = ": expected {}, got {}".format(*apart(a, b)) if reveal else ""
    many = f"; {len(wrong)} of {len(pairs)} entries differ" if len(pairs) > 1 else ""
    place = f", first at {first}" if want.shape else ""
    return Difference("values", f"the values differ{where}{place}{numbers}{many}")


def close(a: float, b: float, tolerance: float) -> bool:
    """Whether two numbers agree to tolerance · (1 + |a|); NaN agrees with NaN, an infinity with itself."""
    if a == b:
        return True
    if math.isnan(a) or math.isnan(b):
        return math.isnan(a) and math.isnan(b)
    if math.isinf(a) or math.isinf(b):
        return False
    return abs(a - b) <= tolerance * (1.0 + abs(a))


def none_where_one_is_due(wanted: Any, came: Any) -> Difference | None:
    """NaN or an infinity where the expected answer has a finite number; in an answer of another form, anywhere."""
    wants, parts = (list(filter(None, map(as_array, leaves(tree)))) for tree in (wanted, came))
    if [want.shape for want in wants] != [part.shape for part in parts]:
        finite = all(math.isfinite(value) for want in wants for value in want.values())
        if finite and not all(math.isfinite(value) for part in parts for value in part.values()):
            return Difference("nan", "NaN or an infinity is among the numbers")
        return None
    for number, (want, part) in enumerate(zip(wants, parts, strict=True), 1):
        pairs = list(zip(want.values(), part.values(), strict=True))
        wrong = [place for place, (a, b) in enumerate(pairs) if math.isfinite(a) and not math.isfinite(b)]
        if wrong:
            where = f" in result {number} of {len(parts)}" if len(parts) > 1 else ""
            at = f" at {index_text(wrong[0], part.shape)}" if part.shape else ""
            name = "NaN" if math.isnan(pairs[wrong[0]][1]) else "an infinity"
            return Difference("nan", f"{name}{at}{where}; {len(wrong)} of {len(pairs)} entries are no finite numbers")
    return None


def _as_parts(came: Any, count: int) -> list[Any] | None:
    """A tuple, a list or an array along its first axis, as `count` parts; None where it is none of these."""
    if isinstance(came, (tuple, list)) and len(came) == count:
        return list(came)
    if isinstance(came, Array) and came.shape[:1] == (count,):
        size = len(came.data) // max(count, 1)
        pieces = (came.data[at * size : (at + 1) * size] for at in range(count))  # it may have more axes than lists may
        return [Array(came.kind, came.dtype, came.shape[1:], piece) for piece in pieces]
    return None


def leaves(value: Any) -> list[Any]:
    if isinstance(value, (tuple, list)):
        return [leaf for part in value for leaf in leaves(part)]
    return [value]
