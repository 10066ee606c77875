"""Names values, arguments and places in an answer as a tutor would."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .arrays import Array, as_array
from .objects import TORCHS_SEED

FUNCTIONS = ("function", "method", "builtin_function_or_method")
TYPES = {"generator": "a generator", "dict": "a dict", "set": "a set", "text": "a text"}
TYPES |= dict.fromkeys(FUNCTIONS, "a function")
ADVICE_ON_TYPES = dict.fromkeys(FUNCTIONS, "; are the brackets () of a call missing?")
ADVICE_ON_TYPES["generator"] = "; yield makes one"


def expected_form(value: Any) -> str:
    """The name of what is expected, where its dtype, and for NumPy its kind, is free."""
    if isinstance(value, Array):
        return f"{'a tensor' if value.kind == 'tensor' else 'an array'} of shape {value.shape}"
    return name_of(value)


def name_of(value: Any) -> str:
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
    return f"the number {number_text(value)}"


def number_text(number: Any, digits: int = 4) -> str:
    return f"{number:.{digits}g}" if isinstance(number, float) else str(number)


def apart(due: Any, given: Any) -> tuple[str, str]:
    """Two numbers that differ, with as many digits as it takes to see it."""
    texts = ((number_text(due, digits), number_text(given, digits)) for digits in range(4, 18))
    return next((pair for pair in texts if pair[0] != pair[1]), (number_text(due), number_text(given)))


def index_text(place: int, shape: tuple[int, ...]) -> str:
    positions = []
    for length in reversed(shape):
        place, position = divmod(place, length)
        positions.append(position)
    return "[" + ", ".join(str(position) for position in reversed(positions)) + "]"


def form_advice(wanted: Any, came: Any) -> str:
    """What an answer that is no array, or not of the kind expected, may come of."""
    if came is None:
        return "; is the return statement missing?"
    if isinstance(came, dict):
        return ADVICE_ON_TYPES.get(str(came.get("type")), "")
    if isinstance(came, tuple) and len(came) == 1:
        return "; is there a comma after the value that is returned?"
    if isinstance(came, list) and as_array(came) is None:
        return "; are its rows of one length, and its entries numbers?"
    return ""


def form_slip(wanted: Any, came: Any) -> str:
    """The id of the slip (see generic_slips.py) of an answer of another form; "" where it could be many."""
    if came is None:
        return "generic.no_return"
    if isinstance(came, dict):
        name = str(came.get("type"))
        if name in ("dict", "generator"):
            return f"generic.{name}"
        return "generic.not_called" if name in FUNCTIONS else ""
    if isinstance(came, tuple) and len(came) == 1:
        return "generic.comma"
    if _several(wanted, came):
        return "generic.several"
    if isinstance(came, list) and as_array(came) is None:
        return "generic.ragged"
    if isinstance(wanted, Array) and wanted.kind == "tensor" and (not isinstance(came, Array) or came.kind != "tensor"):
        return "" if isinstance(came, (tuple, list)) else "generic.no_tensor"
    return ""


def _several(wanted: Any, came: Any) -> bool:
    """Whether a tuple of tensors of unlike shapes, or of a tensor and something else, stands where a tensor is due."""
    if not isinstance(wanted, Array) or wanted.kind != "tensor" or not isinstance(came, tuple) or len(came) < 2:
        return False
    shapes = [part.shape if isinstance(part, Array) else None for part in came]
    return shapes[0] is not None and any(shape != shapes[0] for shape in shapes[1:])


def changed_text(names: Sequence[str]) -> str:
    """What an answer has changed that is not its own."""
    if TORCHS_SEED in names:
        return f"your code sets {TORCHS_SEED}: what is drawn after it is the same each time"
    return f"your code changed what it was given ({', '.join(map(argument_name, names))})"


def argument_name(name: str) -> str:
    """The runner's name of a value in words: "0", "key", "0[2]", "state.q_proj.weight", of the second use "1.key"."""
    if name.startswith("state."):
        return f"the parameter {name.removeprefix('state.')}"
    owner, bracket, number = name.removesuffix("]").rpartition("[")
    if name.endswith("]") and bracket and number.isdecimal():  # one of several tensors in an argument
        return f"tensor {int(number) + 1} of {argument_name(owner)}"
    use, dot, rest = name.partition(".")
    if dot and use.isdecimal():
        return f"{argument_name(rest)} of call {int(use) + 1}"
    return f"argument {int(name) + 1}" if name.isdecimal() else name
