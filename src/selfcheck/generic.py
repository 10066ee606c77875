"""Names slips that any exercise may meet, where no misconception of its own explains a failure.

Each is a statement about the learner's own answer, its exception or the expected answer to the same input, and is made
only where it is true. Only draws that are shown come here: no word of it can tell of an input that is not.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Any

from . import generic_functions as functions
from . import generic_places as places
from . import generic_rows as rows
from . import generic_scale as scale
from . import generic_shares as shares
from . import generic_sizes as sizes
from . import generic_state as state
from .arrays import Array, as_array, pack, unpack
from .compare import Answer, Difference
from .diagnose import Key
from .generic_pairs import FEWEST, Found, Pair
from .trees import leaves
from .words import changed_text

Detector = Callable[[Pair, dict[str, Any]], Found | None]
COMPARED = ("values", "facts", "nan", "shape")  # kinds of difference that speak of numbers
MOST = 20_000  # entries that are looked at
MOST_RESULTS = 6  # of which another order is looked for
#: Causes that say where numbers are right, or that they are alike, and not why.
WHERE_ALONE = ("first_alone", "one_alone", "line_factor", "equal_rows")
#: Those that compare two arrays of whatever shapes, and those of one shape; what says more of a cause comes first.
OF_ANY_SHAPE: tuple[Detector, ...] = (places.transposed, places.missing)
OF_ANOTHER_SHAPE: tuple[Detector, ...] = (rows.rearranged, functions.reduced)
OF_ONE_SHAPE: tuple[Detector, ...] = (
    places.inverted,
    places.masked_rows,
    scale.overflow,
    scale.nothing_dropped,
    functions.nan_where_negative,
    rows.largest_takes_all,
    places.equal_rows,
    rows.rest_zero,
    rows.added_up,
    scale.factor,
    places.order,
    scale.whole,
    scale.clipped,
    scale.dropped,
    functions.function,
    rows.rearranged,
    scale.offset,
    shares.other_shares,
    functions.line_factors,
    scale.imprecise,
    places.parts,
    functions.whole_numbers,
)
#: Those of which no answer says anything that comes from random numbers, or from none where they are due.
OF_NO_DRAW: tuple[Detector, ...] = (
    places.equal_rows,
    places.order,
    places.parts,
    rows.added_up,
    rows.rearranged,
    functions.function,
    functions.line_factors,
    functions.reduced,
)


def named_in_general(key: Key, answers: list[Answer], position: int, difference: Difference) -> Difference:
    """The difference of a draw, with its cause and a sentence about it where one is true; else as it is.

    position: of the call that differs
    """
    if (
        difference.cause == "generic.no_return"
        and answers[position].get("value", {}).get("kind") == "none"
        and any(_answered(answer) for answer in answers)
    ):
        text = (
            f"{difference.text.partition(';')[0]}; other calls here get an answer: a branch has no return, or a loop "
            "ends before it comes to one"
        )
        return replace(difference, text=text, cause="generic.one_return_missing")
    expected, got = key.expected[position], answers[position]
    slip = _beside_the_numbers(key, expected, got, position, difference)
    if slip:
        return _with_cause(difference, slip)
    if (
        (difference.cause and difference.kind != "shape")
        or difference.kind not in COMPARED
        or "value" not in expected
        or "value" not in got
    ):
        return difference
    try:
        due, came = unpack(expected["value"]), unpack(got["value"])
        slip = numbers_slip(key.calls[position], due, came, key.check.tolerance, _unread(key, position, due))
        if slip and slip.cause == "whole" and key.check.view:
            slip = None  # what a view looks at, the factor of a dropout for instance, may make the numbers whole
        if slip is None or slip.cause in WHERE_ALONE:
            slip = _part(key, position, due, came) or slip
        if slip is None and difference.kind == "shape" and not difference.cause:
            slip = sizes.another_size(key.calls[position], due, came) or sizes.merged_axes(due, came)
    except (ValueError, OverflowError, ZeroDivisionError):  # whatever a learner returned
        return difference
    if slip:
        return _with_cause(difference, slip)
    if got.get("changed") and not expected.get("changed"):
        text = changed_text(list(map(str, got["changed"])))
        return replace(difference, text=f"Y{text[1:]}. In detail: {difference.text}", cause="generic.changed")
    return difference


def _part(key: Key, position: int, due: Any, came: Any) -> Found | None:
    """The part of the formula that an answer has otherwise, where the check can tell it."""
    try:
        text = key.check.tells(key.calls[position], due, came) if key.check.tells else ""
    except Exception:  # it meets whatever a learner returned
        return None
    return Found("part", text) if text else None


def _beside_the_numbers(key: Key, expected: Answer, got: Answer, position: int, difference: Difference) -> Found | None:
    """What else than an answer's numbers tells of a difference: leftovers, parameters, gradients, its form."""
    if difference.kind in (*COMPARED, "gradient", "changed", "no error") and not difference.cause.startswith(
        "generic.no_return"
    ):
        slip = state.one_object(got) or state.leftover(got)
        if slip:
            return slip
    if difference.kind == "gradient":
        return state.unused(expected, got) or rows.nan_gradient(expected, got)
    if difference.kind == "structure" and not difference.cause and "value" in expected and "value" in got:
        both = unpack(expected["value"]), unpack(got["value"])
        return rows.joined(*both, key.check.tolerance) or functions.counted(*both, key.check.tolerance)
    if difference.kind == "state":
        return state.state_slip(key.calls[position], expected, got, key.check.tolerance)
    return None


def _with_cause(difference: Difference, slip: Found) -> Difference:
    text = f"{slip.text}{_stop(slip.text)} In detail: {difference.text}"
    return replace(difference, text=text, cause=f"generic.{slip.cause}")


def _stop(sentence: str) -> str:
    return "" if sentence.endswith("?") else "."


def _answered(answer: Answer) -> bool:
    if "value" not in answer:
        return False
    several = answer["value"].get("items") or [answer["value"]]  # one result for each use of an object
    return any(answer.get("kind") != "none" for answer in several)


def _exchanged(wants: list[Array | None], parts: list[Array | None], tolerance: float) -> str:
    """A sentence where all results are right and stand in another order; "" elsewhere."""
    results = [want for want in wants if want is not None]
    if not 2 <= len(results) == len(wants) <= MOST_RESULTS or max(len(want.data) for want in results) > 8 * MOST:
        return ""
    if len({want.shape for want in results}) == 1 and math.prod(results[0].shape) < FEWEST:
        return ""  # few numbers of one shape may be the same by chance
    order: list[int] = []  # of which result each one holds the numbers
    for part in parts:
        left = [place for place in range(len(wants)) if place not in order]
        held = [place for place in left if _same(wants[place], part, tolerance)]
        if not held:
            return ""
        order.append(held[0])
    if order == sorted(order):
        return ""
    if len(order) == 2:
        return "Both results are right, in the wrong order"
    listed = ", ".join(str(place + 1) for place in order)
    return f"All results are right, in the wrong order: you return those that are due as number {listed}"


def _same(want: Array | None, part: Array | None, tolerance: float) -> bool:
    if not want or not part or want.shape != part.shape:
        return False
    pair = Pair(want, part, tolerance, "")
    return pair.same(pair.due, pair.given)


def _unread(key: Key, position: int, due: Any) -> set[int]:
    """Of several results those that the check's view does not read: whatever stands there, it sees the same."""
    view, call = key.check.view, key.calls[position]
    if view is None or not isinstance(due, (tuple, list)) or not all(isinstance(result, Array) for result in due):
        return set()

    def seen(place: int, byte: bytes) -> Any:
        other = [replace(one, data=byte * len(one.data)) if at == place else one for at, one in enumerate(due)]
        return pack(view(call, type(due)(other)))

    try:
        right = pack(view(call, due))
        return {place for place in range(len(due)) if all(seen(place, byte) == right for byte in (b"\0", b"\1"))}
    except Exception:  # a view of a learner's answers need not read these
        return set()


def numbers_slip(
    call: dict[str, Any], expected: Any, got: Any, tolerance: float, unread: Collection[int] = ()
) -> Found | None:
    """The first statement that is true of the arrays of an answer that differ; None where none is.

    call: the packed call, whose sizes may explain a factor
    unread: the places of results that the check says nothing of: these tell where weights are wrong, and no more
    """
    wants, parts = ([as_array(leaf) for leaf in leaves(tree)] for tree in (expected, got))
    if len(wants) != len(parts):
        return None
    if turned := _exchanged(wants, parts, tolerance):
        return Found("exchanged", turned)
    pairs, read = [], []
    for number, (want, part) in enumerate(zip(wants, parts, strict=True), 1):
        if want is None or part is None or max(len(want.data), len(part.data)) > 8 * MOST:
            return None
        where = f" (result {number} of {len(wants)})" if len(wants) > 1 else ""
        pair = Pair(want, part, tolerance, where)
        if want.shape != part.shape or not pair.same(pair.due, pair.given):
            pairs.append(pair)
            if number - 1 not in unread:
                read.append(pair)
    for pair in pairs if len(wants) > 1 else ():  # what is mixed by weights is wrong where they are
        if slip := rows.largest_takes_all(pair, call) or shares.other_shares(pair, call) or scale.whole(pair, call):
            return Found(slip.cause, slip.text + pair.where)
    if not read:
        return None
    first = read[0]
    alike = first.want.shape == first.part.shape and bool(first.due)
    silent = OF_NO_DRAW if scale.dropout_of(call) else ()
    for detect in (*OF_ANY_SHAPE, *(OF_ONE_SHAPE if alike else OF_ANOTHER_SHAPE)):
        slip = detect(first, call) if detect not in silent else None
        if slip:
            return Found(slip.cause, slip.text + first.where)
    return None
