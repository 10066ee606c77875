"""Says in a tutor's words what an exception in a learner's code means."""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import Any

from .catalogue import exercises

#: Slips that have nothing to do with the input: what the check expected of it is no help.
SLIPS = ("NameError", "UnboundLocalError", "ImportError", "ModuleNotFoundError", "RecursionError", "SystemExit")

LISTS = "The arguments may be plain nested lists: numpy.asarray(...) turns them into arrays"
TRUTH = (
    "`and`, `or`, `not` and `if` want one truth value; for each entry use &, | and ~. "
    "Whether something was given at all asks `is not None`"
)
WALKED = "It can be walked with for, once: it has neither places nor a length"
POWER = "A power is written **: ^ is another operator"
WHOLE = "/ gives a float, even 4 / 2; // divides whole numbers"
SUPER = "Begin __init__ with super().__init__(): it makes room for layers and parameters"
FILES = (
    "Where answers are graded, files can be written in the temporary folder alone, tempfile.gettempdir(): to look at "
    "numbers, print them"
)
DTYPE = "A new tensor is float32 unless you say dtype=…: give it that of the input"
#: What a message contains, and what to tell whoever meets it for the first time.
ADVICE = (
    ("Boolean value of Tensor", TRUTH),
    ("truth value of an array", TRUTH),
    ("cannot be interpreted as an integer", WHOLE),
    ("tuple of ints,but got float", WHOLE),
    ("tuple of ints, but found element of type float", WHOLE),
    ("tuple of ints, not float", WHOLE),
    ("must be int, not float", WHOLE),
    ("got (float, int)", WHOLE),
    ("got (int, float)", WHOLE),
    ("got (float, dim=int)", WHOLE),
    ("got (bool, float)", "A comparison with None is one plain True or False: ask first whether a mask `is not None`"),
    ("return_types", "Along an axis max, min, median and sort return values *and* positions; amax and amin the values"),
    ("'generator' object", WALKED),
    ("object of type 'generator'", WALKED),
    ("too many values to unpack", "More came than there are names: an asterisk before a name collects what is left"),
    ("operand type(s) for ^", POWER),
    ("bitwise_xor", POWER),
    (
        "has no attribute 'backward'",
        "backward starts from the loss as a tensor: item() and float() make a plain number of it, so they come last",
    ),
    (
        "does not have a grad_fn",
        "backward finds no way to the parameters: no_grad, detach, argmax or a new tensor has cut it off",
    ),
    ("must be Tensor, not float", "A plain number came: torch's functions want tensors, those of math want numbers"),
    (
        "only one element tensors",
        "int(), float() and the functions of math take one number, torch's functions whole tensors; and torch.stack(…) "
        "makes one tensor of a list of tensors",
    ),
    ("not supported between instances of", "Have two arguments changed places? Pass them by name"),
    ("can't assign a list to", "torch.tensor(…) makes a tensor of a list, torch.stack(…) of a list of tensors"),
    (
        "as element 0 in argument 0, but got list",
        "An asterisk hands a list over one by one: f(*tensors)",
    ),
    ("'NoneType'", "Something is None here: an argument that was left out, or the answer of a function without return"),
    ("without overflow", "float16 ends at 65504, so -1e9 is no number there: minus infinity is float('-inf')"),
    ("Can't call numpy()", "NumPy keeps no gradients, and detach would cut them off: use torch's functions throughout"),
    (
        "must match the size",
        "Write the shapes below each other, last axes in line: the pairs must be equal, or one of them 1",
    ),
    (
        "operands could not be broadcast together",
        "An asterisk works entry by entry; a matrix product is @ or numpy.dot",
    ),
    ("cannot be multiplied", "In a @ b the last axis of a must be as long as the last but one of b: transpose one?"),
    (
        "not aligned",
        "In a matrix product the columns of the first must be as many as the rows of the second: transpose one?",
    ),
    (
        "unexpected keyword",
        "The names of the arguments belong to the exercise: leave the line that begins with def as it was",
    ),
    ("No module named", "NumPy and torch are all you need; your own files are imported as in `from .masks import …`"),
    ("EOF when reading", "The checks pass everything as arguments: nothing is to be typed in"),
    ("for 'Long'", "Whole numbers came in: turn them into floats first"),
    ("before Module.__init__() call", SUPER),
    ("has no attribute '_parameters'", SUPER),
    (
        "is invalid for input of size",
        "reshape keeps the number of entries: multiply the sizes on both sides and compare",
    ),
    (
        "view size is not compatible",
        "After a transpose the entries lie out of order in memory: reshape copies where view cannot",
    ),
    ("to have the same dtype", DTYPE),
    ("must have the same dtype", DTYPE),
    ("expected scalar type", DTYPE),
    (
        "leaf Variable that requires grad",
        "Leave arguments as they are and make a new tensor; a parameter's own numbers are overwritten under "
        "`with torch.no_grad():`",
    ),
    ("Permission denied", FILES),
    ("Read-only file system", FILES),
    ("as parameter", "Assign an nn.Parameter, or copy the numbers into the one that is there with copy_"),
)


def explain(exercise: str, error: dict[str, Any], reveal: bool, before: str = "") -> tuple[str, str]:
    """The kind of a difference (see compare.Difference) and its text, for an error as the runner describes it.

    exercise: the id of the exercise whose check met it; reveal: whether its own words may be repeated
    before: what the check expected instead
    """
    kind, text = str(error.get("type")), " ".join(str(error.get("text")).split())  # one line, or it forges another
    if kind == "NotImplementedError" and (not text or text.startswith("exercise ")):
        return _not_written(exercise, text)
    if error.get("importing"):
        return _importing(error, kind, text)
    if kind == "StateMismatch":
        return "parameters", text
    if kind == "NotRefused":
        return "no error", text
    if kind == "Stopped":
        return "stopped", text
    if kind == "MemoryError" or "can't allocate memory" in text:
        return "stopped", "your code asked for far more memory than its inputs need: which shape is too large?"
    if kind == "RecursionError":
        return "raised", f"your code calls itself without end{_where(error)}: which call should it be instead?"
    if kind == "SystemExit":
        return "raised", f"your code ends Python{_where(error)}: hand the answer back with return instead"
    before = "" if kind in SLIPS else before
    text = text.partition(", but expected one of")[0].rstrip()  # torch's list of signatures fills a screen
    if not reveal:  # a learner's own exception may quote the input
        return "raised", f"{before}your code raised {kind}{_where(error)}"
    advice = _advice(exercise, kind, text)
    return "raised", f"{before}your code raised {kind}: {text}{_where(error)}" + (f". {advice}" if advice else "")


def _not_written(exercise: str, text: str) -> tuple[str, str]:
    """A stub was met: the exercise's own, or that of another exercise which the learner's code calls."""
    found = re.match(r"exercise (\d+\.\d+)", text)
    others = [one.id for one in exercises() if found and one.number == found[1]]
    if others and exercise not in others:
        return "raised", f"your code calls {others[0]}, which is not written yet ({text})"
    return "not started", f"not started yet: {text}" if text else "not started yet"


def _importing(error: dict[str, Any], kind: str, text: str) -> tuple[str, str]:
    if kind == "AttributeError" and not error.get("line"):  # the module itself was imported
        return "missing", f"it is not there: {text}"
    advice = ""
    if kind in ("IndentationError", "TabError"):
        advice = ". The lines of a function's body begin with the same four spaces, no tabs"
    elif kind == "SyntaxError":
        advice = ". If that line looks right, look at the end of the one before"
    elif kind in ("ModuleNotFoundError", "PermissionError", "OSError"):
        advice = f". {_advice('', kind, text)}"
    return "import", f"the module cannot be imported: {kind}: {text}{_where(error)}{advice}"


def _where(error: dict[str, Any]) -> str:
    if not error.get("line"):
        return ""
    place = f", in line {error['line']}"
    if error.get("file"):
        place += f" of {PurePath(str(error['file'])).name[:100]}"
    return place + (f": `{error['source']}`" if error.get("source") else "")


def _is_class(exercise: str) -> bool:
    return exercise.rpartition(".")[2][:1].isupper()


def _takes_lists(exercise: str) -> bool:
    return any(part.id == exercise and part.library == "numpy" for part in exercises())


def _advice(exercise: str, kind: str, text: str) -> str:
    if kind in ("NameError", "UnboundLocalError"):
        found = re.match(r"name '(\w+)' is not defined", text)
        lines = {"np": "import numpy as np", "F": "import torch.nn.functional as F"}
        lines |= {name: f"import {name}" for name in ("numpy", "math", "torch", "copy")}
        # Your own functions of other modules, which the exercise's text may ask for.
        lines |= {one.symbol: f"from .{one.module} import {one.symbol}" for one in exercises()}
        if found and found[1] in lines:
            return f"Write `{lines[found[1]]}` at the top of the file"
        if kind == "UnboundLocalError":
            whose = "What an object remembers between calls belongs to self. " if _is_class(exercise) else ""
            return f"{whose}A name that a function assigns is its own: it needs a value before this line"
        return "Is it spelled as where it was made?" if kind == "NameError" and "Did you mean" not in text else ""
    if _takes_lists(exercise) and kind in ("AttributeError", "TypeError") and "list" in text:
        return LISTS
    return next((advice for part, advice in ADVICE if part in text), "")
