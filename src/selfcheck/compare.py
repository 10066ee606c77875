"""Compares an answer with the one expected, and says in a tutor's words where they part."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import Any

from .arrays import Array
from .aspects import ASPECTS, Answer
from .exceptions import explained
from .kept import Kept
from .plan import Check
from .trees import Difference, compare_trees, leaves, none_where_one_is_due
from .words import apart, expected_form, form_advice, form_slip, index_text, name_of

__all__ = ["Answer", "Difference", "compare"]

PRINTED = "; what your code prints is lost"
NO_FORM = Difference("structure", "the answer has not the expected form")


def compare(
    check: Check, call: dict[str, Any], expected: Answer, got: Answer, reveal: bool = True
) -> Difference | None:
    """The first difference in what the check compares, or None.

    call: the packed call; reveal: whether expected numbers may be named
    """
    if got == expected:  # to the last bit, as most right answers are
        return None
    expected, got = Kept.of(expected), Kept.of(got)
    if "error" in expected:
        if "error" in check.compares or "error" in got:
            return _compare_errors(check, call, expected, got, reveal)
        return Difference("no error", f"expected {expected['error']['type']}, got an answer")
    if "error" in got:
        return explained(check.exercise, got["error"], reveal)
    if difference := _nothing(expected, got):
        return difference
    for aspect in check.compares:
        if aspect == "values":
            difference = _values(check, call, expected, got, reveal)
        else:
            difference = ASPECTS[aspect](check, expected, got, reveal)
        if difference:
            return difference
    return None


def _nothing(expected: Kept, got: Kept) -> Difference | None:
    """None where something is due, whatever a check compares: of several uses, None each time."""
    wanted, came = expected.value, got.value
    each = isinstance(wanted, tuple) and isinstance(came, tuple) and len(came) > 0
    if each and all(part is None for part in came) and not any(part is None for part in wanted):
        wanted, came = wanted[0], None
    if wanted is None or came is not None:
        return None
    count = len(wanted) if isinstance(wanted, (tuple, list)) else 0
    text = f"expected {f'{count} results, as a tuple' if count else expected_form(wanted)}, got None"
    if got.get("printed"):
        return Difference("structure", text + PRINTED, "generic.printed")
    return Difference("structure", text + form_advice(wanted, None), form_slip(wanted, None))


def _compare_errors(check: Check, call: dict[str, Any], expected: Kept, got: Kept, reveal: bool) -> Difference | None:
    wanted = expected["error"]["type"]
    if "error" not in got:
        return _not_refused(call, wanted, got)
    if got["error"].get("type") == "NotImplementedError" or wanted not in got["error"].get("kinds", []):
        return explained(check.exercise, got["error"], reveal, f"expected {wanted}; ")
    return None


def _not_refused(call: dict[str, Any], wanted: str, got: Kept) -> Difference:
    """An answer where an exception is due: of None, or of nested lists, the form is amiss, and no raise is missing."""
    if "construct" in call and not call.get("uses"):  # no answer is due of an object that is made and not used
        return Difference("no error", f"this constructor call should raise {wanted}, but an object was made")
    came = got.value
    slip = form_slip(None, came)
    if slip:
        return Difference("no error", f"got {name_of(came)}{form_advice(None, came)}", slip)
    if call.get("kwargs", {}).get("device", {}).get("kind") == "text":
        if isinstance(came, Array) and came.kind == "tensor":
            text = "this call names a device that does not exist, and a tensor came back all the same"
            return Difference("no error", text, "generic.device")
        return Difference("no error", f"got {name_of(came)}, where a tensor is due", "generic.no_tensor")
    return Difference("no error", f"this call cannot be answered and should raise {wanted}, but an answer came back")


def _values(check: Check, call: dict[str, Any], expected: Kept, got: Kept, reveal: bool) -> Difference | None:
    raw = expected.value, got.value
    wanted, is_read = expected.seen(check, call)
    if not is_read:  # a misconception's answer, of a form the view does not read: compared as it is
        return compare_trees(*raw, check.tolerance, reveal, "")
    came, is_read = got.seen(check, call)
    if not is_read:
        return _other_form(*raw, reveal) or none_where_one_is_due(*raw) or NO_FORM
    if came is raw[1] and wanted is not raw[0]:  # left as it is, it must not pass for what a view says of answers
        return _other_form(*raw, reveal) or NO_FORM
    difference = compare_trees(wanted, came, check.tolerance, reveal, "")
    if difference and check.view and difference.kind in ("structure", "shape"):
        # What the view makes of an answer of another form means nothing to a learner: name the answer's own form.
        difference = _other_form(*raw, reveal) or difference
    if difference and difference.kind in ("values", "nan") and are_facts(wanted, raw[0]):
        difference = Difference("facts", f"this does not hold{_how_often(wanted, came, raw, reveal)}")
    if difference and check.view and difference.kind in ("values", "facts"):
        difference = replace(difference, text=difference.text + _derived(check, call))
    if (
        check.view
        and (not difference or difference.kind in ("values", "nan", "facts"))
        and not _may_overflow(check, call)
    ):
        # A view looks at some facts about an answer, and may see nothing amiss where its numbers are none.
        difference = none_where_one_is_due(*raw) or difference
    if difference and came is None and got.get("printed"):
        return Difference(difference.kind, difference.text.partition(";")[0] + PRINTED, "generic.printed")
    return difference


def _other_form(wanted: Any, came: Any, reveal: bool) -> Difference | None:
    """The difference between two answers if it lies in their form."""
    difference = compare_trees(wanted, came, math.inf, reveal, "")
    return difference if difference and difference.kind in ("structure", "shape") else None


def are_facts(viewed: Any, answer: Any) -> bool:
    """Whether a view has made statements of the answer, 1 where one holds: no numbers that a learner could compare."""
    return _zeros_and_ones(viewed) and not _zeros_and_ones(answer)


def _zeros_and_ones(value: Any) -> bool:
    return isinstance(value, Array) and value.dtype in ("bool", "int64") and set(value.values()) <= {0, 1}


def _how_often(wanted: Array, came: Any, raw: tuple[Any, Any], reveal: bool) -> str:
    """In how many of several cases a statement does not hold, and the first of them.

    raw: the expected answer and the learner's, whose numbers are told where the statement is about one entry
    """
    cases, results = wanted.values(), came.values() if isinstance(came, Array) else []
    wrong = [place for place, (a, b) in enumerate(zip(cases, results, strict=False)) if a != b]
    if len(cases) < 2 or not wrong:
        return ""
    first = index_text(wrong[0], wanted.shape)
    entries = [
        [leaf for leaf in leaves(tree) if isinstance(leaf, Array) and leaf.shape == wanted.shape] for tree in raw
    ]
    numbers = ""
    if reveal and all(len(some) == 1 for some in entries):
        due, given = apart(*(some[0].values()[wrong[0]] for some in entries))
        numbers = f", where {due} is expected and {given} came" if due != given else ""
    return f" in {len(wrong)} of {len(cases)} cases, first at {first}{numbers}"


def _may_overflow(check: Check, call: dict[str, Any]) -> bool:
    """Whether a right answer may have no finite numbers here, as the view says where it has `may_overflow(call)`."""
    may_overflow = getattr(check.view, "may_overflow", None)
    return bool(may_overflow and may_overflow(call))


def _derived(check: Check, call: dict[str, Any]) -> str:
    """What the numbers are that a view has made of an answer: in its own words, `words(call)` where it has those."""
    words = getattr(check.view, "words", None)
    told = " ".join((words(call) if words else getattr(check.view, "__doc__", None) or "").split())
    told = re.split(r"(?<=[^.])[.;](?: |$)|: (?=any other)", told)[0]
    return f". Compared is what follows from your answer: {told[:1].lower()}{told[1:]}" if told else ""
