"""Validates what a sandbox says: whatever came becomes answers of the expected form, or failures."""

from __future__ import annotations

import base64
import json
import math
import re
from pathlib import PurePath
from typing import Any

from selfcheck.arrays import unpack
from selfcheck.compare import Answer
from selfcheck.same_branches import MOST

from ..course.printable import printable, printable_line
from . import limits

Answers = dict[str, list[Answer]]  # to one request, by the keys of its plans
Plans = dict[str, dict[str, Any]]  # of one request: {key: {"calls": [...], "gradient": bool}}
Line = dict[str, Any]  # that a worker says: {"place", "said"} or {"place", "died"}

SEEN = "seen"  # of a line, what the grader itself has seen of the arguments
LARGEST = 2**48  # no length or count in an answer is larger
NAME_CHARACTERS = 100
TEXT_CHARACTERS = 500
TOLD_OF_A_LINE = ("operation", "near", "none", "expression")  # what the runner knows of the line that raised
MODULE = re.compile(r"\w{1,100}\.py")  # the file of the line that raised, which need not be the exercise's own
STOPPED = "Stopped"  # the type of what the grader says where there is no answer
MOST_SIGNS = 200_000  # brackets, commas and colons of one exercise's answers: honest ones have some thousands
MOST_LINE_SIGNS = 40  # likewise of a line around them
LARGER, LARGER_ENTRIES = 16, 2**11  # times the expected answer, and entries more, that a wrong one may have
MOST_NESTED = 32  # containers within containers
ARRAYS = ("tensor", "ndarray", "list")  # kinds of packed values
SIGNS = (b"[", b"{", b",", b":")  # each value that a parser makes takes one, and up to 100 bytes of memory
MALFORMED = (KeyError, ValueError, AttributeError, TypeError, OverflowError, RecursionError)


class TooLarge(ValueError):
    """Answers that no honest ones are as large as: its text is the reason, see `all_failed`."""


def lines_of(data: bytes, count: int) -> tuple[bool, list[Line]]:
    """Whether a worker began on the learner's code, and the lines that it said of places below `count`, one of each."""
    started = False
    lines: dict[int, Line] = {}
    for raw in data.split(b"\n", 2 * count + 2)[: 2 * count + 2]:  # no worker says as many, but what runs in it might
        try:
            line = _parsed(raw, MOST_LINE_SIGNS)
        except (ValueError, RecursionError):
            continue
        if not isinstance(line, dict):
            continue
        started = started or "started" in line
        place = line.get("place")
        if type(place) is int and 0 <= place < count:
            lines.setdefault(place, line)
    return started, list(lines.values())


def answers_in(plans: Plans, line: Line, is_measured: bool = False) -> Answers:
    """The answers to plans that a line holds, with everything in them of the expected form.

    is_measured: whether the worker says, beside the answers, by how much memory the process grew that gave them
    """
    said = line.get("said")
    if not isinstance(said, str):
        return all_failed(plans, str(line.get("died")))
    try:
        given = _parsed(base64.b64decode(said, validate=True), MOST_SIGNS)
    except TooLarge as error:
        return all_failed(plans, str(error))
    except RecursionError:
        return all_failed(plans, "deep")
    except ValueError:
        given = None
    if not isinstance(given, dict):
        return all_failed(plans, "ended")
    answers = {}
    for key, plan in plans.items():
        to_plan = given.get(key)
        if not isinstance(to_plan, list) or len(to_plan) != len(plan["calls"]):
            answers[key] = [_failure("ended") for _ in plan["calls"]]
        else:
            answers[key] = [_valid_answer(answer) for answer in to_plan]
    if is_measured:
        grown = line.get("peak_mib")
        peak = grown if isinstance(grown, float) else math.inf
        answers = {key: [answer | {"peak_mib": peak} for answer in some] for key, some in answers.items()}
    return line[SEEN].told_in(answers) if SEEN in line else answers


def _parsed(data: bytes, most_signs: int) -> Any:
    """A JSON tree of bounded size: counting is quick, and parsing takes the interpreter's lock from everybody else.

    Raises ValueError where it is none, TooLarge among them, and RecursionError.
    """
    if sum(map(data.count, SIGNS)) > most_signs:
        raise TooLarge("output")
    return json.loads(data)


def of_comparable_size(expected: list[Answer], given: list[Answer]) -> list[Answer]:
    """Answers to one draw, without those that are far larger than the expected ones: to compare them takes too long."""
    sizes = [_entries_in(answer) for answer in given]
    if max(sizes, default=0) <= LARGER_ENTRIES:
        return given
    most = LARGER * max(map(_entries_in, expected), default=0) + LARGER_ENTRIES
    return [answer if size <= most else _failure("output") for answer, size in zip(given, sizes, strict=True)]


def _entries_in(answer: Answer) -> int:
    """What is looked at of an answer: entries of arrays, empty rows among them, and whatever else is no text."""
    trees = [answer["value"]] if "value" in answer else []
    trees += answer.get("gradients", {}).values()
    trees += [tree for state in answer.get("states", {}).values() for tree in state.values()]
    facts = {name: fact for name, fact in answer.items() if name not in ("value", "gradients", "states")}
    return sum(map(_entries_of, trees)) + _parts_in(facts)


def _entries_of(tree: dict[str, Any]) -> int:
    """Likewise of a packed value."""
    if tree["kind"] in ARRAYS:
        return math.prod(length or 1 for length in tree["shape"])
    return 1 + sum(map(_entries_of, tree.get("items", ())))


def _parts_in(facts: Any) -> int:
    """Likewise of facts, among whose names learners have some of their own: such as "shape" and "data" of a module."""
    if isinstance(facts, (dict, list)):
        return 1 + sum(map(_parts_in, facts.values() if isinstance(facts, dict) else facts))
    return 0


def all_failed(plans: Plans, reason: str) -> Answers:
    """Failures for every call; reason: "time", "output", "deep", "ended", "killed", "idle", "budget" or "wall"."""
    return {key: [_failure(reason) for _ in plan["calls"]] for key, plan in plans.items()}


def _failure(reason: str) -> Answer:
    seconds = limits.EXERCISE_CPU_SECONDS
    texts = {
        "time": f"your code took longer than {seconds:.0f} seconds: is there a loop that never ends?",
        "idle": f"your code waited for {limits.IDLE_WALL_SECONDS:.0f} seconds and computed nothing: does it sleep?",
        "output": "the answer is too large",
        "deep": f"the answer is nested more than {MOST_NESTED} levels deep",
        "ended": "your code ended the process instead of returning an answer",
        "killed": "your code was stopped: did it use too much memory, or end its own process?",
        "budget": f"not tried: the submission had used its {limits.PART_CPU_SECONDS:.0f} seconds",
        "wall": (
            f"not tried: the submission had kept the grader for {limits.submission_wall_seconds():.0f} seconds "
            f"by the clock, or {2 * limits.IDLE_WALL_SECONDS:.0f} without computing: "
            "does your code sleep, or wait for something?"
        ),
    }
    return {"error": {"type": STOPPED, "kinds": [], "text": texts.get(reason, texts["ended"])}}


def _valid_answer(answer: Any) -> Answer:
    """One answer if it has the form that the runner gives, else a failure."""
    if not isinstance(answer, dict):
        return _failure("ended")
    error = answer.get("error")
    if error is not None:
        if not isinstance(error, dict):
            return _failure("ended")
        guard = _name(answer.get("guard", ""))
        return {"error": _valid_error(error)} | ({"guard": guard} if guard else {})
    try:
        value = _valid_tree(answer["value"])
        facts = {
            "gradients": _valid_trees(answer.get("gradients", {})),
            "states": {_name(use): _valid_trees(state) for use, state in answer.get("states", {}).items()},
            "parameters": {
                _name(name): [_count(length) for length in shape]
                for name, shape in answer.get("parameters", {}).items()
            },
            "lost": {
                _name(use): {_name(name): _name(kind) for name, kind in names.items()}
                for use, names in answer.get("lost", {}).items()
            },
            "drawn": {_name(name): bool(drawn) for name, drawn in answer.get("drawn", {}).items()},
            "largest": _count(answer.get("largest", 0)),
            "ran": [_name(function) for function in answer.get("ran", [])[:20]],
            "leftover": [_name(name) for name in answer.get("leftover", [])[:20]],
            "branches": _record(answer.get("branches", "")),
            "guard": _name(answer.get("guard", "")),
        }
    except TooLarge as error:
        return _failure(str(error))
    except MALFORMED:
        return _failure("ended")
    changed = answer.get("changed")
    valid = {"value": value, "changed": [_name(name) for name in changed] if isinstance(changed, list) else []}
    return valid | {name: fact for name, fact in facts.items() if fact or name in answer}


def _record(branches: Any) -> str:
    """The record of the branches of a run: it goes back to where it came from, and is read there alone."""
    return branches if isinstance(branches, str) and len(branches) <= MOST else ""


def _valid_error(error: dict[str, Any]) -> dict[str, Any]:
    kinds, line, text = error.get("kinds"), error.get("line"), error.get("text")
    kind = _name(error.get("type"))
    told = {name: printable_line(error.get(name), 200) for name in TOLD_OF_A_LINE}
    shapes = _valid_shapes(error.get("shapes"))
    file, inner = PurePath(printable_line(error.get("file"), TEXT_CHARACTERS)).name, error.get("inner_line")
    return {
        "type": "Exception" if kind == STOPPED else kind,  # that one is the grader's own word
        "kinds": [_name(kind) for kind in kinds[:20]] if isinstance(kinds, list) else [],
        "text": printable(text[:TEXT_CHARACTERS], keep="\n\t") if isinstance(text, str) else "",
        "line": line if type(line) is int and 0 <= line < LARGEST else None,
        "source": printable_line(error.get("source"), 200),
        "importing": bool(error.get("importing")),
        **{name: text for name, text in told.items() if text},
        **({"shapes": shapes} if shapes else {}),
        **({"file": file} if MODULE.fullmatch(file) else {}),
        **({"inner_line": inner} if type(inner) is int and 0 <= inner < LARGEST else {}),
    }


def _valid_shapes(shapes: Any) -> dict[str, list[int]]:
    """The shapes of an expression's names, where they are some; what is no shape is left out."""
    named = list(shapes.items())[:20] if isinstance(shapes, dict) else []
    return {
        _name(name): shape[:8]
        for name, shape in named
        if isinstance(shape, list) and all(type(length) is int and 0 <= length < LARGEST for length in shape)
    }


def _valid_trees(trees: dict[str, Any]) -> dict[str, Any]:
    return {_name(name): _valid_tree(tree) for name, tree in trees.items()}


def _valid_tree(tree: dict[str, Any]) -> dict[str, Any]:
    """A packed value with nothing in it that `pack` would not have put there; ValueError where that cannot be."""
    rebuilt = _rebuilt(tree, MOST_NESTED)
    unpack(rebuilt)
    return rebuilt


def _rebuilt(tree: dict[str, Any], levels: int) -> dict[str, Any]:
    """A tree with the entries alone that are read; levels: that it may have, below which everything calls itself."""
    kind = tree["kind"]
    if levels == 0:
        raise TooLarge("deep")
    if kind in ARRAYS:
        return {"kind": kind, "dtype": tree["dtype"], "shape": tree["shape"], "data": tree["data"]}
    if kind == "none":
        return {"kind": kind}
    if kind == "number":
        if len(tree["value"]) > NAME_CHARACTERS:
            raise ValueError("no number")
        return {"kind": kind, "type": tree["type"], "value": tree["value"]}
    if kind in ("tuple", "items"):
        return {"kind": kind, "items": [_rebuilt(item, levels - 1) for item in tree["items"]]}
    return {"kind": _name(kind), "type": _name(tree.get("type")), "value": printable_line(tree.get("value"), 1000)}


def _name(value: Any) -> str:
    return printable_line(value, NAME_CHARACTERS)


def _count(number: Any) -> int:
    if type(number) is not int or not 0 <= number < LARGEST:
        raise ValueError("no length")
    return number
