"""Says in a tutor's words what an exception in a learner's code means."""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import Any

from .advice import advice_on
from .catalogue import exercises
from .exception_words import LISTS
from .trees import Difference

#: Slips that have nothing to do with the input: what the check expected of it is no help.
SLIPS = ("NameError", "UnboundLocalError", "ImportError", "ModuleNotFoundError", "RecursionError", "SystemExit")
OWN_CALL = "the module cannot be imported, as a call outside any function raises"
GUARD = 'What tries out your code belongs below `if __name__ == "__main__":`, or into a notebook'
#: What torch raises on arguments that do not fit: where they are to be refused, how to make them fit is no help.
OF_ARGUMENTS = ("RuntimeError", "IndexError")
REFUSED = (
    "This call is wrong on purpose: the given lines, or lines of your own, must refuse it before anything is computed"
)
#: The cause of what has no advice of its own, an id of generic_slips.py.
CAUSES = {"RecursionError": "endless_calls", "SystemExit": "ends_python"}


def explained(exercise: str, error: dict[str, Any], reveal: bool, before: str = "") -> Difference:
    """The difference that an error makes, as the runner describes it; the arguments are those of `explain`."""
    kind, text = explain(exercise, error, reveal, before)
    cause = "parameters" if kind == "parameters" and reveal else ""
    if kind == "raised" and reveal:
        name = str(error.get("type"))
        cause = CAUSES.get(name) or _advice(exercise, error, _text_of(error))[0]
    return Difference(kind, text, f"generic.{cause}" if cause else "")


def explained_where_refused(
    exercise: str, difference: Difference, due: dict[str, Any], got: dict[str, Any]
) -> Difference:
    """A difference without advice where arguments are to be refused, of a line that raises nowhere else.

    due, got: the answers to the call, the one expected and the learner's
    """
    wanted, error = str(due.get("error", {}).get("type", "RuntimeError")), got.get("error", {})
    if difference.kind != "raised" or str(error.get("type")) not in OF_ARGUMENTS or wanted in OF_ARGUMENTS:
        return difference
    advice = _advice(exercise, error, _text_of(error))[1]
    if not advice:
        return difference
    return Difference("raised", f"{difference.text.removesuffix(f'. {advice}')}. {REFUSED}", "generic.not_refused")


def explain(exercise: str, error: dict[str, Any], reveal: bool, before: str = "") -> tuple[str, str]:
    """The kind of a difference (see compare.Difference) and its text, for an error as the runner describes it.

    exercise: the id of the exercise whose check met it; reveal: whether its own words may be repeated
    before: what the check expected instead
    """
    kind, text = str(error.get("type")), _text_of(error)
    if kind == "NotImplementedError" and not error.get("importing") and (not text or text.startswith("exercise ")):
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
        return "raised", f"your code ends Python{_where(error)}, where an answer is due"
    before = "" if kind in SLIPS else before
    text = text.partition(", but expected one of")[0].rstrip()  # torch's list of signatures fills a screen
    if not reveal:  # a learner's own exception may quote the input
        return "raised", f"{before}your code raised {kind}{_where(error)}"
    advice = _advice(exercise, error, text)[1]
    return "raised", f"{before}your code raised {kind}: {text}{_where(error)}" + (f". {advice}" if advice else "")


def _text_of(error: dict[str, Any]) -> str:
    """What an exception says, in one line, or it forges another."""
    return " ".join(str(error.get("text")).split())


def _not_written(exercise: str, text: str) -> tuple[str, str]:
    """A stub was met: the exercise's own, or that of another exercise which the learner's code calls."""
    match = re.match(r"exercise (\d+\.\d+)", text)
    others = [exercise.id for exercise in exercises() if match and exercise.number == match[1]]
    if others and exercise not in others:
        return "raised", f"your code calls {others[0]}, which is not written yet ({text})"
    return "not started", f"not started yet: {text}" if text else "not started yet"


def _importing(error: dict[str, Any], kind: str, text: str) -> tuple[str, str]:
    if kind == "AttributeError" and not error.get("line"):  # the module itself was imported
        return "missing", f"it is not there: {text}"
    advice = ""
    if isinstance(error.get("inner_line"), int):  # a call of its own made, which raised further in
        return "import", f"{OWN_CALL}: {kind}: {text}{_where(error)}, which ends in line {error['inner_line']}. {GUARD}"
    if kind in ("IndentationError", "TabError"):
        advice = ". The lines of a function's body begin with the same four spaces, no tabs"
    elif kind == "SyntaxError":
        advice = ". If that line looks right, look at the end of the one before"
    elif advised := _advice("", error, text)[1]:
        advice = f". {advised}"
    return "import", f"the module cannot be imported: {kind}: {text}{_where(error)}{advice}"


def _where(error: dict[str, Any]) -> str:
    if not error.get("line"):
        return ""
    place = f", in line {error['line']}"
    if error.get("file"):
        place += f" of {PurePath(str(error['file'])).name[:100]}"
    return place + (f": `{error['source']}`" if error.get("source") else "")


def _takes_lists(exercise: str) -> bool:
    return any(part.id == exercise and part.library == "numpy" for part in exercises())


def _advice(exercise: str, error: dict[str, Any], text: str) -> tuple[str, str]:
    """The cause of an exception, an id of generic_slips.py or "", and the advice; both "" where nothing is known."""
    kind = str(error.get("type"))
    if kind in ("NameError", "UnboundLocalError"):
        return _advice_on_a_name(kind, text)
    if _takes_lists(exercise) and kind in ("AttributeError", "TypeError") and "list" in text:
        return "lists", LISTS
    return advice_on(error, text)


def _advice_on_a_name(kind: str, text: str) -> tuple[str, str]:
    match = re.match(r"name '(\w+)' is not defined", text)
    if match and match[1] in ("display", "get_ipython"):
        return "", f"A notebook has {match[1]}, and a module that is graded without one has not"
    # Names of libraries, and your own functions of other modules, which the exercise's text may ask for.
    imported = {"np", "F", "numpy", "math", "torch", "copy"} | {exercise.symbol for exercise in exercises()}
    if match and match[1] in imported:
        return "not_imported", f"Nothing in this file imports `{match[1]}`"
    if kind == "UnboundLocalError":
        return "unbound", "A name that a function assigns is its own, and this one has no value before this line"
    return "unknown_name", "Is it spelled as where it was made?" if "Did you mean" not in text else ""
