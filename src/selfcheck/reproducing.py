"""Writes the step of a check as a program that a learner can run, with the real arguments in it."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator, Mapping
from typing import Any

from .arrays import Array, unpack
from .catalogue import Exercise
from .objects import SEED

__all__ = ["program"]

WIDTH = 88  # characters of a line, as the course's own code has them
MOST_ENTRIES = 400  # of an array that is written out
PLAIN = ("tensor", "ndarray", "list", "number", "none", "text", "dtype", "tuple", "items", "generator", "triple")


def program(exercise: Exercise, step: dict[str, Any], answers: Mapping[str, dict[str, Any]] | None = None) -> str:
    """The step as Python: imports, arguments, the call. `answer` is what it gives.

    answers: by name what else is written behind it: the expected answer, and the one that came
    An argument that no few lines make, such as a model with its parameters, is fetched from `failing`.
    """
    writer = _Writer(exercise)
    body = writer.built(step) if "construct" in step else writer.called(step)
    if any("given[" in line for line in body):
        body.insert(0, f'given = failing("{exercise.number}").arguments()')
    if any("given[" in line or ".train()" in line for line in body):
        body.insert(0, f"torch.manual_seed({SEED})")  # as the check does: dropout draws the same
    for name, one in (answers or {}).items():
        body += ["", *_answer(name, one).split("\n")]
    imports = [f"import {module}" for module in ("numpy", "torch") if any(f"{module}." in line for line in body)]
    imports.append(f"from attention.{exercise.module} import {exercise.symbol}")
    if any("failing(" in line for line in body):
        imports.append("from selfcheck import failing")
    return "\n".join([*imports, "", *body])


def _answer(name: str, answer: dict[str, Any]) -> str:
    """An answer as a line of Python, `expected = …`; as a comment where it is an error, or no plain value."""
    if "error" in answer:
        text = f"{answer['error']['type']}: {answer['error']['text']}"
    else:
        literal = _literal(answer["value"], 0) if "value" in answer else "None"
        if literal:
            return f"{name} = {literal}"
        text = f"<{answer['value'].get('type', answer['value']['kind'])}>"
    return "\n".join(f"# {line}" for line in f"{name}: {text}".split("\n"))


class _Writer:
    """Writes the calls of one exercise's step."""

    def __init__(self, exercise: Exercise) -> None:
        self.number = exercise.number
        self.symbol = exercise.symbol

    def called(self, step: dict[str, Any]) -> list[str]:
        """The line that calls the exercise's function, or those that call it several times."""
        call = self.call(self.symbol, step)
        if "times" not in step:
            return [f"answer = {call}"]
        names = [f"answer_{number}" for number in range(1, step["times"] + 1)]
        return [*(f"{name} = {call}" for name in names), f"answer = {', '.join(names)}"]

    def call(self, function: str, call: dict[str, Any], prefix: str = "") -> str:
        """function(arguments), one argument a line where they do not fit one."""
        named = [(str(position), "", tree) for position, tree in enumerate(call["args"])]
        named += [(name, f"{name}=", tree) for name, tree in call["kwargs"].items()]
        flat = [before + self._argument(prefix + name, tree, 0) for name, before, tree in named]
        line = f"{function}({', '.join(flat)})"
        if len(line) <= WIDTH - 12 and "\n" not in line:
            return line
        inner = [before + self._argument(prefix + name, tree, 4) for name, before, tree in named]
        return f"{function}(\n" + "".join(f"    {text},\n" for text in inner) + ")"

    def _argument(self, name: str, tree: dict[str, Any], indent: int) -> str:
        if tree["kind"] == "made":  # the same for all uses that name it
            return f"{tree['method'].removeprefix('new_')}_{tree['name']}"
        return _literal(tree, indent) or f'given["{name}"]'

    def built(self, step: dict[str, Any]) -> list[str]:
        """The lines that build an object of the class, give it its state and use it."""
        lines = [f"made = {self.call(self.symbol, step['construct'], 'construct.')}"]
        state = {name: _literal(tree, 4) for name, tree in step["state"].items()}
        if step.get("lessons") or step.get("stirred") or None in state.values():
            lessons = step.get("lessons")
            how = f"  # trained for {lessons['steps']} steps" if lessons else ""
            lines = [f'made = failing("{self.number}").built(){how}']
        elif state:
            dtype = next(iter(step["state"].values()))["dtype"]
            lines += [f"made.to(torch.{dtype})"] if dtype != "float32" else []
            listed = "".join(f'    "{name}": {text},\n' for name, text in state.items())
            lines.append(f"made.load_state_dict({{\n{listed}}}, strict=False)")
            lines.append(f"made.{'train' if step['training'] else 'eval'}()")
        trees = [tree for use in step["uses"] for tree in (*use["args"], *use["kwargs"].values())]
        named = {self._argument("", tree, 0): tree["method"] for tree in trees if tree["kind"] == "made"}
        lines += [f"{name} = made.{method}()" for name, method in named.items()]
        several = len(step["uses"]) > 1
        results = []
        for position, use in enumerate(step["uses"]):
            name = f"answer_{position + 1}" if several else "answer"
            lines.extend(self._use(name, use, f"{position}." if several else ""))
            results += [] if use.get("refused") else [name]
        if several or not results:
            lines.append(f"answer = {', '.join(results) or 'made'}")
        return lines

    def _use(self, name: str, use: dict[str, Any], prefix: str) -> Iterator[str]:
        method = use["method"]
        if method == ":entries":
            yield f"{name} = sum(parameter.numel() for parameter in made.parameters() if parameter.requires_grad)"
        elif method == ":gradients":
            tokens = f"[..., {use['tokens']}]" if "tokens" in use else ""
            yield "from selfcheck.module_state import reached"
            yield f"{name} = reached(made, {self.call('made', use, prefix)}{tokens})"
        elif method.startswith("."):
            yield f"{name} = made{method}"
        else:
            called = self.call(f"made.{method}" if method else "made", use, prefix)
            if not use.get("refused"):
                yield f"{name} = {called}"
                return
            yield "try:\n    " + called.replace("\n", "\n    ")
            yield 'except ValueError as error:\n    print("refused, as it should be:", error)'


def _literal(tree: dict[str, Any], indent: int) -> str | None:
    """A packed value as an expression; None where it is none that stands for itself."""
    kind = tree["kind"]
    if kind not in PLAIN:
        return None
    if kind == "text":
        return repr(tree["value"])
    if kind == "dtype":
        return f"torch.{tree['value']}"
    if kind == "generator":
        return f"torch.Generator().manual_seed({tree['seed']})"
    if kind in ("tuple", "items", "triple"):
        parts = [_literal(item, indent) for item in tree["items"]]
        if any(part is None for part in parts):
            return None
        opening, closing = "[]" if kind == "items" else "()"
        inside = ", ".join(part for part in parts if part)
        if "\n" in inside or len(inside) > WIDTH - indent - 20:
            below = [_literal(item, indent + 4) for item in tree["items"]]
            margin = " " * (indent + 4)
            return f"{opening}\n" + "".join(f"{margin}{part},\n" for part in below) + " " * indent + closing
        return f"{opening}{inside}{',' if kind != 'items' and len(parts) == 1 else ''}{closing}"
    value = unpack(tree)
    return _array(value, indent) if isinstance(value, Array) else _number(value, "float64")


def _array(value: Array, indent: int) -> str | None:
    if math.prod(value.shape) > MOST_ENTRIES:
        return None
    entries = _nested(value, indent)
    if value.kind == "list":
        return entries
    if value.kind == "ndarray":
        empty = f"numpy.zeros({value.shape}, dtype=numpy.{value.dtype})"
        return f"numpy.array({entries}, dtype=numpy.{value.dtype})" if value.data else empty
    if not value.data:
        return f"torch.zeros({value.shape}, dtype=torch.{value.dtype})"
    plain = {"float32", "int64", "bool"}  # torch's own choice
    return f"torch.tensor({entries})" if value.dtype in plain else f"torch.tensor({entries}, dtype=torch.{value.dtype})"


def _nested(value: Array, indent: int) -> str:
    """The entries in brackets; rows that do not fit one line stand below each other."""

    def written(flat: list[str], shape: tuple[int, ...], depth: int) -> str:
        if not shape:
            return flat[0]
        size = math.prod(shape[1:])
        rows = [written(flat[row * size : (row + 1) * size], shape[1:], depth + 1) for row in range(shape[0])]
        line = f"[{', '.join(rows)}]"
        if len(shape) == 1 or (len(line) <= WIDTH - indent - depth - 30 and "\n" not in line):
            return line
        margin = " " * (indent + 4 * (depth + 1))
        return "[\n" + "".join(f"{margin}{row},\n" for row in rows) + " " * (indent + 4 * depth) + "]"

    return written([_number(entry, value.dtype) for entry in value.values()], value.shape, 0)


def _number(value: Any, dtype: str) -> str:
    """A number as short as its type allows: 0.1 is not 0.10000000149011612 because it is a float32."""
    if value is None or isinstance(value, (bool, int)):
        return repr(value)
    if not math.isfinite(value):
        return f'float("{value}")'
    letter = {"float32": "f", "float16": "e"}.get(dtype, "d")
    for digits in range(1, 10) if letter != "d" else ():
        short = float(f"{value:.{digits}g}")
        if struct.pack(letter, short) == struct.pack(letter, value):
            return repr(short)
    return repr(value)
