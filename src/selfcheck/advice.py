"""What an exception is put down to, by its words and its line, and what to tell whoever meets it for the first time."""

from __future__ import annotations

from typing import Any

from .axis_advice import advice_on_axes
from .exception_words import ADVICE
from .line_slips import compared, is_product_of_two, nodes_in, two_shapes

CHAINED = "Python reads a < b < c as `a < b and b < c`, and `and` wants one truth value"
BRACKETS = "& and | bind more tightly than a comparison, so `a < b & c < d` compares with `b & c`"
ENTRYWISE = "An asterisk works entry by entry: is a matrix product meant?"


def advice_on(error: dict[str, Any], text: str) -> tuple[str, str]:
    """The cause of an exception, an id of generic_slips.py or "", and the advice; both "" where nothing is known.

    error: as the runner describes it; text: what it says, in one line
    """
    known = next(((cause, advice) for cause, advice, parts in ADVICE if any(part in text for part in parts)), ("", ""))
    line = list(nodes_in(str(error.get("source", ""))[:200]))
    if known[0] == "truth_value":
        slip = compared(line)
        return (slip, {"brackets": BRACKETS, "chained": CHAINED}[slip]) if slip else known
    at_fault = list(nodes_in(str(error["expression"])[:200])) if "expression" in error else line
    axes = advice_on_axes(known[0], text, at_fault, str(error.get("source", "")), _shapes_in(error))
    if axes:
        return axes
    if known[0] == "shapes_apart" and error.get("operation") == "product of two" and is_product_of_two(line):
        return "entrywise", ENTRYWISE
    if known[0] == "shapes_apart" and (both := two_shapes(at_fault, _shapes_in(error))):
        return known[0], f"Here {both}. {known[1]}"
    nothing = error.get("none")
    if known[0] == "none_used" and isinstance(nothing, str) and nothing:
        return "none_used", f"`{nothing[:80]}` {'are' if ' and ' in nothing else 'is'} None here"
    near = error.get("near")
    if error.get("type") == "AttributeError" and isinstance(near, str) and near.isidentifier():
        return "misspelt", f"Is {near[:60]} meant?"
    return known


def _shapes_in(error: dict[str, Any]) -> dict[str, tuple[int, ...]]:
    """The shape of each name in the expression at fault, as far as the runner describes them."""
    came = error.get("shapes")
    return {
        str(name)[:60]: tuple(shape[:8])
        for name, shape in (came.items() if isinstance(came, dict) else ())
        if isinstance(shape, list) and all(isinstance(length, int) for length in shape)
    }
