"""Makes mutants: a module's text with one place of its code changed.

Docstrings, messages, annotations, imports and decorators stay, and so do `device=` and `.to(x.device)`, whose loss
a machine with one device cannot see.
"""

from __future__ import annotations

import ast
import copy
import itertools
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

SWAPS: dict[type[ast.AST], list[type[Any]]] = {
    ast.Add: [ast.Sub],
    ast.Sub: [ast.Add],
    ast.Mult: [ast.Div],
    ast.Div: [ast.Mult],
    ast.FloorDiv: [ast.Mod, ast.Mult],
    ast.Mod: [ast.FloorDiv],
    ast.Pow: [ast.Mult],
    ast.BitAnd: [ast.BitOr],
    ast.BitOr: [ast.BitAnd],
    ast.Lt: [ast.LtE, ast.Gt],
    ast.LtE: [ast.Lt, ast.GtE],
    ast.Gt: [ast.GtE, ast.Lt],
    ast.GtE: [ast.Gt, ast.LtE],
    ast.Eq: [ast.NotEq],
    ast.NotEq: [ast.Eq],
    ast.Is: [ast.IsNot],
    ast.IsNot: [ast.Is],
    ast.In: [ast.NotIn],
    ast.NotIn: [ast.In],
    ast.And: [ast.Or],
    ast.Or: [ast.And],
}
#: Names of functions and methods that are easily mistaken for each other.
NEIGHBOURS = {
    "sum": "mean",
    "mean": "sum",
    "max": "min",
    "min": "max",
    "amax": "amin",
    "amin": "amax",
    "all": "any",
    "any": "all",
    "zeros": "ones",
    "ones": "zeros",
    "new_zeros": "new_ones",
    "new_ones": "new_zeros",
    "zeros_like": "ones_like",
    "ones_like": "zeros_like",
    "sin": "cos",
    "cos": "sin",
    "tril": "triu",
    "triu": "tril",
    "floor": "ceil",
    "log": "exp",
    "exp": "expm1",
    "tanh": "sigmoid",
    "relu": "abs",
    "argmax": "argmin",
}
#: Functions whose first two arguments may change places.
SYMMETRIC = {"check_same_width", "combine_masks", "max", "maximum", "min", "minimum", "swapaxes", "transpose"}
UNCHANGED = (ast.Import, ast.ImportFrom, ast.JoinedStr, ast.Raise)  # nothing inside these is mutated


@dataclass(frozen=True)
class Mutant:
    """A module's text with one mistake in it.

    where: the top-level function or class that holds it
    name: the same for the same mistake in the same code: "causal_mask: `a <= b` → `a < b`"
    """

    module: str
    where: str
    name: str
    source: str


def mutants(module: str, source: str) -> Iterator[Mutant]:
    """Every mutant of a module, in the order of its text."""
    lines = source.splitlines()
    for definition in ast.parse(source).body:
        if not isinstance(definition, (ast.FunctionDef, ast.ClassDef)):
            continue
        above, within, below = (
            "\n".join(part)
            for part in (
                lines[: definition.lineno - 1],
                lines[definition.lineno - 1 : definition.end_lineno],
                lines[definition.end_lineno :],
            )
        )
        for label, text in _changes(within):
            yield Mutant(module, definition.name, label, f"{above}\n{text}\n{below}\n")


def _changes(definition: str) -> Iterator[tuple[str, str]]:
    """Every change of a top-level definition: what it is, and the definition with it."""
    seen: Counter[str] = Counter()
    for number in itertools.count():
        change = _Change(number)
        tree = change.visit(ast.parse(definition))
        if not change.label:
            return
        label = f"{change.where}: {change.label}"
        seen[label] += 1
        yield (
            label if seen[label] == 1 else f"{label} ({seen[label]})",
            ast.unparse(ast.fix_missing_locations(tree)),
        )


class _Change(ast.NodeTransformer):
    """Makes change number `number` of a tree; the label stays empty where the tree has fewer changes."""

    def __init__(self, number: int) -> None:
        self.left = number
        self.label = ""
        self.where = ""
        self.rebound: set[str] = set()

    def visit(self, node: ast.AST) -> Any:
        if self.label:
            return node
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            return self._inside(node)
        if self.where:
            for new in _variants(node, self.rebound):
                if self.left == 0:
                    self.label = f"`{_short(node)}` → {'nothing' if isinstance(new, ast.Pass) else f'`{_short(new)}`'}"
                    return new
                self.left -= 1
        if isinstance(node, ast.AnnAssign):
            node.value = node.value and self.visit(node.value)
            return node
        return node if isinstance(node, UNCHANGED) else self.generic_visit(node)

    def _inside(self, node: ast.FunctionDef | ast.ClassDef) -> ast.AST:
        outer, rebound = self.where, self.rebound
        self.where = f"{outer}.{node.name}" if outer else node.name
        if isinstance(node, ast.FunctionDef):
            self.rebound = _rebound(node)
            node.args.defaults = [self.visit(default) for default in node.args.defaults]
            node.args.kw_defaults = [default and self.visit(default) for default in node.args.kw_defaults]
        node.body = [self.visit(statement) for statement in node.body]
        if not self.label:
            self.where, self.rebound = outer, rebound
        return node


def _rebound(function: ast.FunctionDef) -> set[str]:
    """Names that are bound more than once, so that the code still runs without one of the bindings."""
    names = Counter(part.arg for part in ast.walk(function) if isinstance(part, ast.arg))
    names.update(
        part.id for part in ast.walk(function) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
    )
    return {name for name, times in names.items() if times > 1}


def _variants(node: ast.AST, rebound: set[str]) -> Iterator[ast.AST]:
    """What stands in a node's place in each mutant of it; `pass` where it is left out."""
    if isinstance(node, ast.BinOp):
        for swapped in SWAPS.get(type(node.op), []):
            yield ast.BinOp(node.left, swapped(), node.right)
        if isinstance(node.op, (ast.MatMult, ast.Sub, ast.Div)):
            yield ast.BinOp(node.right, node.op, node.left)
    elif isinstance(node, ast.Compare):
        for place, operator in enumerate(node.ops):
            for swapped in SWAPS.get(type(operator), []):
                operators = [*node.ops[:place], swapped(), *node.ops[place + 1 :]]
                yield ast.Compare(node.left, operators, node.comparators)
    elif isinstance(node, ast.BoolOp):
        yield ast.BoolOp(SWAPS[type(node.op)][0](), node.values)
        yield from node.values
    elif isinstance(node, ast.UnaryOp):
        yield node.operand
    elif isinstance(node, ast.Constant):
        yield from _constants(node.value)
    elif isinstance(node, ast.Call):
        yield from _calls(node)
    elif isinstance(node, ast.IfExp):
        yield from (node.body, node.orelse)
    elif isinstance(node, ast.Slice):
        if node.lower is not None:
            yield ast.Slice(None, node.upper, node.step)
        if node.upper is not None:
            yield ast.Slice(node.lower, None, node.step)
    elif isinstance(node, ast.comprehension):
        for place in range(len(node.ifs)):
            yield ast.comprehension(node.target, node.iter, node.ifs[:place] + node.ifs[place + 1 :], node.is_async)
    elif isinstance(node, ast.stmt):
        yield from _statements(node, rebound)


def _constants(value: Any) -> Iterator[ast.AST]:
    if isinstance(value, bool):
        yield ast.Constant(not value)
    elif isinstance(value, int):
        yield ast.Constant(value + 1)
        if value > 0:
            yield ast.Constant(value - 1)
    elif isinstance(value, float):
        yield ast.Constant(2 * value if value else 1.0)


def _calls(node: ast.Call) -> Iterator[ast.AST]:
    function = node.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    if name in NEIGHBOURS:
        other = NEIGHBOURS[name]
        renamed = (
            ast.Attribute(function.value, other, ast.Load())
            if isinstance(function, ast.Attribute)
            else ast.Name(other, ast.Load())
        )
        yield ast.Call(renamed, node.args, node.keywords)
    labelled = bool(node.args) and isinstance(node.args[0], ast.Constant)  # check_length("window", …): no mistake made
    exchanged = len(node.args) >= 2 and not labelled and name not in {"isinstance", "getattr", "hasattr"} | SYMMETRIC
    exchanged = exchanged and ast.dump(node.args[0]) != ast.dump(node.args[1])  # not f(x, x)
    if exchanged and not any(isinstance(argument, ast.Starred) for argument in node.args[:2]):
        yield ast.Call(function, [node.args[1], node.args[0], *node.args[2:]], node.keywords)
    for place, keyword in enumerate(node.keywords):
        if keyword.arg not in (None, "device"):
            yield ast.Call(function, node.args, node.keywords[:place] + node.keywords[place + 1 :])
    if name == "to" and node.args and getattr(node.args[0], "attr", "") == "device":
        return
    if isinstance(function, ast.Attribute) and not _of_module(function):
        yield function.value  # x.f(…) → x
    elif node.args and not labelled and not isinstance(node.args[0], ast.Starred):
        yield node.args[0]  # f(x, …) → x


def _of_module(function: ast.Attribute) -> bool:
    """Whether a function is a module's own, as in torch.exp, or super's, and no method of a value."""
    root = function.value
    while isinstance(root, ast.Attribute):
        root = root.value
    return (isinstance(root, ast.Name) and root.id in ("torch", "math", "nn", "np", "numpy")) or isinstance(
        root, ast.Call
    )


def _statements(node: ast.stmt, rebound: set[str]) -> Iterator[ast.AST]:
    if isinstance(node, ast.If):
        yield ast.If(ast.Constant(True), node.body, node.orelse)
        yield ast.If(ast.Constant(False), node.body, node.orelse)
    elif isinstance(node, ast.Assign):
        targets = [part for target in node.targets for part in ast.walk(target) if isinstance(part, ast.Name)]
        plain = [part.id for part in targets if isinstance(part.ctx, ast.Store)]
        if not plain or set(plain) <= rebound:
            yield ast.Pass()
    elif isinstance(node, ast.AugAssign):
        yield ast.Pass()
        for swapped in SWAPS.get(type(node.op), []):
            yield ast.AugAssign(node.target, swapped(), node.value)
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield ast.Pass()
    elif isinstance(node, ast.Return) and node.value is not None:
        yield ast.Return(None)
    elif isinstance(node, ast.With):
        yield ast.If(ast.Constant(True), node.body, [])
    elif isinstance(node, ast.Break):
        yield ast.Continue()
    elif isinstance(node, ast.Continue):
        yield ast.Break()


def _short(node: ast.AST) -> str:
    text = " ".join(ast.unparse(ast.fix_missing_locations(copy.deepcopy(node))).split())
    return text if len(text) <= 80 else f"{text[:60]} … {text[-17:]}"
