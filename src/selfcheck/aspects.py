"""Compares what an answer did beside its values: dtype, gradients, modules, generators, memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .arrays import Array, unpack
from .kept import Kept
from .module_state import listed, missing_parameter, wrong_shape
from .plan import MEASURED, Check
from .shapes import shape_advice, shape_slip
from .trees import Difference, compare_arrays, leaves
from .words import argument_name, changed_text, form_advice, form_slip, name_of

Answer = dict[str, Any]


def _dtype(check: Check, expected: Answer, got: Answer, reveal: bool) -> Difference | None:
    wanted, came = leaves(Kept.of(expected).value), leaves(Kept.of(got).value)
    for want, part in zip(wanted, came, strict=False):
        if not isinstance(want, Array) or not isinstance(part, Array) or part.kind != want.kind:
            if type(want) is not type(part) or isinstance(want, Array):
                text = f"expected {name_of(want)}, got {name_of(part)}{form_advice(want, part)}"
                return Difference("dtype", text, form_slip(want, part))
        elif part.dtype != want.dtype:
            text = f"expected dtype {want.dtype}, got {part.dtype}"
            return Difference("dtype", text, _dtype_slip(want.dtype, part.dtype))
        elif part.shape != want.shape and not check.view:  # an argument handed back has its dtype for nothing
            text = f"expected shape {want.shape}, got {part.shape}{shape_advice(want.shape, part.shape)}"
            return Difference("shape", text, shape_slip(want.shape, part.shape))
    if len(wanted) != len(came):
        number = "one tensor" if len(wanted) == 1 else f"{len(wanted)} tensors"
        return Difference("structure", f"expected {number}, got {len(came)}{form_advice(None, Kept.of(got).value)}")
    return None


def _dtype_slip(want: str, part: str) -> str:
    """The id of the slip that another dtype is a sign of."""
    if "float" not in want or "float" not in part:
        return "generic.dtype_kind"
    return "generic.dtype_promoted" if _bits(part) > _bits(want) else "generic.dtype_lost"


def _bits(dtype: str) -> int:
    return int(dtype[dtype.index("float") + 5 :])


def _gradient(check: Check, expected: Answer, got: Answer, reveal: bool) -> Difference | None:
    for name, tree in expected.get("gradients", {}).items():
        wanted, came = unpack(tree), unpack(got.get("gradients", {}).get(name, {"kind": "none"}))
        if wanted is None:
            continue
        label = argument_name(name)
        if not isinstance(came, Array):
            text = f"no gradient arrives at {label}: was a tensor detached, or made anew from numbers?"
            return Difference("gradient", text, "generic.no_gradient")
        difference = compare_arrays(wanted, came, check.tolerance, reveal, f" in the gradient of {label}")
        if difference:
            return Difference("gradient", difference.text)
    return None


PARAMETERS = "generic.parameters"


def _parameters(check: Check, expected: Answer, got: Answer, reveal: bool) -> Difference | None:
    """The names and shapes of a module's parameters, which are part of the exercise's text."""
    wanted, came = expected.get("parameters") or {}, got.get("parameters")
    if not isinstance(came, dict):
        return Difference("parameters", "what was built is no nn.Module, so it has no parameters")
    for name, shape in wanted.items():
        if name not in came:
            return Difference("parameters", missing_parameter(name, came), PARAMETERS)
        if came[name] != shape:
            return Difference("parameters", wrong_shape(name, shape, came[name]), PARAMETERS)
    more = [name for name in came if name not in wanted]
    if more:
        text = f"the state dict has {listed(more)} beside what is asked for: {listed(wanted)}"
        return Difference("parameters", text, PARAMETERS)
    return None


def _state(check: Check, expected: Answer, got: Answer, reveal: bool) -> Difference | None:
    """What became of the modules among the arguments."""
    for argument, wanted in expected.get("states", {}).items():
        came = (got.get("states") or {}).get(argument, {})
        for name, tree in wanted.items():
            want, part = unpack(tree), unpack(came.get(name, {"kind": "none"}))
            where = f" in {name} of {argument_name(argument)}"
            if not isinstance(part, Array):
                return Difference("state", f"{name} of {argument_name(argument)} is gone", "generic.parameter_replaced")
            difference = compare_arrays(want, part, check.tolerance, reveal, where)
            if difference:
                return Difference("state", difference.text)
        more = [name for name in came if name not in wanted]
        if more:
            text = f"{argument_name(argument)} has {listed(more)} beside what it had"
            return Difference("state", text, "generic.parameter_replaced")
    return None


LOST = {
    "shared": "now shares its memory with the other module",
    "replaced": "is another parameter than before",
    "frozen": "no longer has requires_grad",
}


def _kept(check: Check, expected: Answer, got: Answer, reveal: bool) -> Difference | None:
    """Whether the modules among the arguments still have their own parameters."""
    for argument, wanted in expected.get("lost", {}).items():
        lost = got.get("lost")
        came = lost.get(argument) if isinstance(lost, dict) else None
        if not isinstance(came, dict):
            return Difference("kept", f"nothing is left of {argument_name(argument)}")
        for name in [*wanted, *came]:
            if wanted.get(name) != came.get(name):
                text = LOST.get(str(came.get(name)), "is what it was")
                slip = f"generic.parameter_{came.get(name)}" if came.get(name) in LOST else ""
                return Difference("kept", f"{str(name)[:60]} of {argument_name(argument)} {text}", slip)
    return None


def _unchanged(check: Check, expected: Answer, got: Answer, reveal: bool) -> Difference | None:
    if got.get("changed") == expected.get("changed"):
        return None
    return Difference("changed", changed_text(list(map(str, got.get("changed") or []))), "generic.changed")


GENERATOR = "generic.generator_ignored"


def _generator(check: Check, expected: Answer, got: Answer, reveal: bool) -> Difference | None:
    """Whether random numbers came from the generator that was given, and from no other."""
    drawn = got.get("drawn") or {}
    if any(drawn.get(name) != wanted for name, wanted in expected.get("drawn", {}).items() if name):
        return Difference("generator", "no random number was drawn from the generator", GENERATOR)
    if drawn.get("") != expected.get("drawn", {}).get(""):
        return Difference(
            "generator", "random numbers were drawn from torch's own generator, not from the one given", GENERATOR
        )
    return None


MEMORY_FACTOR = 8  # how many times the reference's largest tensor a right answer may hold


def _memory(check: Check, expected: Answer, got: Answer, reveal: bool) -> Difference | None:
    """How large the largest tensor was that was made on the way."""
    allowed, held = MEMORY_FACTOR * expected.get("largest", 0), got.get("largest", 0)
    if held <= allowed:
        return None
    return Difference("memory", f"a tensor of {held} entries was made on the way; {allowed} are enough by far")


PEAK_MIB = 140.0  # by which a process may grow where steps are asked of it that a check has measured from outside


def _peak(check: Check, expected: Answer, got: Answer, reveal: bool) -> Difference | None:
    """How far a process grew, where somebody outside it has measured that: the learner's own has no word in it."""
    if got.get("peak_mib", 0.0) <= PEAK_MIB:
        return None
    return Difference("memory", f"the process grew by {got['peak_mib']:.0f} MiB; {PEAK_MIB:.0f} are enough by far")


#: What compares each aspect but the values, which may be seen through a check's view first.
ASPECTS: dict[str, Callable[[Check, Answer, Answer, bool], Difference | None]] = {
    "dtype": _dtype,
    "gradient": _gradient,
    "unchanged": _unchanged,
    "error": lambda *_: None,  # an answer where an answer is due
    "parameters": _parameters,
    "state": _state,
    "kept": _kept,
    "generator": _generator,
    "memory": _memory,
    MEASURED: _peak,
}
