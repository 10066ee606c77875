"""Compares an answer with the one expected, and says in a tutor's words where they part."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .arrays import Array, array, unpack
from .exceptions import explain
from .plan import Check
from .shapes import shape_advice
from .steps import listed, missing_parameter, wrong_shape

Answer = dict[str, Any]

PRINTED = "; what your code prints is lost: hand it back with return"
FUNCTIONS = ("function", "method", "builtin_function_or_method")
TYPES = {"generator": "a generator", "dict": "a dict", "set": "a set", "text": "a text"}
TYPES |= dict.fromkeys(FUNCTIONS, "a function")
ADVICE_ON_TYPES = dict.fromkeys(FUNCTIONS, "; are the brackets () of a call missing?")
ADVICE_ON_TYPES["generator"] = "; yield makes one: collect the values and return them"


@dataclass(frozen=True)
class Difference:
    """Where an answer parts from the expected one.

    kind: "missing", "not started", "import", "raised", "stopped", "no error", "structure", "shape", "dtype", "nan",
        "values", "facts", "gradient", "changed", "parameters", "state", "kept", "generator" or "memory"
    text: what a learner reads; open text may hold expected values, so it is made only for visible checks
    """

    kind: str
    text: str


NO_FORM = Difference("structure", "the answer has not the expected form")


def compare(check: Check, one: dict[str, Any], expected: Answer, got: Answer, reveal: bool = True) -> Difference | None:
    """The first difference in what the check compares, or None.

    one: the packed call; reveal: whether expected numbers may be named
    """
    if got == expected:  # to the last bit, as most right answers are
        return None
    if "error" in expected:
        if "error" in check.compares or "error" in got:
            return _compare_errors(check, expected, got, reveal)
        return Difference("no error", f"expected {expected['error']['type']}, got an answer")
    if "error" in got:
        return Difference(*explain(check.exercise, got["error"], reveal))
    for aspect in check.compares:
        difference = _ASPECTS[aspect](check, one, expected, got, reveal)
        if difference:
            return difference
    return None


def _compare_errors(check: Check, expected: Answer, got: Answer, reveal: bool) -> Difference | None:
    wanted = expected["error"]["type"]
    if "error" not in got:
        return Difference(
            "no error", f"this call cannot be answered and should raise {wanted}, but an answer came back"
        )
    if got["error"].get("type") == "NotImplementedError" or wanted not in got["error"].get("kinds", []):
        return Difference(*explain(check.exercise, got["error"], reveal, f"expected {wanted}; "))
    return None


def _values(check: Check, one: dict[str, Any], expected: Answer, got: Answer, reveal: bool) -> Difference | None:
    wanted, came = raw = unpack(expected["value"]), unpack(got["value"])
    if check.view:
        try:
            wanted, came = check.view(one, wanted), check.view(one, came)
        except Exception:  # the view meets whatever a learner returned
            return _other_form(*raw, reveal) or NO_FORM
        if came is raw[1] and wanted is not raw[0]:  # left as it is, it must not pass for what a view says of answers
            return _other_form(*raw, reveal) or NO_FORM
    difference = _compare_trees(wanted, came, check.tolerance, reveal, "")
    if difference and check.view and difference.kind in ("structure", "shape"):
        # What the view makes of an answer of another form means nothing to a learner: name the answer's own form.
        difference = _other_form(*raw, reveal) or difference
    if difference and difference.kind in ("values", "nan") and _are_facts(wanted, raw[0]):
        difference = Difference("facts", f"this does not hold{_how_often(wanted, came)}")
    if difference and came is None and got.get("printed"):
        return Difference(difference.kind, difference.text.partition(";")[0] + PRINTED)
    return difference


def _other_form(wanted: Any, came: Any, reveal: bool) -> Difference | None:
    """The difference between two answers if it lies in their form."""
    found = _compare_trees(wanted, came, math.inf, reveal, "")
    return found if found and found.kind in ("structure", "shape") else None


def _are_facts(viewed: Any, answer: Any) -> bool:
    """Whether a view has made statements of the answer, 1 where one holds: no numbers that a learner could compare."""
    return _zeros_and_ones(viewed) and not _zeros_and_ones(answer)


def _zeros_and_ones(value: Any) -> bool:
    return isinstance(value, Array) and value.dtype in ("bool", "int64") and set(value.values()) <= {0, 1}


def _how_often(wanted: Array, came: Any) -> str:
    """In how many of several cases a statement does not hold."""
    cases, found = wanted.values(), came.values() if isinstance(came, Array) else []
    wrong = sum(a != b for a, b in zip(cases, found, strict=False))
    return f" in {wrong} of {len(cases)} cases" if len(cases) > 1 else ""


def _compare_trees(wanted: Any, came: Any, tolerance: float, reveal: bool, where: str) -> Difference | None:
    if isinstance(wanted, (tuple, list)):
        parts = _as_parts(came, len(wanted))
        if parts is None:
            count = f"{len(wanted)} results, as a tuple{where}"
            return Difference("structure", f"expected {count}, got {_name(came)}{_form_advice(None, came)}")
        for position, (want, part) in enumerate(zip(wanted, parts, strict=True)):
            inner = f" in result {position + 1} of {len(wanted)}"
            difference = _compare_trees(want, part, tolerance, reveal, inner)
            if difference and difference.kind == "shape" and isinstance(came, Array) and came.kind != "list":
                return Difference("structure", f"expected {len(wanted)} results, as a tuple{where}, got {_name(came)}")
            if difference:
                return difference
        return None
    if wanted is None or came is None:
        if wanted is came:
            return None
        # One result of several may be None: then something was returned, and no return is missing.
        advice = "" if where else _form_advice(wanted, came)
        return Difference("structure", f"expected {_wish(wanted)}{where}, got {_name(came)}{advice}")
    want, part = _as_array(wanted), _as_array(came)
    if part is None or want is None or (want.shape != part.shape and _is_tuple(came)):
        return Difference(
            "structure", f"expected {_wish(wanted)}{where}, got {_name(came)}{_form_advice(wanted, came)}"
        )
    return _compare_arrays(want, part, tolerance, reveal, where)


def _compare_arrays(want: Array, part: Array, tolerance: float, reveal: bool, where: str) -> Difference | None:
    if want.shape != part.shape:
        advice = shape_advice(want.shape, part.shape)
        return Difference("shape", f"expected shape {want.shape}{where}, got {part.shape}{advice}")
    pairs = list(zip(want.values(), part.values(), strict=True))
    wrong = [place for place, (a, b) in enumerate(pairs) if not close(a, b, tolerance)]
    if not wrong:
        return None
    first = _index(wrong[0], want.shape)
    a, b = pairs[wrong[0]]
    if isinstance(b, float) and math.isnan(b):
        return Difference("nan", f"NaN at {first}{where}; {len(wrong)} of {len(pairs)} entries are wrong")
    numbers = f": expected {_show(a)}, got {_show(b)}" if reveal else ""
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


def _dtype(check: Check, one: dict[str, Any], expected: Answer, got: Answer, reveal: bool) -> Difference | None:
    wanted, came = _leaves(unpack(expected["value"])), _leaves(unpack(got["value"]))
    for want, part in zip(wanted, came, strict=False):
        if not isinstance(want, Array) or not isinstance(part, Array) or part.kind != want.kind:
            if type(want) is not type(part) or isinstance(want, Array):
                return Difference("dtype", f"expected {_name(want)}, got {_name(part)}{_form_advice(want, part)}")
        elif part.dtype != want.dtype:
            advice = (
                "a comparison gives one, and so does .bool()"
                if want.dtype == "bool"
                else "make new tensors with it, and convert back what was widened"
            )
            return Difference("dtype", f"expected dtype {want.dtype}, got {part.dtype}; {advice}")
        elif part.shape != want.shape and not check.view:  # an argument handed back has its dtype for nothing
            return Difference(
                "shape", f"expected shape {want.shape}, got {part.shape}{shape_advice(want.shape, part.shape)}"
            )
    if len(wanted) != len(came):
        number = "one tensor" if len(wanted) == 1 else f"{len(wanted)} tensors"
        return Difference("structure", f"expected {number}, got {len(came)}{_form_advice(None, unpack(got['value']))}")
    return None


def _gradient(check: Check, one: dict[str, Any], expected: Answer, got: Answer, reveal: bool) -> Difference | None:
    for name, tree in expected.get("gradients", {}).items():
        wanted, came = unpack(tree), unpack(got.get("gradients", {}).get(name, {"kind": "none"}))
        if wanted is None:
            continue
        label = _argument_name(name)
        if not isinstance(came, Array):
            text = f"no gradient arrives at {label}: was a tensor detached, or made anew from numbers?"
            return Difference("gradient", text)
        difference = _compare_arrays(wanted, came, check.tolerance, reveal, f" in the gradient of {label}")
        if difference:
            return Difference("gradient", difference.text)
    return None


def _parameters(check: Check, one: dict[str, Any], expected: Answer, got: Answer, reveal: bool) -> Difference | None:
    """The names and shapes of a module's parameters, which are part of the exercise's text."""
    wanted, came = expected.get("parameters") or {}, got.get("parameters")
    if not isinstance(came, dict):
        return Difference("parameters", "what was built is no nn.Module, so it has no parameters")
    for name, shape in wanted.items():
        if name not in came:
            return Difference("parameters", missing_parameter(name, came))
        if came[name] != shape:
            return Difference("parameters", wrong_shape(name, shape, came[name]))
    more = [name for name in came if name not in wanted]
    if more:
        advice = "" if any("." in str(name) for name in more) else "; a buffer with persistent=False stays out of it"
        text = f"the state dict has {listed(more)} beside what is asked for: {listed(wanted)}"
        return Difference("parameters", text + advice)
    return None


def _state(check: Check, one: dict[str, Any], expected: Answer, got: Answer, reveal: bool) -> Difference | None:
    """What became of the modules among the arguments."""
    for argument, wanted in expected.get("states", {}).items():
        came = (got.get("states") or {}).get(argument, {})
        for name, tree in wanted.items():
            want, part = unpack(tree), unpack(came.get(name, {"kind": "none"}))
            where = f" in {name} of {_argument_name(argument)}"
            if not isinstance(part, Array):
                return Difference("state", f"{name} of {_argument_name(argument)} is gone: fill it, do not replace it")
            difference = _compare_arrays(want, part, check.tolerance, reveal, where)
            if difference:
                return Difference("state", difference.text)
    return None


LOST = {
    "shared": "now shares its memory with the other module: copy its numbers",
    "replaced": "is another parameter than before: fill the one that is there",
    "frozen": "no longer has requires_grad",
}


def _kept(check: Check, one: dict[str, Any], expected: Answer, got: Answer, reveal: bool) -> Difference | None:
    """Whether the modules among the arguments still have their own parameters."""
    for argument, wanted in expected.get("lost", {}).items():
        lost = got.get("lost")
        came = lost.get(argument) if isinstance(lost, dict) else None
        if not isinstance(came, dict):
            return Difference("kept", f"nothing is left of {_argument_name(argument)}")
        for name in [*wanted, *came]:
            if wanted.get(name) != came.get(name):
                text = LOST.get(str(came.get(name)), "is what it was")
                return Difference("kept", f"{str(name)[:60]} of {_argument_name(argument)} {text}")
    return None


def _unchanged(check: Check, one: dict[str, Any], expected: Answer, got: Answer, reveal: bool) -> Difference | None:
    if got.get("changed") == expected.get("changed"):
        return None
    listed = ", ".join(_argument_name(str(name)) for name in got.get("changed") or [])
    return Difference("changed", f"your code changed what it was given ({listed}): work on a copy")


def _generator(check: Check, one: dict[str, Any], expected: Answer, got: Answer, reveal: bool) -> Difference | None:
    """Whether random numbers came from the generator that was given, and from no other."""
    drawn = got.get("drawn") or {}
    if any(drawn.get(name) != wanted for name, wanted in expected.get("drawn", {}).items() if name):
        return Difference("generator", "no random number was drawn from the generator: pass it on to what draws")
    if drawn.get("") != expected.get("drawn", {}).get(""):
        return Difference("generator", "random numbers were drawn from torch's own generator, not from the one given")
    return None


MEMORY_FACTOR = 8  # how many times the reference's largest tensor a right answer may hold


def _memory(check: Check, one: dict[str, Any], expected: Answer, got: Answer, reveal: bool) -> Difference | None:
    """How large the largest tensor was that was made on the way."""
    allowed, held = MEMORY_FACTOR * expected.get("largest", 0), got.get("largest", 0)
    if held <= allowed:
        return None
    return Difference("memory", f"a tensor of {held} entries was made on the way; {allowed} are enough by far")


_ASPECTS: dict[str, Callable[..., Difference | None]] = {
    "values": _values,
    "dtype": _dtype,
    "gradient": _gradient,
    "unchanged": _unchanged,
    "error": lambda *_: None,  # an answer where an answer is due
    "parameters": _parameters,
    "state": _state,
    "kept": _kept,
    "generator": _generator,
    "memory": _memory,
}


def _argument_name(name: str) -> str:
    """The runner's name of a value in words: "0", "key", "0[2]", "state.q_proj.weight", of the second use "1.key"."""
    if name.startswith("state."):
        return f"the parameter {name.removeprefix('state.')}"
    owner, bracket, number = name.removesuffix("]").rpartition("[")
    if name.endswith("]") and bracket and number.isdecimal():  # one of several tensors in an argument
        return f"tensor {int(number) + 1} of {_argument_name(owner)}"
    use, dot, rest = name.partition(".")
    if dot and use.isdecimal():
        return f"{_argument_name(rest)} of call {int(use) + 1}"
    return f"argument {int(name) + 1}" if name.isdecimal() else name


def _as_parts(came: Any, count: int) -> list[Any] | None:
    """A tuple, a list or an array along its first axis, as `count` parts; None where it is none of these."""
    if isinstance(came, (tuple, list)) and len(came) == count:
        return list(came)
    if isinstance(came, Array) and came.shape[:1] == (count,):
        nested = came.nested()
        return [array(part, came.kind, came.dtype) for part in nested]
    return None


def _as_array(value: Any) -> Array | None:
    if isinstance(value, Array):
        return value
    try:
        if isinstance(value, (bool, int, float)):
            return array(value)
        if isinstance(value, (tuple, list)):
            rows = [_as_array(row) for row in value]
            return array([row.nested() for row in rows if row is not None]) if None not in rows else None
    except (ValueError, OverflowError):  # ragged rows, a number beyond all dtypes
        pass
    return None


def _is_tuple(value: Any) -> bool:
    return isinstance(value, tuple)


def _form_advice(wanted: Any, came: Any) -> str:
    """What to do about an answer that is no array, or not of the kind expected."""
    if came is None:
        return "; is the return statement missing?"
    if isinstance(came, dict):
        return ADVICE_ON_TYPES.get(str(came.get("type")), "")
    if isinstance(came, tuple) and len(came) == 1:
        return "; is there a comma after the value that is returned?"
    if isinstance(came, list) and _as_array(came) is None:
        return "; are its rows of one length, and its entries numbers?"
    if isinstance(wanted, Array) and wanted.kind == "tensor" and isinstance(came, Array) and came.kind != "tensor":
        return "; use torch's functions from the arguments to the result"
    return ""


def _leaves(value: Any) -> list[Any]:
    if isinstance(value, (tuple, list)):
        return [leaf for part in value for leaf in _leaves(part)]
    return [value]


def _wish(value: Any) -> str:
    """The name of what is expected, where its dtype, and for NumPy its kind, is free."""
    if isinstance(value, Array):
        return f"{'a tensor' if value.kind == 'tensor' else 'an array'} of shape {value.shape}"
    return _name(value)


def _name(value: Any) -> str:
    if value is None:
        return "None"
    if isinstance(value, Array):
        what = {"tensor": "a tensor", "ndarray": "a NumPy array", "list": "nested lists"}[value.kind]
        return f"{what} of shape {value.shape}" + ("" if value.kind == "list" else f" and dtype {value.dtype}")
    if isinstance(value, (tuple, list)):
        return f"a {type(value).__name__} of {len(value)}"
    if isinstance(value, dict):
        name = str(value.get("type") or value.get("kind"))
        return TYPES.get(name, name[:100])
    return f"the number {_show(value)}"


def _show(number: Any) -> str:
    return f"{number:.4g}" if isinstance(number, float) else str(number)


def _index(place: int, shape: tuple[int, ...]) -> str:
    found = []
    for length in reversed(shape):
        place, position = divmod(place, length)
        found.append(position)
    return "[" + ", ".join(str(position) for position in reversed(found)) + "]"
