"""Finds sizes in the draws of a check that a learner could mix up unseen."""

from __future__ import annotations

import ast
import functools
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from autograder.course.paths import SOLUTIONS
from selfcheck.catalogue import Exercise

Step = dict[str, Any]  # a packed call
Role = str  # where a size stands: "query[-1]", "max_length", "state.q_proj.weight[-2]"


@dataclass(frozen=True)
class Collision:
    """Sizes that stand in a relation which lets one pass for another; sizes: the roles that they are named by."""

    kind: str  # "equal", "neighbours", "half" or "sum"
    sizes: tuple[Role, ...]

    def __str__(self) -> str:
        forms = {"equal": "{0} = {1}", "neighbours": "{1} = {0} + 1", "half": "{0} = {1} / 2", "sum": "{0} + {1} = {2}"}
        return forms[self.kind].format(*self.sizes)


def sizes_of_draw(steps: Iterable[Step], exercise: Exercise) -> list[dict[Role, int]]:
    """The sizes of each step of a draw; where an object is built, of each use, with those that it is built with."""
    parts: list[Step] = []
    for step in steps:
        built = {name: part for name, part in step.items() if name not in ("uses", "lessons")}
        parts += [{**built, "use": use} for use in step.get("uses", ())]
        parts += [{**built, "lessons": step["lessons"]}] if step.get("lessons") else []
        parts += [] if step.get("uses") or step.get("lessons") else [built]
    return [_sizes_of(part, exercise) for part in parts]


def _sizes_of(step: Step, exercise: Exercise) -> dict[Role, int]:
    """Every size above 1, by its role: the axes of the arrays, counted from the end, and plain integers.

    An array that stands in several places is one: its sizes come under the first.
    """
    found: dict[Role, int] = {}
    seen: set[str] = set()

    def walk(tree: Any, place: str) -> None:
        if isinstance(tree, dict) and "shape" in tree and "data" in tree:
            if f"{tree['shape']}{tree['data']}" in seen and len(tree["data"]) > 24:  # not by chance
                return
            seen.add(f"{tree['shape']}{tree['data']}")
            found.update({f"{place}[-{axis}]": length for axis, length in enumerate(reversed(tree["shape"]), 1)})
        elif isinstance(tree, dict) and tree.get("kind") == "number":
            if tree["type"] == "int":
                found[place] = int(tree["value"])
        elif isinstance(tree, dict) and "args" in tree:
            names = _parameters(exercise, tree.get("method", "").replace(":gradients", "") if place == "use" else None)
            for number, part in enumerate(tree["args"]):
                walk(part, _joined(place, names[number] if number < len(names) else f"*{number}"))
            walk(tree["kwargs"], place)
        elif isinstance(tree, dict):
            for name, part in tree.items():
                if name not in NO_SIZES and not name.endswith("_id"):
                    walk(part, _joined(place, name))
        elif isinstance(tree, list):
            for number, part in enumerate(tree):
                walk(part, f"{place}{number}")  # one of several tensors in an argument
        elif isinstance(tree, int) and not isinstance(tree, bool):
            found[place] = tree

    walk(step, "")
    named = {role: length for role, length in found.items() if role.rpartition(".")[2] not in NO_SIZES}
    return {role: length for role, length in named.items() if length > 1 and not role.endswith("_id")}


#: Numbers that no axis has the length of.
NO_SIZES: tuple[str, ...] = ("seed", "steps", "tries", "rate", "stirred", "training", "memory", "kind", "type")
NO_SIZES += ("axis", "dim", "offset", "base", "start", "position", "sharpness", "width", "sigma", "k", "top_k")


def _joined(place: str, name: str) -> str:
    return f"{place}.{name}" if place else name


@functools.cache
def _parameters(exercise: Exercise, method: str | None) -> tuple[str, ...]:
    """The names of what the exercise's function takes by position; of a class, its constructor or a method.

    method: None for the function or the constructor, "" for the object itself
    """
    text = (SOLUTIONS / "attention" / f"{exercise.module}.py").read_text(encoding="utf-8")
    kinds = (ast.FunctionDef, ast.ClassDef)
    defined = [node for node in ast.parse(text).body if isinstance(node, kinds)]
    found = next(node for node in defined if node.name == exercise.symbol)
    if isinstance(found, ast.ClassDef):
        wanted = ("__init__",) if method is None else (method,) if method else ("forward", "__call__")
        inner = [one for one in found.body if isinstance(one, ast.FunctionDef) and one.name in wanted]
        if not inner:
            return ()
        return tuple(one.arg for one in inner[0].args.args[1:])
    return tuple(one.arg for one in found.args.args)


def same_sizes(steps: Iterable[dict[Role, int]]) -> dict[Role, Role]:
    """For each role the first of those that are equal in every step which has both: they are one size."""
    steps = list(steps)
    roles = list(dict.fromkeys(role for step in steps for role in step))
    first: dict[Role, Role] = {}
    leaders: list[Role] = []
    for role in roles:
        for leader in leaders:
            both = [(step[role], step[leader]) for step in steps if role in step and leader in step]
            if both and all(a == b for a, b in both):
                first[role] = leader
                break
        else:
            leaders.append(role)
            first[role] = role
    return first


def collisions(draw: Sequence[dict[Role, int]], same: dict[Role, Role]) -> Iterator[Collision]:
    """The relations between the sizes of a draw that hold in each of its steps which has these sizes."""
    merged = [{same[role]: length for role, length in step.items()} for step in draw]
    told: set[Collision] = set()
    for step in merged:
        for found in _in_step(step):
            others = [one for one in merged if set(found.sizes) <= set(one)]
            if found not in told and all(_holds(found, one) for one in others):
                told.add(found)
                yield found


def _in_step(step: dict[Role, int]) -> Iterator[Collision]:
    for a, b in itertools.permutations(step, 2):
        for kind in ("equal", "neighbours", "half"):
            if kind != "equal" or (a < b and not _siblings(a, b)):
                one = Collision(kind, (a, b))
                if _holds(one, step):
                    yield one
    for a, b in itertools.combinations(step, 2):
        for c in step:
            one = Collision("sum", (a, b, c))
            if not _siblings(a, b) and step[a] != step[b] and _holds(one, step):
                yield one


def _siblings(a: Role, b: Role) -> bool:
    """Whether two sizes belong to tensors of one argument, such as a list of chunks: these may be of one size."""
    return re.sub(r"\d+\[", "[", a) == re.sub(r"\d+\[", "[", b)


def _holds(one: Collision, step: dict[Role, int]) -> bool:
    lengths = [step[role] for role in one.sizes]
    if one.kind == "equal":
        return lengths[0] == lengths[1]
    if one.kind == "neighbours":
        return lengths[1] == lengths[0] + 1
    if one.kind == "half":
        return lengths[1] == 2 * lengths[0]
    return lengths[0] + lengths[1] == lengths[2]
