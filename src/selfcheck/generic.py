"""Names slips that any exercise may meet, where no misconception of its own explains a failure.

Each is a statement about the learner's own answer, its exception or the expected answer to the same input, and is made
only where it is true. Only draws that are shown come here: no word of it can tell of an input that is not.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from . import generic_functions as functions
from . import generic_places as places
from . import generic_rows as rows
from . import generic_scale as scale
from . import generic_sizes as sizes
from . import generic_state as state
from .advice import ADVICE
from .arrays import Array, as_array, unpack
from .compare import Answer, Difference
from .diagnose import Key
from .generic_pairs import FEWEST, Found, Pair
from .trees import leaves
from .words import argument_name

#: What a class report says of each slip; a learner reads the same with the numbers of the case.
SLIPS = {
    "transposed": "Two axes of the answer have changed places.",
    "reversed": "Along one axis the answer stands in reverse order.",
    "shifted": "Along one axis the answer is shifted by one position.",
    "factor": "The answer is the expected one times a constant.",
    "sign": "Every entry has the opposite sign.",
    "offset": "A constant was added to every entry.",
    "equal_rows": "Every row of the answer is the same.",
    "first_alone": "Along one axis only the first part of the answer is right.",
    "one_alone": "Along one axis only one part of the answer is right.",
    "first_wrong": "Everything is right but the first along one axis.",
    "last_wrong": "Everything is right but the last along one axis.",
    "first_missing": "The first along one axis is missing.",
    "last_missing": "The last along one axis is missing.",
    "inverted": "True and False have changed places.",
    "truncated": "Every number is a whole one: its fraction was cut off.",
    "rounded": "Every number is rounded to a few decimals.",
    "imprecise": "The answer is near the expected one, as if computed in a lower precision.",
    "dropped": "Entries are zero and the others scaled, as dropout leaves them, where that is not due.",
    "coinciding": "The code is right where two sizes are equal, and nowhere else.",
    "another_size": "One axis of the answer has the length of another axis, or of another number that was given.",
    "axes_merged": "Two axes of the answer have become one.",
    "part": "One part of the formula is another one, and all others are right: the message says which.",
    "zeros": "Some entries are zero where a number is due, and all others are right.",
    "overflow": "Large scores give NaN: the exponential overflows.",
    "nan_given": "A NaN of the input reaches the answer.",
    "half_sum": "In float16 a sum or product on the way is larger than the largest number there.",
    "masked_nan": "A fully masked row is NaN.",
    "masked_uniform": "A fully masked row has equal weights.",
    "nan": "NaN where a number is due.",
    "no_return": "The function returns None.",
    "one_return_missing": "The function returns None for some arguments and an answer for others.",
    "printed": "The answer is printed and not returned.",
    "not_called": "A function or method stands where its result is due: the brackets of the call are missing.",
    "generator": "A generator stands where its values are due.",
    "comma": "A comma makes a tuple of one of the answer.",
    "ragged": "Nested lists with rows of different lengths.",
    "no_tensor": "A tensor is due, and something else came.",
    "transposed_shape": "The answer has the shape of the transpose.",
    "first_row": "The answer is the first row alone.",
    "one_row": "The first axis of the answer is missing.",
    "axis_of_one": "An axis of length 1 is missing, or is too many.",
    "flat": "All entries stand in one row.",
    "axes_apart": "Two axes stand apart that belong together.",
    "joined_in_front": "Parts are joined along the first axis in place of another.",
    "dtype_kind": "The result has a dtype of another kind.",
    "dtype_promoted": "The result has a wider dtype than the arguments.",
    "dtype_lost": "The result has a narrower dtype than the arguments.",
    "no_gradient": "No gradient arrives at an argument or parameter.",
    "generator_ignored": "Random numbers do not come from the generator that is given.",
    "changed": "An argument was changed in place.",
    "clipped": "Zero stands for every negative number.",
    "largest_alone": "In each row the largest number takes all, as argmax has it.",
    "added_up": "Along the first axis the parts are added up from one to the next.",
    "rest_zero": "Nothing but the first part along the first axis was written.",
    "rearranged": "The answer holds the right numbers in other places.",
    "joined": "Several results stand beside each other in one array.",
    "function": "Each entry is a simple function of the one that is due: its logarithm, its square.",
    "line_factor": "Each row, or each column, is right but for a factor of its own.",
    "line_offset": "Each row, or each column, is right but for a number that was added to it.",
    "reduced": "One axis is gone: the answer is the sum, the mean or the largest along it.",
    "whole": "Every number is whole where fractions are due.",
    "counted": "The results are right, and more or fewer than are due.",
    "nan_gradient": "A gradient is NaN, of an answer whose numbers are all finite.",
    "axes_order": "The axes of the answer stand in another order.",
    "dict": "A dict stands where the results are due.",
    "exchanged": "All results are right, in the wrong order.",
    "several": "Several things came where one is due.",
    "parameters": "The parameters have other names or shapes than those asked for.",
    "one_object": "One layer stands under two names.",
    "unused": "The answer does not depend on a parameter.",
    "not_written": "A parameter still has its old numbers.",
    "another_parameter": "A parameter holds the numbers of another.",
    "added_to_old": "The right numbers were added to the old ones.",
    "other_module_written": "A module was changed from which the code was to read.",
    "parameter_shared": "Two modules share the memory of a parameter.",
    "parameter_replaced": "A parameter was replaced by another.",
    "parameter_frozen": "A parameter no longer asks for gradients.",
    "device": "The device that is asked for, by its name or by a tensor that is given, is ignored.",
    "brackets": "& or | stands between comparisons without brackets.",
    "chained": "A chained comparison of tensors.",
    "fixed_axes": "The code counts on a fixed number of axes.",
    "matrix_for_row": "One index takes a matrix where a row is meant, because batches stand in front.",
    "misspelt": "A misspelt name of a library.",
    "lists": "Nested lists are used as arrays.",
    "not_imported": "A name is used that is not imported.",
    "unbound": "A name is used before it has a value.",
    "unknown_name": "A name is used that does not exist.",
    "shared_rows": "The rows of nested lists are one list.",
    "power_first": "A power is taken before the fraction that was meant as its exponent.",
    "axis_lost": "A sum or the like along an axis has lost the axis that it is to be laid over.",
    "entrywise": "An asterisk stands where a matrix product is meant.",
    "compared": "A comparison stands where an assignment is meant.",
    "result_unused": "A new tensor is made and not used.",
    "endless_calls": "The function calls itself without end.",
    "ends_python": "The code ends Python.",
}
SLIPS |= {cause: f"An exception. {advice}." for cause, advice, _ in ADVICE if cause and cause not in SLIPS}
SLIPS = {f"generic.{name}": text for name, text in SLIPS.items()}

Detector = Callable[[Pair, dict[str, Any]], Found | None]
COMPARED = ("values", "facts", "nan", "shape")  # kinds of difference that speak of numbers
MOST = 20_000  # entries that are looked at
MOST_RESULTS = 6  # of which another order is looked for
WHERE_ALONE = ("first_alone", "one_alone", "line_factor")  # causes that say where numbers are right, and not why
#: Those that compare two arrays of whatever shapes, and those of one shape; what says more of a cause comes first.
OF_ANY_SHAPE: tuple[Detector, ...] = (places.transposed, places.missing)
OF_ANOTHER_SHAPE: tuple[Detector, ...] = (rows.rearranged, functions.reduced)
OF_ONE_SHAPE: tuple[Detector, ...] = (
    places.inverted,
    places.masked_rows,
    scale.overflow,
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
    functions.line_factors,
    scale.imprecise,
    places.parts,
    functions.whole_numbers,
)


def named_in_general(key: Key, answers: list[Answer], position: int, difference: Difference) -> Difference:
    """The difference of a draw, with its cause and a sentence about it where one is true; else as it is.

    position: of the call that differs
    """
    if difference.cause == "generic.no_return" and any(_answered(answer) for answer in answers):
        text = f"{difference.text.partition(';')[0]}; other calls here get an answer: one branch has no return"
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
        slip = numbers_slip(key.calls[position], due, came, key.check.tolerance)
        if slip is None or slip.cause in WHERE_ALONE:
            slip = _part(key, position, due, came) or slip
        if slip is None and difference.kind == "shape" and not difference.cause:
            slip = sizes.another_size(key.calls[position], due, came) or sizes.merged_axes(due, came)
    except (ValueError, OverflowError, ZeroDivisionError):  # whatever a learner returned
        return difference
    if slip:
        return _with_cause(difference, slip)
    if got.get("changed") and not expected.get("changed"):
        listed = ", ".join(argument_name(str(name)) for name in got["changed"])
        text = f"Your code changed what it was given ({listed}): work on a copy. In detail: {difference.text}"
        return replace(difference, text=text, cause="generic.changed")
    return difference


def _part(key: Key, position: int, due: Any, came: Any) -> Found | None:
    """The part of the formula that an answer has otherwise, where the check can tell it."""
    try:
        text = key.check.tells(key.calls[position], due, came) if key.check.tells else ""
    except Exception:  # it meets whatever a learner returned
        return None
    return Found("part", text) if text else None


def _beside_the_numbers(key: Key, expected: Answer, got: Answer, position: int, difference: Difference) -> Found | None:
    """What a module's parameters tell of a difference."""
    if difference.kind in (*COMPARED, "gradient", "changed") and not difference.cause.startswith("generic.no_return"):
        slip = state.one_object(got)
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


def numbers_slip(call: dict[str, Any], expected: Any, got: Any, tolerance: float) -> Found | None:
    """The first statement that is true of the arrays of an answer that differ; None where none is.

    call: the packed call, whose sizes may explain a factor
    """
    wants, parts = ([as_array(leaf) for leaf in leaves(tree)] for tree in (expected, got))
    if len(wants) != len(parts):
        return None
    if turned := _exchanged(wants, parts, tolerance):
        return Found("exchanged", turned)
    pairs = []
    for number, (want, part) in enumerate(zip(wants, parts, strict=True), 1):
        if want is None or part is None or max(len(want.data), len(part.data)) > 8 * MOST:
            return None
        where = f" (result {number} of {len(wants)})" if len(wants) > 1 else ""
        pair = Pair(want, part, tolerance, where)
        if want.shape != part.shape or not pair.same(pair.due, pair.given):
            pairs.append(pair)
    if not pairs:
        return None
    first = pairs[0]
    alike = first.want.shape == first.part.shape and bool(first.due)
    for detect in (*OF_ANY_SHAPE, *(OF_ONE_SHAPE if alike else OF_ANOTHER_SHAPE)):
        slip = detect(first, call)
        if slip:
            return Found(slip.cause, slip.text + first.where)
    hard = [slip for pair in pairs[1:] if (slip := rows.largest_takes_all(pair, call))]
    return Found(hard[0].cause, hard[0].text + pairs[-1].where) if hard else None
