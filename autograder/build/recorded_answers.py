"""Records what the reference and each misconception answer to the visible checks."""

from __future__ import annotations

import json
import zlib
from typing import Any

from selfcheck.arrays import Array, unpack
from selfcheck.catalogue import exercises
from selfcheck.compare import Answer
from selfcheck.module_state import BUILT
from selfcheck.operations import RAISED
from selfcheck.plan import Check
from selfcheck.recorded.folding import folded, unfolded
from selfcheck.trees import close

from ..answer_key.checks import visible_checks
from ..answer_key.live import recorded_key

#: How far two machines' answers may lie apart, whose libraries add in another order: a few roundings of each dtype,
#: which scores of ten thousand and norms of nearly equal features make larger (1e-12 and 3e-5 from AMD to Intel).
ROUNDING = {"float64": 1e-11, "float32": 1e-4, "float16": 4e-3, "bfloat16": 3e-2}
TIES = 100  # numbers of a misconception of which one may differ: it may round to decimals what lies between two
DEPTH = 3  # of a file's tree that is broken into lines: check, part of it, call or answer


def recordings(module: str = "") -> dict[str, str]:
    """The text of every file of selfcheck/recorded, by file name; of that of one module, where one is given."""
    tables: dict[str, dict[str, Any]] = {}
    for exercise in exercises():
        if module and exercise.module != module:
            continue
        table = tables.setdefault(exercise.module, {})
        for check in visible_checks(exercise):
            key = recorded_key(check)
            table[check.name] = {
                "calls": key.calls,
                "expected": [_plain(answer, check) for answer in key.expected],
                "misconceptions": folded(
                    {
                        name: [_plain(answer, check) for answer in answers]
                        for name, answers in key.misconceptions.items()
                    },
                    check.tolerance,
                ),
            }
    return {f"{module}.json": _lines(table) + "\n" for module, table in tables.items()}


def _lines(value: Any, depth: int = 0) -> str:
    """JSON with a line for each call and each answer: a change shows where it is, and the file stays small."""
    if depth == DEPTH or not value or not isinstance(value, (dict, list)):
        return json.dumps(value, separators=(",", ":"))
    pairs = value.items() if isinstance(value, dict) else ((None, entry) for entry in value)
    inner = [("" if name is None else f"{json.dumps(name)}: ") + _lines(entry, depth + 1) for name, entry in pairs]
    begin, end = "{}" if isinstance(value, dict) else "[]"
    pad = " " * depth
    return f"{begin}\n" + ",\n".join(f"{pad} {entry}" for entry in inner) + f"\n{pad}{end}"


#: What is known of modules, and the aspect of a check that looks at it.
ASPECTS = {"parameters": "parameters", "states": "state", "lost": "kept", "drawn": "generator", "largest": "memory"}


def _plain(answer: Answer, check: Check) -> Answer:
    """An answer without what the check does not compare, and without where its error arose.

    The latter is a path of this machine, and a line of the solution.
    """
    twice = answer.get("lost", {}).get(BUILT)
    answer = {name: value for name, value in answer.items() if ASPECTS.get(name) in (None, *check.compares)}
    answer |= {"lost": answer.get("lost", {}) | {BUILT: twice}} if twice else {}
    if "error" not in answer:
        return answer
    kept = ("type", "kinds", "text", "operation")
    error = {name: answer["error"][name] for name in kept if name in answer["error"]}
    if error.get("operation") == RAISED:
        del error["operation"]  # whoever raises it himself chooses its words: none is looked for in another's
    return answer | {"error": error}


def alike(first: str, second: str) -> bool:
    """Whether two texts of a recorded file say the same, but for the rounding of another machine."""
    try:
        return first == second or _alike(_unfolded(first), _unfolded(second))
    except (ValueError, zlib.error):
        return False


def _unfolded(text: str) -> Any:
    """What a recorded file says, with the misconceptions' answers as they are."""
    table = json.loads(text)
    for entry in table.values() if isinstance(table, dict) else ():
        if isinstance(entry, dict) and isinstance(entry.get("misconceptions"), str):
            entry["misconceptions"] = unfolded(entry["misconceptions"], wide=False)  # where a rounding may differ
    return table


def _alike(first: Any, second: Any, taught: bool = False, wrong: bool = False) -> bool:
    """taught: whether these are answers of models that were trained, where a rounding grows from step to step.

    wrong: whether they are misconceptions', where some round to decimals
    """
    if isinstance(first, dict) and isinstance(second, dict):
        if first.keys() != second.keys():
            return False
        if first.get("kind") in ("tensor", "ndarray", "list", "number"):
            return _same_numbers(first, second, taught, wrong)
        later = taught or any(call.get("lessons") for call in first.get("calls", []))
        return all(
            _alike(first[name], second[name], later and name != "calls", wrong or name == "misconceptions")
            for name in first
        )
    if isinstance(first, list) and isinstance(second, list):
        return len(first) == len(second) and all(
            _alike(a, b, taught, wrong) for a, b in zip(first, second, strict=True)
        )
    return first == second


def _same_numbers(first: dict[str, Any], second: dict[str, Any], taught: bool, wrong: bool) -> bool:
    if first == second or (taught and all(first.get(name) == second.get(name) for name in ("kind", "dtype", "shape"))):
        return True
    a, b = unpack(first), unpack(second)
    if not isinstance(a, Array) or not isinstance(b, Array):
        return type(a) is type(b) and close(a, b, ROUNDING["float64"])
    if (a.kind, a.dtype, a.shape) != (b.kind, b.dtype, b.shape):
        return False
    differing = sum(not close(x, y, ROUNDING.get(a.dtype, 0.0)) for x, y in zip(a.values(), b.values(), strict=True))
    return differing <= (len(a.values()) // TIES if wrong else 0)
