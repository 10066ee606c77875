"""Describes an exception that a learner's code raised, as plain text."""

from __future__ import annotations

import ast
import collections
import contextlib
import difflib
import itertools
import linecache
import math
from collections.abc import Iterator
from pathlib import Path
from types import FrameType, ModuleType, TracebackType
from typing import Any

from .line_slips import nodes_in, written
from .operations import RAISED, Position, operation_at, text_at

MOST_FRAMES, MOST_VALUES = 4, 6  # that are told: lines of a learner's, the innermost ones, and names in each
SMALL = 6  # entries of an array that are told
LIBRARIES = ("selfcheck", "torch", "numpy", "math", "contextlib", "importlib")


def summarise(error: BaseException) -> dict[str, Any]:
    """An exception as far as it is compared with one that is due: its kinds, and what it says."""
    return {
        "type": type(error).__name__,
        "kinds": [kind.__name__ for kind in type(error).__mro__],
        "text": str(error)[:500],
    }


def describe(error: BaseException) -> dict[str, Any]:
    """An exception as plain text: its kinds, what it says, and where in the learner's file it arose."""
    facts = summarise(error)
    if near := _near_name(error):
        facts["near"] = near
    if isinstance(error, SyntaxError):
        source = (error.text or "").strip()[:200]
        return facts | {"text": str(error.msg), "file": str(error.filename), "line": error.lineno, "source": source}
    steps = list(_steps(error.__traceback__))
    places = [(step.tb_frame, step.tb_lineno) for step in steps if _is_learners(step.tb_frame)]
    lines = [(frame.f_code.co_filename, line) for frame, line in places]
    if not lines:
        return facts | _operation_of(steps)
    # The innermost line, or, where calls go round in circles, the one that was passed most often.
    circular = isinstance(error, RecursionError)
    file, line = collections.Counter(lines).most_common(1)[0][0] if circular else lines[-1]
    facts |= _operation_of(steps)
    if not circular and _is_refusal(steps, file, line):
        file, line = _caller(lines)
    if nothing := _nothing_in(places[-1][0], linecache.getline(*lines[-1]), facts["text"]):
        facts["none"] = nothing
    if "must match the size" in facts["text"]:
        facts |= _sides(places[-1][0], steps)
    top = [(frame, number) for frame, number in places if frame.f_code.co_name == "<module>"]
    if top and not circular and places[-1][0].f_code.co_name != "<module>":  # a call made while the module is imported
        facts |= {"inner_line": line}
        file, line = top[-1][0].f_code.co_filename, top[-1][1]
    facts |= {"trace": [_frame_facts(frame, number) for frame, number in places[-MOST_FRAMES:]]}
    return facts | {"file": file, "line": line, "source": linecache.getline(file, line).strip()[:200]}


def trace_text(error: dict[str, Any]) -> str:
    """A learner's own lines that an exception came through, the innermost last, with what their names held; "" for few.

    error: as `describe` tells it
    """
    trace = error.get("trace", [])
    lines = []
    for frame in trace:
        lines.append(f"{frame['file']}, line {frame['line']}, in {frame['function']}: {frame['source']}")
        lines += [f"    {name} = {value}" for name, value in frame["values"].items()]
    return "\n".join(lines) + "\n" if len(lines) > 1 else ""


def _frame_facts(frame: FrameType, line: int) -> dict[str, Any]:
    """A line of a learner's, and what the names in it hold."""
    code = frame.f_code
    source = linecache.getline(code.co_filename, line).strip()[:200]
    values: dict[str, str] = {}
    for node in nodes_in(source):
        if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load):
            with contextlib.suppress(Exception, SystemExit):  # as below
                told = _value_text(_value(node, frame))
                if told:
                    values.setdefault(written(node)[:60], told)
    function = "the module" if code.co_name == "<module>" else code.co_name
    return {
        "file": Path(code.co_filename).name,
        "line": line,
        "function": function,
        "source": source,
        "values": dict(list(values.items())[:MOST_VALUES]),
    }


def _value_text(value: Any) -> str:
    """A small array or number as a learner would write it, of a larger array its shape; "" for anything else."""
    if value is None or type(value) in (bool, int, float):
        return repr(value)
    kind = type(value).__module__.partition(".")[0]
    if kind not in ("torch", "numpy") or not hasattr(value, "shape") or not hasattr(value, "tolist"):
        return ""
    shape, count = tuple(value.shape), math.prod(value.shape)
    name = f"{type(value).__name__} of shape {shape}, {str(value.dtype).removeprefix('torch.')}"
    return f"{value.tolist()}, {name}" if 0 < count <= SMALL else name


def _is_refusal(steps: list[TracebackType], file: str, line: int) -> bool:
    """Whether an exception refuses an argument: in a line that raises, or in the checks that a stub gives."""
    modules = [str(step.tb_frame.f_globals.get("__name__", "")) for step in steps]
    own = [name for name in modules if name.partition(".")[0] not in LIBRARIES]
    return bool(own) and own[-1].endswith("_arguments") or linecache.getline(file, line).lstrip().startswith("raise ")


def _caller(lines: list[tuple[str, int]]) -> tuple[str, int]:
    """Of a function that refuses its arguments, the line that chose them; its own line, where no learner's did.

    That of the function which was asked first counts: what lies between passes on what it got.
    """
    outer = [place for place in lines[:-1] if place[0] == lines[0][0]]
    return (outer or lines)[-1]


def _nothing_in(frame: FrameType, source: str, text: str) -> str:
    """The names or attributes of a line that are None, where an exception says that something is; "" for none."""
    if "'NoneType'" not in text:
        return ""
    missing = []
    for node in nodes_in(source.strip()[:200]):
        if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load):
            with contextlib.suppress(Exception, SystemExit):  # no value yet, no such attribute, a property that raises
                if _value(node, frame) is None:
                    missing.append(written(node))
    return "` and `".join(dict.fromkeys(missing))


def _sides(frame: FrameType, steps: list[TracebackType]) -> dict[str, Any]:
    """The expression in which two shapes do not fit, and the shape of each name in it."""
    step = next(step for step in reversed(steps) if step.tb_frame is frame)
    text = text_at(linecache.getlines(frame.f_code.co_filename), _position(step))[:200]
    shapes = {}
    for node in nodes_in(text):
        if isinstance(node, (ast.Name, ast.Attribute)):
            with contextlib.suppress(Exception, SystemExit):
                shapes[written(node)[:60]] = list(_value(node, frame).shape)
    return {"expression": text, "shapes": shapes}


def _value(node: ast.expr, frame: FrameType) -> Any:
    """The value of a name, or of attributes of one, in a frame; KeyError for any other expression."""
    if isinstance(node, ast.Attribute):
        return getattr(_value(node.value, frame), node.attr)
    if not isinstance(node, ast.Name):
        raise KeyError
    return frame.f_locals[node.id] if node.id in frame.f_locals else frame.f_globals[node.id]


def _near_name(error: BaseException) -> str:
    """The name that is nearest to one which a module, a tensor or an array does not have; "" where none is near."""
    owner = getattr(error, "obj", None)
    if not isinstance(error, AttributeError) or not isinstance(error.name, str):
        return ""
    if type(owner) is not ModuleType and type(owner).__name__ not in ("Tensor", "ndarray", "Parameter"):
        return ""
    known = [name for name in dir(owner) if name[:1] != "_"]
    if error.name in known:  # it is refused, not misspelt
        return ""
    near = difflib.get_close_matches(error.name, known, n=1, cutoff=0.7)
    return near[0] if near else ""


def _operation_of(steps: list[TracebackType]) -> dict[str, str]:
    """What the innermost line that no library has did where an exception arose: {"operation": "softmax"}, or {}."""
    for step in reversed(steps):
        code, module = step.tb_frame.f_code, str(step.tb_frame.f_globals.get("__name__", ""))
        if module.partition(".")[0] not in LIBRARIES and step.tb_lasti >= 0:
            name = operation_at(linecache.getlines(code.co_filename), _position(step))
            if name == RAISED and module.endswith("_arguments"):
                name = ""  # its words are those of a check that a stub gives
            return {"operation": name} if name else {}
    return {}


def _position(step: TracebackType) -> Position:
    """Where the instruction stands at which a step of a traceback has stopped."""
    positions = step.tb_frame.f_code.co_positions()
    return next(itertools.islice(positions, step.tb_lasti // 2, None), (None, None, None, None))


def _steps(trace: TracebackType | None) -> Iterator[TracebackType]:
    """The steps of a traceback, outermost first."""
    while trace is not None:
        yield trace
        trace = trace.tb_next


def place_of(frame: Any) -> str:
    """Where the learner's code is that runs in a frame or called it: ", in line 12 of masks.py: `…`"; "" for none."""
    while frame is not None and not _is_learners(frame):
        frame = frame.f_back
    if frame is None:
        return ""
    file, line = frame.f_code.co_filename, frame.f_lineno
    source = linecache.getline(file, line).strip()[:200]
    return f", in line {line} of {Path(file).name}" + (f": `{source}`" if source else "")


def _is_learners(frame: Any) -> bool:
    """Whether a frame runs in a module of the package, those given to learners (`_arguments`) left out."""
    module = frame.f_globals.get("__name__", "")
    return isinstance(module, str) and module.startswith("attention.") and not module.startswith("attention._")
